import { childrenOf } from './command-process.js';
import { readStat } from '../../processes/process-identity.js';
import { keyOf } from '../../processes/process-tree.js';

/** Attempts that are looked at in one go: 60 µs for each process of theirs. */
const AT_ONCE = 20;
/** More of one run are not remembered: programs that start thousands of processes wait for them. */
const MOST = 1000;

type Member = { pid: number; seen: Set<string> };

/**
 * Remembers who descends from the shims of living attempts: a process that leaves its parents later, with nothing left on it
 * to tell where it comes from, is known all the same. One that is gone from its parents before anybody has looked is not.
 */
export class FamilyWatch {
  #next = 0;

  /** To be called every second or so: looks at some of the attempts, the next ones each time. */
  look(attempts: readonly Member[]): void {
    const count = Math.min(AT_ONCE, attempts.length);
    for (let turn = 0; turn < count; turn++) {
      this.#next = (this.#next + 1) % attempts.length;
      const { pid, seen } = attempts[this.#next]!;
      remember(pid, seen);
    }
  }
}

function remember(pid: number, seen: Set<string>): void {
  const waiting = childrenOf(pid) ?? [];
  for (let child = waiting.pop(); child !== undefined && seen.size < MOST; child = waiting.pop()) {
    const stat = readStat(child);
    if (stat === null) continue;
    seen.add(keyOf(stat));
    waiting.push(...(childrenOf(child) ?? []));
  }
}
