/** Between two ticks, ms. */
const period = 1000;
/** The time shown stays the same for so long, ms: a little less than the period, for a tick may be early. */
const sameTime = 900;

/**
 * The time that frames show. It moves on with the seconds: a key alone changes no time, and so not the rows that show one.
 * Ticks where nothing else is drawn.
 */
export class ShownClock {
  /** Unix ms. */
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #shown = -Infinity;
  #readAt = -Infinity;

  /** @param tick Called when it is time for another frame, about once a second, unless there has just been one. */
  constructor(now: () => number, tick: () => void) {
    this.#now = now;
    this.#timer = setInterval(() => {
      if (this.#now() - this.#readAt >= period / 2) tick();
    }, period);
  }

  /** For the frame that is being made, Unix ms. */
  read(): number {
    const now = this.#now();
    this.#readAt = now;
    const passed = now - this.#shown;
    if (passed >= sameTime || passed < 0) this.#shown = now;
    return this.#shown;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
