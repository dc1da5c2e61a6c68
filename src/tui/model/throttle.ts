/** The task takes at most 1/`parts` of the time. */
const parts = 5;
/** Longest pause, in ms, so that a machine that slept during the task does not cause a pause of hours. */
const longestPause = 1000;

/**
 * Runs a task on request: at once while it is cheap, less often the more it costs, so that key presses seldom wait for it. Requests
 * during a pause lead to one run at its end.
 */
export class Throttle {
  readonly #task: () => void;
  /** Any clock in ms. */
  readonly #now: () => number;
  readonly #leastPause: number;
  #freeAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param leastPause Minimum time between two runs, in ms, however cheap they are. */
  constructor(task: () => void, now: () => number, leastPause = 0) {
    this.#task = task;
    this.#now = now;
    this.#leastPause = leastPause;
  }

  /** Requests a run, at once or after the pause. */
  ask(): void {
    if (this.#timer !== null || this.#isClosed) return;
    const pause = Math.min(this.#freeAt - this.#now(), longestPause);
    if (pause > 0) this.#timer = setTimeout(() => this.#perform(), pause);
    else this.#perform();
  }

  /** Skips the pause once: runs now if a run is pending, otherwise at the next request. */
  hurry(): void {
    if (this.#isClosed) return;
    this.#freeAt = -Infinity;
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#perform();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #perform(): void {
    this.#timer = null;
    const start = this.#now();
    this.#task();
    const end = this.#now();
    this.#freeAt = end + Math.max(this.#leastPause, (parts - 1) * (end - start));
  }
}
