import type { Place } from '../surface/surface.js';

/** Between two looks at where the pointer is, ms: as many as a screen can show. */
const pause = 16;

/** Where the pointer is, told at most once a frame: on its way over the screen it comes to a hundred cells. */
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
