/** Of the time, at most one part in so many goes into the task. */
const parts = 5;
/** A machine that slept in the middle of the task did not work so long, ms. */
const longestPause = 1000;

/**
 * Does a task whenever it is asked to while that is cheap, and less often the more it costs: so that keys, which come in
 * between, seldom have to wait for it. What is asked for meanwhile is done once, at the end of the pause.
 */
export class Throttle {
  readonly #task: () => void;
  /** Any clock, ms. */
  readonly #now: () => number;
  readonly #leastPause: number;
  #freeAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** @param leastPause Between the ends of two tasks, ms, however cheap they are. */
  constructor(task: () => void, now: () => number, leastPause = 0) {
    this.#task = task;
    this.#now = now;
    this.#leastPause = leastPause;
  }

  /** Does the task, at once or soon. */
  ask(): void {
    if (this.#timer !== null || this.#isClosed) return;
    const pause = Math.min(this.#freeAt - this.#now(), longestPause);
    if (pause > 0) this.#timer = setTimeout(() => this.#perform(), pause);
    else this.#perform();
  }

  /** Without a pause this once: now if it was asked for, else when it is asked for next. */
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
