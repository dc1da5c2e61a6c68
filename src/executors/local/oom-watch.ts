import { readFileSync } from 'node:fs';

/**
 * Tells whether the kernel has killed a process for want of memory lately. It says how often, not whom: whoever died of an
 * unexplained SIGKILL at that time takes one of the kills.
 */
export class OomWatch {
  readonly #count: () => number;
  #before: number;
  #latest: number;

  /** @param count How many such kills there were since some moment; it may grow by those of others. */
  constructor(count: () => number = oomKills) {
    this.#count = count;
    this.#before = this.#latest = count();
  }

  /** To be called every second or so. Kills are remembered until the call after the next, for an end that is told late. */
  look(): void {
    this.#before = Math.max(this.#before, this.#latest);
    this.#latest = this.#count();
  }

  /** Whether there was a kill lately that nobody has taken yet. */
  take(): boolean {
    if (this.#count() <= this.#before) return false;
    this.#before++;
    return true;
  }
}

/** Of the whole machine, containers included; 0 where there is no /proc. */
function oomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
