import type { RowSink, WrittenRow } from './format.js';

/**
 * Follows the rows of a file that is rewritten as a whole, or in its first line, and returns each row once.
 *
 * After a rewrite the file is read again from its start, and known rows are skipped as long as they are unchanged, by the first of
 * them and a sum of all. Otherwise it is that of a new attempt, and all of it is returned.
 */
export class RewrittenRows {
  #told = 0;
  #toldSum = 0;
  #first = NaN;
  #at = 0;
  #sum = 0;

  /** Whether known rows have not been read again yet. */
  get isBehind(): boolean {
    return this.#at < this.#told;
  }

  /** Starts reading the file from its start again. */
  rescan(): void {
    this.#at = 0;
    this.#sum = 0;
  }

  /** Drops all known rows: the file is a new one. */
  forget(): void {
    this.#told = 0;
    this.#toldSum = 0;
    this.rescan();
  }

  /** Processes the next row of the file; false: the known rows are invalid: call `forget`, and read the file from its start. */
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

/** A sum of a row's values, which different rows share as rarely as a checksum. */
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
