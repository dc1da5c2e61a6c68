/** Time within which a second click belongs to the first, ms. */
const doubleClick = 400;

/** Tells a second click on a row from a first. */
export class Clicks {
  #last: { row: number; at: number } | null = null;

  /** To be asked once for each click. `now`: Unix ms. */
  isSecond(row: number, now: number): boolean {
    const isSecond = this.#last?.row === row && now - this.#last.at < doubleClick;
    this.#last = isSecond ? null : { row, at: now };
    return isSecond;
  }
}
