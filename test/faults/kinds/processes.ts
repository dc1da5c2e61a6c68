import { readStat } from '../../../src/processes/process-identity.js';
import type { Killer } from '../kind.js';
import { type Entry, isThere } from '../ledger.js';
import type { Scene } from '../scene.js';
import type { Victim } from '../verdict.js';

/** Kills one of the processes of runs that are there to be killed: their shims, the commands themselves, or both at once. */
export function processDeaths(victim: Victim, share: number): Killer {
  return {
    name: `${victim}s`,
    share,
    strike: (scene) => {
      const prey = nextPrey(scene, victim);
      if (prey === null) return 0;
      if (!blow(prey, victim)) return 0;
      scene.blows.push({ victim, process: prey.process });
      return 1;
    },
  };
}

/** A start of a run that is still there and has not been touched. Prey is shared out by the pid, so that nobody is short of it. */
function nextPrey(scene: Scene, victim: Victim): Entry | null {
  const touched = new Set(scene.blows.map(({ process }) => process));
  const isMine = ({ process }: Entry) => order[Number.parseInt(process, 10) % order.length] === victim;
  const some = scene.ledger
    .entries()
    .slice(-RECENT)
    .filter((entry) => entry.kind === 'start' && /^ordeal\/(keen-)?prey/.test(entry.run))
    .filter((entry) => isMine(entry) && !touched.has(entry.process) && isThere(entry));
  return some[scene.below(some.length)] ?? null;
}

const order: readonly Victim[] = ['shim', 'command', 'group'];
/** Lines of the ledger among which there is prey that is still there. */
const RECENT = 400;

function blow({ process: key }: Entry, victim: Victim): boolean {
  const pid = Number.parseInt(key, 10);
  const group = readStat(pid)?.group;
  if (group === undefined) return false;
  try {
    process.kill({ shim: group, command: pid, group: -group }[victim], 'SIGKILL');
    return true;
  } catch {
    // It ended in between.
    return false;
  }
}
