import type { Line } from './downsample.js';

/** Caches the lines of a table until it changes: a caller that draws a line sees by its identity that it is the same. */
export class LineCache {
  readonly #lines = new Map<string, Line>();

  /** Must be called when the table has changed. */
  forget(): void {
    if (this.#lines.size > 0) this.#lines.clear();
  }

  /** The line of a metric over another, computed if it is not cached. */
  get(key: string, xKey: string, make: () => Line): Line {
    const name = `${key}\n${xKey}`;
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line = make();
    this.#lines.set(name, line);
    return line;
  }
}
