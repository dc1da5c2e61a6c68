import { readFileSync } from 'node:fs';
import { readUsage, TICKS_PER_SECOND } from '../../../src/processes/process-usage.js';
import { type Fault, faults } from '../fault-plan.js';
import type { Killer } from '../kind.js';
import type { Scene } from '../scene.js';

/** A fault that has not come by then will not, ms. */
const LONGEST_LIFE_MS = 4000;
/**
 * Of a life, what the supervisor must have computed itself: beside other work it would otherwise die, each time, before it has
 * started anything.
 */
const COMPUTED = 1 / 3;

/** Of each death, where it came: `journal-write torn`, or `any time`. */
export type Deaths = {
  killer: Killer;
  places: () => string[];
  /** Runs that were alive, at the least, at a death by the clock when all steady ones were up. */
  alive: () => number;
  /** The next supervisor may live. */
  spare: () => void;
};

/**
 * Kills supervisors: each at an operation of its own choice (see `die-at.mjs`), or when its time has come.
 */
export function supervisorDeaths(scene: Scene, share: number, seed: number): Deaths {
  const plan = faults(seed);
  let fault: Fault | null = null;
  let isSpared = false;
  let told = 0;
  let byHand = 0;
  let alive = Infinity;
  let present = { pid: 0, bornAt: 0, computed: 0 };
  scene.give('MEMRL_FAULT', () => {
    fault = isSpared ? null : plan.next().value;
    return fault?.kind === 'at' ? `${fault.place}:${fault.n}:${fault.moment}` : '';
  });
  const atOperations = () => readFileSync(scene.deaths, 'utf8').split('\n').filter(Boolean);
  const isOld = (pid: number) => {
    if (pid !== present.pid) present = { pid, bornAt: performance.now(), computed: computedMs(pid) };
    const age = performance.now() - present.bornAt;
    if (fault?.kind !== 'time' || age > LONGEST_LIFE_MS) return age > LONGEST_LIFE_MS;
    return age > fault.afterMs && computedMs(pid) - present.computed >= fault.afterMs * COMPUTED;
  };
  const strike = () => {
    isSpared = false;
    const pid = scene.supervisorPid;
    if (pid !== null && isOld(pid)) {
      if (areSteady(scene)) alive = Math.min(alive, new Set(scene.processes().map((entry) => entry.mark())).size);
      byHand += kill(pid);
    }
    const before = told;
    told = atOperations().length + byHand;
    return told - before;
  };
  return {
    killer: { name: 'supervisors', share, strike },
    places: () => [...atOperations(), ...Array<string>(byHand).fill('any time')],
    alive: () => alive,
    spare: () => (isSpared = true),
  };
}

/** CPU time of a process; 0 if it has ended. */
function computedMs(pid: number): number {
  return ((readUsage(pid)?.ticks ?? 0) / TICKS_PER_SECOND) * 1000;
}

function areSteady({ ledger, all }: Scene): boolean {
  const started = new Set(ledger.entries().map(({ run }) => run));
  return all.every(({ kind, name }) => kind !== 'steady' || started.has(`ordeal/${name}`));
}

/** Whether this supervisor was given an operation to die at. */
export function isMarked(pid: number): boolean {
  try {
    return /\0MEMRL_FAULT=[^\0]/.test(readFileSync(`/proc/${pid}/environ`, 'latin1'));
  } catch {
    // It has died of it.
    return true;
  }
}

/** 1 if there was someone to kill. */
export function kill(pid: number): number {
  try {
    process.kill(pid, 'SIGKILL');
    return 1;
  } catch {
    return 0;
  }
}
