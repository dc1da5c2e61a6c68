/** Time between two ticks, in ms. */
const period = 1000;
/** How long the shown time stays the same, in ms: slightly less than the period, because a tick may be early. */
const sameTime = 900;

/**
 * The time that frames show. It advances once a second, so a key alone changes neither the time nor the rows that show one. Ticks
 * if nothing else is drawn.
 */
export class ShownClock {
  /** Unix ms. */
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #shown = -Infinity;
  #readAt = -Infinity;

  /** @param tick Called about once a second for another frame, unless one was drawn just before. */
  constructor(now: () => number, tick: () => void) {
    this.#now = now;
    this.#timer = setInterval(() => {
      if (this.#now() - this.#readAt >= period / 2) tick();
    }, period);
  }

  /** The time for the frame being drawn, in Unix ms. */
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
