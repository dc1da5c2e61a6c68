import { finished, type Steps } from '../../base/steps.js';

/** The task takes at most 1/`parts` of the time. */
const parts = 5;
/** Longest pause, in ms, so that a machine that slept during the task does not cause a pause of hours. */
const longestPause = 1000;

/**
 * Runs a task on request: at once while it is cheap, less often the more it costs, so that key presses seldom wait for it. Each of its
 * steps but the first has a turn of the event loop of its own. Requests during the task or the pause after it lead to one run at its
 * end.
 */
export class Throttle {
  readonly #task: () => Steps;
  /** Any clock in ms. */
  readonly #now: () => number;
  readonly #leastPause: number;
  #freeAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  /** The running task, and its next turn; null: the turn is now. */
  #running: { readonly steps: Steps; readonly turn: NodeJS.Immediate | null } | null = null;
  /** Whether there was a request while the task was running. */
  #isAsked = false;
  #isClosed = false;

  /** @param leastPause Minimum time between two runs, in ms, however cheap they are. */
  constructor(task: () => Steps, now: () => number, leastPause = 0) {
    this.#task = task;
    this.#now = now;
    this.#leastPause = leastPause;
  }

  /** Requests a run, at once or after the pause. */
  ask(): void {
    if (this.#timer !== null || this.#isClosed) return;
    if (this.#running !== null) {
      this.#isAsked = true;
      return;
    }
    const pause = Math.min(this.#freeAt - this.#now(), longestPause);
    if (pause > 0) this.#timer = setTimeout(() => this.#begin(), pause);
    else this.#begin();
  }

  /** Skips the pause once: runs now if a run is pending, otherwise at the next request. */
  hurry(): void {
    if (this.#isClosed) return;
    this.#finish();
    this.#freeAt = -Infinity;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#begin();
    }
    this.#finish();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const turn = this.#running?.turn ?? null;
    if (turn !== null) clearImmediate(turn);
  }

  #begin(): void {
    this.#timer = null;
    this.#step(this.#task(), 0);
  }

  /** `before`: ms that the steps before have taken. */
  #step(steps: Steps, before: number): void {
    this.#running = { steps, turn: null };
    const start = this.#now();
    const isDone = steps.next().done === true;
    const took = before + this.#now() - start;
    if (isDone) return this.#end(took);
    if (!this.#isClosed) this.#running = { steps, turn: setImmediate(() => this.#step(steps, took)) };
  }

  /** Does the remaining steps now. */
  #finish(): void {
    if (this.#running === null) return;
    const { steps, turn } = this.#running;
    if (turn !== null) clearImmediate(turn);
    const start = this.#now();
    finished(steps);
    this.#end(this.#now() - start);
  }

  #end(took: number): void {
    this.#running = null;
    this.#freeAt = this.#now() + Math.max(this.#leastPause, (parts - 1) * took);
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.ask();
  }
}
