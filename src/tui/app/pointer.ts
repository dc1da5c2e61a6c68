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
