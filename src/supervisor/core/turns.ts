import { setImmediate } from 'node:timers/promises';

/** A turn of the event loop should not last longer, ms: signals, clients and the ends of runs wait for it. */
const TURN_MS = 10;

/** For long work in small pieces: `await turns.pass()` after each, and others get their turn when it has lasted long enough. */
export class Turns {
  #since = performance.now();

  /** Asked first where even a moment's wait would let something else come between. */
  get isOver(): boolean {
    return performance.now() - this.#since >= TURN_MS;
  }

  async pass(): Promise<void> {
    if (!this.isOver) return;
    await setImmediate();
    this.#since = performance.now();
  }
}
