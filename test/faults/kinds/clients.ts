import { type ChildProcess, spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import type { Killer } from '../kind.js';
import { SLOTS } from '../runs.js';
import { program, type Scene } from '../scene.js';

/** A client that is up for longer has done what it came for, ms. */
const LONGEST_MS = 700;
/** Runs that each submit of the sweep of the side adds. */
const MORE = 2;

/** Kills programs that somebody typed, in the middle of what they do: looking, waiting, launching. One at a time. */
export function clientDeaths(share: number): Killer {
  let child: ChildProcess | null = null;
  let dieAt = 0;
  return {
    name: 'clients',
    share,
    strike: (scene) => {
      if (child === null || hasEnded(child)) {
        child = startClient(scene, words(scene));
        dieAt = performance.now() + scene.below(LONGEST_MS);
        return 0;
      }
      if (performance.now() < dieAt) return 0;
      const isKilled = child.kill('SIGKILL');
      child = null;
      return isKilled ? 1 : 0;
    },
  };
}

/** What somebody types. A third of it launches: a sweep that has grown since. */
function words(scene: Scene): string[] {
  const look = [['ls'], ['status', '--json'], ['wait', 'ordeal'], ['ls', 'status:failed', '--json']];
  if (scene.below(3) > 0) return look[scene.below(look.length)]!;
  return submitWords(scene, MORE);
}

/** The words that launch the sweep of the side, with so many more runs. */
export function submitWords({ side, bed, places }: Scene, more: number): string[] {
  for (let n = 0; n < more; n++) {
    side.push({ name: `side${side.length}`, kind: 'side', code: 0, starts: 1 });
  }
  const file = bed.path('.ordeal', 'side.yaml');
  const numbers = side.map((_, n) => n).join(', ');
  writeFileSync(
    `${file}.tmp`,
    `command: [sh, ${places.script}, side, '0', '0.3', '\${args}']
parameters: { n: { values: [${numbers}] } }
groups: { side: { name: 'side{n}' } }
`,
  );
  renameSync(`${file}.tmp`, file);
  return [file, '--detach', '--gpus', 'none', '--slots', String(SLOTS)];
}

export function startClient(scene: Scene, args: readonly string[], cwd = scene.bed.runs): ChildProcess {
  const where = ['--runs', scene.bed.runs];
  return spawn(process.execPath, [program, ...args, ...where], {
    stdio: 'ignore',
    cwd,
    env: scene.clientEnvironment(),
  });
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
