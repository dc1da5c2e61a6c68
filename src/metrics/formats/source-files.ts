import { basename } from 'node:path';
import { closeSync } from 'node:fs';
import type { FollowedBytes, Look } from '../../files/followed-file.js';
import { openRegular } from '../../files/regular-file.js';
import type { RowPicker, RowSink, SourceFiles, SourceReader, WrittenRow } from './format.js';

/** A follower of a growing file, in bytes or in lines. */
type Followed = Readonly<Pick<FollowedBytes, 'path' | 'offset' | 'written' | 'obstacle' | 'isBehind'>> & {
  lookAgain?: () => void;
};

/** What is still wrong in a file after this time, ms, is damage: network file systems show partial writes. */
export const DAMAGED_MS = 30_000;

/** Follows one file: its reading position, and what is not readable. The format interprets its bytes. */
export abstract class FollowedSource<File extends Followed> implements Omit<SourceReader, 'read'> {
  protected readonly file: File;
  /** Whether another read would return more at once. */
  more = false;
  /** Offset of the first bytes that could not be read, and the time at which they were seen, ms. */
  #doubt: { offset: number; since: number } | null = null;
  #damage: string | null = null;

  constructor(file: File) {
    this.file = file;
  }

  get offset(): number {
    return this.file.offset;
  }

  get written(): File['written'] {
    return this.file.written;
  }

  get isHindered(): boolean {
    return this.file.obstacle !== null;
  }

  get isWaiting(): boolean {
    return this.file.isBehind;
  }

  get obstacle(): string | null {
    const { obstacle, path } = this.file;
    return obstacle === null ? this.loss : `${basename(path)} cannot be read: ${obstacle}`;
  }

  /** What is left out of a readable file, in words that name the file; null: nothing. */
  protected get loss(): string | null {
    return this.#damage;
  }

  /** Reads the file; returns true if anything changed. */
  protected follow(read: (file: File) => Look): boolean {
    const { offset } = this.file;
    const { restarted, more } = read(this.file);
    this.more = more;
    return restarted || this.file.offset > offset;
  }

  /**
   * Whether the bytes at an offset that cannot be read may be half of a write. If not, the file is damaged there.
   *
   * @param words The words for what becomes of the rest of the file.
   */
  protected isStillWritten(offset: number, idleMs: number, words: string): boolean {
    if (this.#doubt?.offset !== offset) this.#doubt = { offset, since: performance.now() };
    if (idleMs <= DAMAGED_MS && performance.now() - this.#doubt.since <= DAMAGED_MS) {
      this.file.lookAgain?.();
      return true;
    }
    this.#damage = `${basename(this.file.path)} is damaged at byte ${offset}: ${words}`;
    return false;
  }

  /** Forgets what was wrong, as the file is another one. */
  protected forget(): void {
    this.#doubt = null;
    this.#damage = null;
  }
}

/** Cost of checking a file, as the number of bytes that could be read in the same time. */
const COST_OF_LOOK = 1024;

/**
 * How files of one source belong together. `attempts`: each is a later attempt's than the one before. `parts`: their order counts, and
 * each row says of which it is. `metrics`: each has another metric.
 */
export type Order = 'attempts' | 'parts' | 'metrics';

/** Reads the files of a source one after the other, like one file. */
export class FilesInTurn<Reader extends SourceReader = SourceReader> implements SourceReader {
  readonly #source: SourceFiles;
  readonly #open: (path: string, part: number) => Reader;
  readonly #order: Order;
  /** Index of the last file that had a row. */
  #written = 0;
  #readers = new Map<string, Reader>();
  #more = false;
  /** Index of the file that is read next. */
  #next = 0;
  #offset = 0;

  /** @param open Called once for each file with its number. */
  constructor(source: SourceFiles, open: (path: string, part: number) => Reader, order: Order = 'attempts') {
    this.#source = source;
    this.#open = open;
    this.#order = order;
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    return this.#more;
  }

  get isHindered(): boolean {
    return this.readers().some(({ isHindered }) => isHindered);
  }

  get isWaiting(): boolean {
    return this.readers().some(({ isWaiting }) => isWaiting);
  }

  get written(): SourceReader['written'] {
    const times = this.readers().flatMap(({ written }) => written ?? []);
    if (times.length === 0) return null;
    return { from: Math.min(...times.map(({ from }) => from)), to: Math.max(...times.map(({ to }) => to)) };
  }

  get obstacle(): string | null {
    return this.readers().find(({ obstacle }) => obstacle !== null)?.obstacle ?? null;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { paths } = this.#source;
    let changed = false;
    if (this.#isOutOfOrder(paths)) return this.#beginAgain(sink);
    // New files were found before known ones, so all are checked again.
    if (this.#next >= paths.length) this.#next = 0;
    for (let left = maxBytes; this.#next < paths.length; this.#next++) {
      const reader = this.#readerOf(paths[this.#next]!);
      const { offset } = reader;
      const others = this.#offset - offset;
      let isVoid = false;
      const own: RowSink = {
        ...sink,
        row: (row, time, part) => {
          if (this.#order === 'attempts' && this.#next > this.#written) sink.attempt?.();
          this.#written = this.#next;
          sink.row(row, time, part);
        },
        restart: () => {
          isVoid = others > 0;
          sink.restart();
        },
      };
      if (reader.read(left, own)) changed = true;
      if (isVoid) return this.#beginAgain(sink);
      this.#offset += reader.offset - offset;
      left -= Math.max(COST_OF_LOOK, reader.offset - offset);
      // The order of files is the order of writing.
      this.#more = reader.more;
      if (reader.more) return changed;
      if (left > 0 || this.#next === paths.length - 1) continue;
      this.#next += 1;
      return (this.#more = true) && changed;
    }
    this.#next = 0;
    return changed;
  }

  /** Whether a new file sorts before a known one. */
  #isOutOfOrder(paths: readonly string[]): boolean {
    if (this.#order === 'metrics') return false;
    let place = 0;
    for (const path of this.#readers.keys()) if (path !== paths[place++]) return true;
    return false;
  }

  /** Starts over after a file was rewritten or came between others, as the sink drops the rows of all. */
  #beginAgain(sink: RowSink): true {
    this.#readers = new Map();
    this.#next = this.#offset = this.#written = 0;
    sink.restart();
    return (this.#more = true);
  }

  #readerOf(path: string): Reader {
    const known = this.#readers.get(path) ?? this.#open(path, this.#next);
    this.#readers.set(path, known);
    return known;
  }

  /** The readers of the files that have been read, in the order of the files. */
  protected readers(): Reader[] {
    return [...this.#readers.values()];
  }
}

/** A place in a file of `size` bytes. `share`: 0 is its first row, 1 its last. */
export type Place = { readonly size: number; readonly share: number };

type PickTaker = Parameters<RowPicker['pick']>[1];

/** Reads the rows at one place of an open file. */
export type PickAt = (descriptor: number, place: Place, take: PickTaker) => void;

/** Rows at evenly spaced places of a file as it was when opened, its end included, in file order. */
export class PlacesPicker implements RowPicker {
  readonly #path: string;
  readonly #places: number;
  readonly #pickAt: PickAt;
  #next = 0;
  #size: number | null = null;

  /** @param places Number of places; at least two. */
  constructor(path: string, places: number, pickAt: PickAt) {
    this.#path = path;
    this.#places = places;
    this.#pickAt = pickAt;
  }

  get isComplete(): boolean {
    return this.#next >= this.#places;
  }

  pick(count: number, take: PickTaker): void {
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') {
      this.#giveUp();
      return;
    }
    try {
      const size = (this.#size ??= opened.stat.size);
      const end = Math.min(this.#places, this.#next + count);
      for (; this.#next < end; this.#next++)
        this.#pickAt(opened.descriptor, { size, share: this.#next / (this.#places - 1) }, take);
    } catch {
      // A read of the disk or the network failed: the chart is drawn after everything has been read.
      this.#giveUp();
    } finally {
      closeSync(opened.descriptor);
    }
  }

  #giveUp(): void {
    this.#next = this.#places;
  }
}

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
