/** Between attempts to start a process while the system refuses, ms. */
export const RETRY_MS = 1000;

/** What the machine ran so short of that a run which was thought to be up had not been started after all. */
export class Shortage {
  readonly #now: () => number;
  #last: { reason: string; until: number } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(reason: string): void {
    this.#last = { reason, until: this.#now() + RETRY_MS };
  }

  /** Why no run should be started for `waitMs`; null: one may be. */
  get current(): { reason: string; waitMs: number } | null {
    if (this.#last === null) return null;
    const waitMs = this.#last.until - this.#now();
    return waitMs > 0 ? { reason: this.#last.reason, waitMs } : null;
  }
}
