import type { Note } from '../state/ui-state.js';

/** How long a passing note is shown, in ms: long enough to read it twice. */
const shownFor = 5000;

/** Removes passing notes (`Nothing was killed.`) after a while. Notes that need attention stay until the next key. */
export class PassingNote {
  readonly #forget: () => void;
  #note: Note | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param forget Called when the last note has been shown long enough. */
  constructor(forget: () => void) {
    this.#forget = forget;
  }

  /** `note`: the note shown now; the same object while it stays. */
  hear(note: Note | null): void {
    if (note === this.#note) return;
    this.close();
    this.#note = note;
    if (note?.tone === 'dim') this.#timer = setTimeout(this.#forget, shownFor);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
