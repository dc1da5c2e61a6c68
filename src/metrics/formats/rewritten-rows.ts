import type { RowSink, WrittenRow } from './format.js';

/**
 * The rows of a file that is written whole each time, or has its first line rewritten: tells each row once.
 *
 * When the file was rewritten, it is read again from its start, and rows that were told before are passed over, as long as the
 * first and the last of them are still what they were. Otherwise it is another file: all of it is told anew.
 */
export class RewrittenRows {
  #told = 0;
  #at = 0;
  #first: WrittenRow = {};
  #last: WrittenRow = {};

  /** Whether rows that were told have not been seen again yet. */
  get isBehind(): boolean {
    return this.#at < this.#told;
  }

  /** The file is read from its start again. */
  rescan(): void {
    this.#at = 0;
  }

  /** What was told is void: all comes again. */
  forget(sink: RowSink): void {
    this.#told = 0;
    this.#at = 0;
    sink.restart();
  }

  /** The next row of the file; false: what was told before is void; `forget` it, and read the file from its start. */
  take(row: WrittenRow, sink: RowSink): boolean {
    const at = this.#at++;
    if (at >= this.#told) {
      this.#told += 1;
      if (at === 0) this.#first = row;
      this.#last = row;
      sink.row(row);
      return true;
    }
    const isSame = (at > 0 || holds(row, this.#first)) && (at < this.#told - 1 || holds(row, this.#last));
    return isSame;
  }
}

/** Whether a row says all that another said; it may say more. */
function holds(row: WrittenRow, said: WrittenRow): boolean {
  return Object.entries(said).every(([key, value]) => isEqual(row[key], value));
}

function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return Object.is(one, other);
  return JSON.stringify(one) === JSON.stringify(other);
}
