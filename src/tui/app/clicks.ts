/** Maximum time between the two clicks of a double click, in ms. */
const doubleClick = 400;

/** Recognizes double clicks on rows. */
export class Clicks {
  #last: { row: number; at: number } | null = null;

  /** Whether this click completes a double click. Call once per click. `now`: Unix ms. */
  isSecond(row: number, now: number): boolean {
    const isSecond = this.#last?.row === row && now - this.#last.at < doubleClick;
    this.#last = isSecond ? null : { row, at: now };
    return isSecond;
  }
}
