import type { Place } from '../surface/surface.js';

/** Minimum time between two pointer positions, in ms: one frame of a screen. */
const pause = 16;

/** Reports the pointer's position at most once per frame, since it crosses a hundred cells on its way over the screen. */
export class Pointer {
  readonly #tell: (place: Place) => void;
  #place: Place | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(tell: (place: Place) => void) {
    this.#tell = tell;
  }

  hear(place: Place): void {
    this.#place = place;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#tell(this.#place!);
    }, pause);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

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
