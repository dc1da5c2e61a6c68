import type { RowSink, WrittenRow } from './format.js';

/**
 * The rows of a file that is written whole each time, or has its first line rewritten: tells each row once.
 *
 * When the file was rewritten, it is read again from its start, and rows that were told before are passed over, as long as they
 * are still what they were: the first of them, and the sum of all. Otherwise it is another file, and all of it is told anew.
 */
export class RewrittenRows {
  #told = 0;
  #toldSum = 0;
  #first = NaN;
  #at = 0;
  #sum = 0;

  /** Whether rows that were told have not been seen again yet. */
  get isBehind(): boolean {
    return this.#at < this.#told;
  }

  /** The file is read from its start again. */
  rescan(): void {
    this.#at = 0;
    this.#sum = 0;
  }

  /** What was told is void: all comes again. */
  forget(sink: RowSink): void {
    this.#told = 0;
    this.#toldSum = 0;
    this.rescan();
    sink.restart();
  }

  /** The next row of the file; false: what was told before is void; `forget` it, and read the file from its start. */
  take(row: WrittenRow, sink: RowSink): boolean {
    const at = this.#at++;
    const own = sumOf(row);
    this.#sum += own * (1 + (at % 97));
    if (at < this.#told) return (at > 0 || own === this.#first) && (at < this.#told - 1 || this.#sum === this.#toldSum);
    if (at === 0) this.#first = own;
    this.#told += 1;
    this.#toldSum = this.#sum;
    sink.row(row);
    return true;
  }
}

/** Rows that differ in a value have different sums, but for a chance that is no worse than that of a checksum. */
function sumOf(row: WrittenRow): number {
  let sum = 0;
  let place = 1;
  for (const key in row) {
    const value = row[key];
    const number =
      typeof value === 'number' ? value : typeof value === 'string' ? value.length : Number(value === true);
    sum += (Number.isFinite(number) ? number + 0.123 : 0.456) * (place += key.length);
  }
  return sum;
}
