/**
 * Commands that write and delete files, or start programs, are killed in the middle of it: `clean`, `init --trial`, launches with a
 * copy of the code, `export -o` and `restart`. The runs that they work on put links, pipes and devices in the place of their own
 * files. What must not be touched is looked at after each storm (see `paths.ts`).
 */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Killer } from '../kind.js';
import type { Scene } from '../scene.js';
import { hasEnded, startClient } from './clients.js';

/** A command that is up for longer has done what it came for, ms. */
const LONGEST_MS = 1500;
/** Runs of each of the two sweeps. */
const RUNS = 12;

/** Kills commands, one at a time. */
export function commandDeaths(share: number): Killer {
  let child: ChildProcess | null = null;
  let dieAt = 0;
  let turn = 0;
  return {
    name: 'typed commands',
    share,
    strike: (scene) => {
      if (child === null || hasEnded(child)) {
        child = startClient(scene, commands[turn++ % commands.length]!(ground(scene)), ground(scene).folder);
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

/**
 * Where they work: `precious` is a folder that no command may write to or delete from; `table` is what is exported; each trial of a
 * program leaves a file of its processes' pids in `trials`; a run of the sweep with a copy of its code tells in `seen` what was in that.
 */
export type Ground = { folder: string; precious: string; table: string; trials: string; seen: string };

const commands: readonly ((ground: Ground) => string[])[] = [
  () => launchWords('litter'),
  () => launchWords('copied'),
  ({ table }) => ['export', 'ordeal', '-o', table],
  () => ['init', '--print', '--trial', '--trial-time', '20s', '--', 'sh', 'trial.sh'],
  () => cleanWords(['--logs', '--attempts', '--checkpoints', '--pattern', '*']),
  () => launchWords('copied'),
  () => cleanWords(['--failed', '--done', '--snapshots']),
  () => ['restart'],
];

/** What is launched is made anew where `clean` has deleted it. */
export function launchWords(sweep: 'litter' | 'copied'): string[] {
  return [`${sweep}.yaml`, '--detach', '-y', '--gpus', 'none'];
}

export function cleanWords(which: readonly string[]): string[] {
  return ['clean', 'sweep:litter or sweep:copied', ...which, '-y'];
}

/** Made when it is first asked for. */
export function ground({ bed }: Scene): Ground {
  const folder = bed.path('.ordeal', 'ground');
  const at = (name: string) => join(folder, name);
  const made = { folder, precious: at('precious'), table: at('table.csv'), trials: at('trials'), seen: at('seen') };
  if (existsSync(folder)) return made;
  for (const path of [made.precious, made.trials, made.seen]) mkdirSync(path, { recursive: true });
  for (const name of ['thesis', 'log', 'pid']) writeFileSync(join(made.precious, name), name);
  writeFileSync(at('trial.sh'), trialScript(made));
  writeFileSync(at('litter.sh'), litterScript(made));
  writeFileSync(at('litter.yaml'), sweepText(`sh ${at('litter.sh')} \${n}`, 'litter'));
  writeFileSync(at('copied.sh'), copiedScript(made));
  writeFileSync(at('copied.yaml'), `code: snapshot\n${sweepText('sh copied.sh', 'copied')}`);
  writeFileSync(at('.gitignore'), '*\n!*.sh\n!*.yaml\n!.gitignore\n');
  const identity = ['-c', 'user.name=me', '-c', 'user.email=me@example.com'];
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    [...identity, 'commit', '-q', '-m', 'code'],
  ])
    execFileSync('git', words, { cwd: folder });
  return made;
}

function sweepText(command: string, name: string): string {
  const numbers = Array.from({ length: RUNS }, (_, n) => n).join(', ');
  const words = command.split(' ').map((word) => `'${word}'`);
  return `name: ${name}\ncommand: [${words.join(', ')}]\nparameters: { n: [${numbers}] }\ngroups: { main: { name: 'r{n}' } }\n`;
}

/** A run with a copy of the code: tells where it is and what is there, and leaves a new file that says where it was written. */
function copiedScript({ seen }: Ground): string {
  return `{ pwd -P; ls; cat stray-* 2> /dev/null; } > ${seen}/$$.draft; mv ${seen}/$$.draft ${seen}/$$.seen
pwd -P > .stray.$$; mv .stray.$$ stray-$$\n`;
}

/** A program that never ends, with a helper that has left its group where the system can do that. */
function trialScript({ trials }: Ground): string {
  return `(setsid sleep 1000 || sleep 1000) & echo $! > ${trials}/$$.draft; echo $$ >> ${trials}/$$.draft
mv ${trials}/$$.draft ${trials}/$$.pids
echo loss=1; sleep 1000\n`;
}

/** Each run leaves checkpoints, and puts something in the place of a file of its own. */
function litterScript({ precious }: Ground): string {
  return `cd "$MEMRL_RUN_DIR" || exit 1
for n in 1 2 3; do echo "$n" > "ckpt-$n"; done
case $1 in
0) cd ..; mv "$MEMRL_RUN_DIR" "$MEMRL_RUN_DIR.$$"; ln -s ${precious} "$MEMRL_RUN_DIR" ;;
1) rm -f output.log; ln -s ${precious}/log output.log ;;
2) rm -rf attempts; ln -s ${precious} attempts ;;
3) ln -s ${precious} ckpt-4; ln -s ${precious}/thesis ckpt-5 ;;
4) mkfifo ckpt-4; ln -s /dev/zero ckpt-5 ;;
5) rm -f output.log; mkfifo output.log ;;
6) mkdir ckpt-4; ln -s ${precious} ckpt-4/link; ln -s . ckpt-4/loop ;;
7) rm -f "attempts/$MEMRL_ATTEMPT/pid"; ln -s ${precious}/pid "attempts/$MEMRL_ATTEMPT/pid" ;;
8) ln -s ${precious}/thesis "attempts/$MEMRL_ATTEMPT/exit" ;;
9) exit 3 ;;
esac\n`;
}

/** Pids of what the trials of programs have started, the longest ago first. */
export function triedPids({ trials }: Ground): number[] {
  const files = readdirSync(trials).filter((name) => name.endsWith('.pids'));
  return files.flatMap((name) => readFileSync(join(trials, name), 'utf8').trim().split('\n').map(Number));
}
