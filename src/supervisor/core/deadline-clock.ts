/** Rings once when a moment has come. A new moment takes the place of the old one. Keeps no process alive. */
export class DeadlineClock {
  readonly #now: () => number;
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | null = null;
  #at: number | null = null;

  /** @param now Unix ms; must not jump. */
  constructor(now: () => number, ring: () => void) {
    this.#now = now;
    this.#ring = ring;
  }

  /** @param at Unix ms; null: there is none. */
  set(at: number | null): void {
    if (at === this.#at) return;
    this.clear();
    this.#at = at;
    if (at !== null) this.#wait(at);
  }

  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#at = null;
  }

  #wait(at: number): void {
    const left = Math.max(0, at - this.#now());
    this.#timer = setTimeout(() => this.#reach(at), Math.min(left, LONGEST_MS)).unref();
  }

  #reach(at: number): void {
    if (this.#now() < at) return this.#wait(at);
    this.clear();
    this.#ring();
  }
}

/** Node rings at once when it is told to wait for longer than 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;
