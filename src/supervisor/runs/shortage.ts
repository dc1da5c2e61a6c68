/** Interval between attempts to start a process that the system refuses, ms. */
export const RETRY_MS = 1000;

/** The last shortage of the machine because of which a run reported as started had not been started after all. */
export class Shortage {
  readonly #now: () => number;
  #last: { reason: string; until: number } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(reason: string): void {
    this.#last = { reason, until: this.#now() + RETRY_MS };
  }

  /** Reason to start nothing for `waitMs`; null when runs may be started. */
  get current(): { reason: string; waitMs: number } | null {
    if (this.#last === null) return null;
    const waitMs = this.#last.until - this.#now();
    return waitMs > 0 ? { reason: this.#last.reason, waitMs } : null;
  }
}
