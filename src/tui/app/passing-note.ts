import type { Note } from '../state/ui-state.js';

/** How long a passing remark is shown, ms: long enough to be read twice. */
const shownFor = 5000;

/** Takes passing remarks (`Nothing was killed.`) away after a while. What asks for attention stays until the next key. */
export class PassingNote {
  readonly #forget: () => void;
  #note: Note | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param forget Called when the note that was heard last has been there long enough. */
  constructor(forget: () => void) {
    this.#forget = forget;
  }

  /** `note`: what is shown now; the same object for as long as it stays. */
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
