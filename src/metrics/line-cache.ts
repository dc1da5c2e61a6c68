import type { Line } from './downsample.js';

/** The lines of a table until it changes: the same objects, so that whoever draws one sees that it is the same. */
export class LineCache {
  readonly #lines = new Map<string, Line>();

  /** The table has changed. */
  forget(): void {
    if (this.#lines.size > 0) this.#lines.clear();
  }

  /** The line of a metric over another, made where it is not known. */
  get(key: string, xKey: string, make: () => Line): Line {
    const name = `${key}\n${xKey}`;
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line = make();
    this.#lines.set(name, line);
    return line;
  }
}
