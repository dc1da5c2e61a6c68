import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import { crc32 } from 'node:zlib';
import { obstacleOf, openRegular, statRegular } from '../../files/regular-file.js';
import { DamagedDatabase, type Pages } from './sqlite-table.js';
import { WriteAheadLog } from './sqlite-wal.js';

/**
 * What a read amounted to. `unchanged`: nothing was committed since the last read. `busy`: someone writes just now, or the log is
 * long: try again. `damaged`: it was cut, or is just being copied.
 */
export type DatabaseRead<T> =
  | { is: 'read'; value: T }
  | { is: 'unchanged' | 'absent' }
  | { is: 'busy'; more: boolean }
  | { is: 'damaged' | 'unreadable'; reason: string };

/** Names of the files beside a database that belong to it: what is committed and not yet in it, and how to undo what is in it. */
export const besides = { log: '-wal', journal: '-journal' };

/** Tries at one read while someone writes. */
const TRIES = 3;
/** Bytes of the log looked at in one read: some 10 ms of work. */
const LOG_BYTES = 4 << 20;
/** Two writes this close may leave the same time, ms. */
const RACY_MS = 50;

/**
 * An SQLite database that another program writes, read without locks: nothing is written or created, and no writer is ever kept
 * waiting. (SQLite's own readers lock, and create `-shm` and `-wal` beside a database in WAL mode.)
 *
 * Instead, a read is made and then looked at: if meanwhile something was committed, or any page that was read is not what it
 * was, it is void. A checkpoint only ever copies pages that are in the log, and those are read from there.
 */
export class SqliteFile {
  readonly path: string;
  readonly #log = new WriteAheadLog();
  #seen: string | null = null;
  #stat: Stats | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** As of the last read that found it. */
  get stat(): Stats | null {
    return this.#stat;
  }

  /**
   * Has `use` read what is committed. It may be called several times, and what it returns is void but for the last time; so it
   * must not tell anyone. Never throws what the file is to blame for.
   */
  read<T>(use: (pages: Pages) => T): DatabaseRead<T> {
    const there = statRegular(this.path);
    if (there.kind === 'absent') return { is: 'absent' };
    if (there.kind === 'unreadable') return { is: 'unreadable', reason: there.reason };
    this.#stat = there.stat;
    const seen = this.#looks(there.stat);
    if (seen !== null && seen === this.#seen) return { is: 'unchanged' };
    this.#seen = null;
    const read = this.#attempt(use);
    if (read.is === 'read') this.#seen = seen;
    return read;
  }

  /** The next read is made even if nothing changes: the last one did not use all there is. */
  lookAgain(): void {
    this.#seen = null;
  }

  /** What stays the same while nothing is written; null: the times are too fresh to tell. */
  #looks(stat: Stats): string | null {
    const log = statRegular(this.path + besides.log);
    const stats = [stat, ...(log.kind === 'file' ? [log.stat] : [])];
    if (stats.some(({ mtimeMs }) => Math.abs(Date.now() - mtimeMs) < RACY_MS)) return null;
    return stats.map(({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(' ')).join('\n');
  }

  #attempt<T>(use: (pages: Pages) => T): DatabaseRead<T> {
    for (let tries = 1; ; tries++) {
      const read = this.#open(use);
      if (read.is !== 'busy' || read.more || tries === TRIES) return read;
    }
  }

  #open<T>(use: (pages: Pages) => T): DatabaseRead<T> {
    const database = openRegular(this.path, { isSeen: true });
    if (database.kind === 'absent') return { is: 'absent' };
    if (database.kind === 'unreadable') return { is: 'unreadable', reason: database.reason };
    try {
      return this.#openLog(database.descriptor, use);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { is: 'unreadable', reason: reasonOf(error) };
    } finally {
      closeSync(database.descriptor);
    }
  }

  #openLog<T>(database: number, use: (pages: Pages) => T): DatabaseRead<T> {
    const log = isInLogMode(database) ? openRegular(this.path + besides.log) : null;
    if (log?.kind !== 'file') return this.#try({ database, log: null, logId: null }, use);
    try {
      return this.#try({ database, log: log.descriptor, logId: log.stat.ino }, use);
    } finally {
      closeSync(log.descriptor);
    }
  }

  #try<T>(files: Files, use: (pages: Pages) => T): DatabaseRead<T> {
    if (this.#log.look(files.log, LOG_BYTES).more) return { is: 'busy', more: true };
    if (this.#isInTransaction()) return { is: 'busy', more: false };
    const pages = new ReadPages(files, this.#log);
    let read: DatabaseRead<T>;
    try {
      read = { is: 'read', value: use(pages.open()) };
    } catch (error) {
      if (!(error instanceof DamagedDatabase)) throw error;
      read = { is: 'damaged', reason: error.message };
    }
    const isVoid = this.#isOtherLog(files) || this.#log.look(files.log, LOG_BYTES).changed || this.#isInTransaction();
    return isVoid || !pages.areUnchanged() ? { is: 'busy', more: false } : read;
  }

  /** Whether a log has come or gone, or was replaced, since it was opened. */
  #isOtherLog({ database, logId }: Files): boolean {
    const there = isInLogMode(database) ? statRegular(this.path + besides.log) : null;
    return (there?.kind === 'file' ? there.stat.ino : null) !== logId;
  }

  /** Where there is no log, the journal says how to undo what is being written to the database itself. */
  #isInTransaction(): boolean {
    const journal = openRegular(this.path + besides.journal);
    if (journal.kind !== 'file') return false;
    try {
      const head = Buffer.alloc(JOURNAL.length);
      return readSync(journal.descriptor, head, 0, head.length, 0) === head.length && head.equals(JOURNAL);
    } finally {
      closeSync(journal.descriptor);
    }
  }
}

/** How a journal begins that counts. */
const JOURNAL = Buffer.from('d9d505f920a163d7', 'hex');

/** Descriptors, and what tells the log from another. */
type Files = { readonly database: number; readonly log: number | null; readonly logId: number | null };

const MAGIC = 'SQLite format 3\0';
const headAt = { pageSize: 16, written: 18, reserved: 20, changes: 24, pages: 28, encoding: 56, pagesAsOf: 92 };
const FILE_HEAD = 100;
const LOG_MODE = 2;
const UTF8 = 1;

/** Whether changes are written to a log first. Otherwise one that lies there belongs to something else. */
function isInLogMode(database: number): boolean {
  return at(database, headAt.written, 1)[0] === LOG_MODE;
}

/** The pages of one read, with a checksum of each that came from the database itself. */
class ReadPages implements Pages {
  readonly #files: Files;
  readonly #log: WriteAheadLog;
  readonly #pages = new Map<number, Buffer>();
  readonly #sums = new Map<number, number>();
  #size = 0;
  usable = 0;
  count = 0;

  constructor(files: Files, log: WriteAheadLog) {
    this.#files = files;
    this.#log = log;
  }

  open(): this {
    const head = at(this.#files.database, 0, FILE_HEAD);
    if (head.length < FILE_HEAD || head.toString('latin1', 0, MAGIC.length) !== MAGIC)
      throw new DamagedDatabase('it does not begin as an SQLite database does');
    // A size of 65,536 does not fit into its two bytes.
    const size = head.readUInt16BE(headAt.pageSize);
    this.#size = size === 1 ? 65_536 : size;
    this.usable = this.#size - head[headAt.reserved]!;
    this.count = this.#log.pages > 0 ? this.#log.pages : this.#countIn(head);
    const isReadable = this.usable >= 480 && this.page(1).readUInt32BE(headAt.encoding) <= UTF8;
    if (!isReadable) throw new DamagedDatabase('it is of a kind of SQLite that is not read');
    return this;
  }

  page(number: number): Buffer {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    if (number < 1 || number > this.count) throw new DamagedDatabase(`there is no page ${number}`);
    const place = this.#log.placeOf(number);
    const bytes = place === undefined ? this.#read(number) : at(this.#files.log!, place, this.#size);
    if (bytes.length < this.#size) throw new DamagedDatabase(`page ${number} is not whole`);
    if (place === undefined) this.#sums.set(number, crc32(bytes));
    this.#pages.set(number, bytes);
    return bytes;
  }

  /** Whether the pages that were read are still what they were. */
  areUnchanged(): boolean {
    return [...this.#sums].every(([number, sum]) => crc32(this.#read(number)) === sum);
  }

  /** What the head says of it counts if whoever wrote last knew of it. */
  #countIn(head: Buffer): number {
    const isKnown = head.readUInt32BE(headAt.changes) === head.readUInt32BE(headAt.pagesAsOf);
    const count = isKnown ? head.readUInt32BE(headAt.pages) : 0;
    return count > 0 ? count : Math.floor(fstatSync(this.#files.database).size / this.#size);
  }

  #read(number: number): Buffer {
    return at(this.#files.database, (number - 1) * this.#size, this.#size);
  }
}

/** As many bytes as there are. */
function at(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

/** A disk or network may fail a read (EIO, ESTALE). */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

function reasonOf(error: Error): string {
  const obstacle = obstacleOf(error);
  return obstacle.kind === 'unreadable' ? obstacle.reason : error.message;
}
