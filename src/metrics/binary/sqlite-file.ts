import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import { crc32 } from 'node:zlib';
import { isSettledTime } from '../../files/file-system-time.js';
import { obstacleOf, openRegular, statRegular } from '../../files/regular-file.js';
import { DamagedDatabase, type Pages } from './sqlite-table.js';

/**
 * The write-ahead log beside an SQLite database (`-wal`): newer versions of its pages, appended as frames. Format:
 * sqlite.org/fileformat2.html, section 4.
 *
 * Finds the newest version of each page as of the last commit. It only reads: `-shm`, which SQLite's readers share, is neither
 * needed nor touched, so nothing is created and no process is locked out.
 */
class WriteAheadLog {
  /** The header of the log, which differs between logs. Null: there is no log. */
  #head: Buffer | null = null;
  /** Offset in the log of the newest committed version of each page. */
  #committed = new Map<number, number>();
  /** Versions after the last commit. */
  #pending = new Map<number, number>();
  #at = 0;
  #sums: Sums = [0, 0];
  #lastCommit: { at: number; sums: Sums } = { at: 0, sums: [0, 0] };
  #pages = 0;

  /** Number of pages in the database as of the last commit; 0: the log has none. */
  get pages(): number {
    return this.#pages;
  }

  /** Page size in bytes; 0: there is no log. */
  get pageSize(): number {
    return this.#head?.readUInt32BE(walHeadAt.pageSize) ?? 0;
  }

  /** Offset of a page's content in the log; undefined: the newest version is in the database. */
  placeOf(page: number): number | undefined {
    return this.#committed.get(page);
  }

  /** Processes appended frames. `more`: it stopped at the limit. `changed`: there are new commits. */
  look(descriptor: number | null, maxBytes: number): { changed: boolean; more: boolean } {
    const head = descriptor === null ? null : soundHead(descriptor);
    const isOther = head === null || this.#head === null ? head !== this.#head : !head.equals(this.#head);
    if (isOther) this.#begin(head);
    if (head === null) return { changed: isOther, more: false };
    const { at } = this.#lastCommit;
    const more = this.#scan(descriptor!, maxBytes);
    return { changed: isOther || this.#lastCommit.at !== at, more };
  }

  #begin(head: Buffer | null): void {
    this.#head = head;
    this.#committed = new Map();
    this.#pending = new Map();
    this.#at = HEAD;
    this.#sums = head === null ? [0, 0] : [head.readUInt32BE(walHeadAt.sums), head.readUInt32BE(walHeadAt.sums + 4)];
    this.#lastCommit = { at: this.#at, sums: this.#sums };
    this.#pages = 0;
  }

  #scan(descriptor: number, maxBytes: number): boolean {
    const frame = Buffer.allocUnsafe(FRAME_HEAD + this.pageSize);
    for (let taken = 0; this.#takeFrame(descriptor, frame); taken += frame.length) if (taken >= maxBytes) return true;
    // Frames after the last commit may be rolled back and overwritten.
    this.#pending = new Map();
    this.#at = this.#lastCommit.at;
    this.#sums = this.#lastCommit.sums;
    return false;
  }

  /** Processes a frame. False at the end of the log: what follows is incomplete, or was left by an earlier log. */
  #takeFrame(descriptor: number, frame: Buffer): boolean {
    const head = this.#head!;
    if (readSync(descriptor, frame, 0, frame.length, this.#at) < frame.length) return false;
    if (frame.compare(head, walHeadAt.salts, walHeadAt.sums, frameAt.salts, frameAt.sums) !== 0) return false;
    const isBig = isBigEndian(head);
    const sums = [frame.subarray(0, frameAt.salts), frame.subarray(FRAME_HEAD)].reduce<Sums>(
      (before, bytes) => summed(before, bytes, isBig),
      this.#sums,
    );
    if (sums[0] !== frame.readUInt32BE(frameAt.sums) || sums[1] !== frame.readUInt32BE(frameAt.sums + 4)) return false;
    this.#pending.set(frame.readUInt32BE(frameAt.page), this.#at + FRAME_HEAD);
    this.#at += frame.length;
    this.#sums = sums;
    const pages = frame.readUInt32BE(frameAt.pages);
    if (pages > 0) this.#commit(pages);
    return true;
  }

  #commit(pages: number): void {
    for (const [page, place] of this.#pending) this.#committed.set(page, place);
    this.#pending = new Map();
    this.#pages = pages;
    this.#lastCommit = { at: this.#at, sums: this.#sums };
  }
}

const HEAD = 32;
const walHeadAt = { magic: 0, version: 4, pageSize: 8, salts: 16, sums: 24 };
const FRAME_HEAD = 24;
/** `pages`: size of the database after the commit that ends with this frame; 0: the transaction continues. */
const frameAt = { page: 0, pages: 4, salts: 8, sums: 16 };
const WAL_MAGIC = 0x377f0682;
const VERSION = 3_007_000;

type Sums = readonly [number, number];

/** The header of the log; null: there is none, or it is being written. */
function soundHead(descriptor: number): Buffer | null {
  const head = Buffer.alloc(HEAD);
  if (readSync(descriptor, head, 0, HEAD, 0) < HEAD) return null;
  const isWal =
    (head.readUInt32BE(walHeadAt.magic) & ~1) === WAL_MAGIC && head.readUInt32BE(walHeadAt.version) === VERSION;
  const size = head.readUInt32BE(walHeadAt.pageSize);
  if (!isWal || size < 512 || size > 65_536 || (size & (size - 1)) !== 0) return null;
  const sums = summed([0, 0], head.subarray(0, walHeadAt.sums), isBigEndian(head));
  const isSound = sums[0] === head.readUInt32BE(walHeadAt.sums) && sums[1] === head.readUInt32BE(walHeadAt.sums + 4);
  return isSound ? head : null;
}

/** Byte order of the words in checksums, which is that of the machine that wrote the log. */
function isBigEndian(head: Buffer): boolean {
  return (head.readUInt32BE(walHeadAt.magic) & 1) === 1;
}

/** SQLite's checksum of some bytes (a multiple of 8), continued from that of the bytes before. */
function summed([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

/**
 * The result of a read. `unchanged`: nothing was committed since the last read. `busy`: a write is in progress, or the log is long:
 * try again. `damaged`: the file was truncated, or is being copied.
 */
type DatabaseRead<T> =
  | { is: 'read'; value: T }
  | { is: 'unchanged' | 'absent' }
  | { is: 'busy'; more: boolean }
  | { is: 'damaged' | 'unreadable'; reason: string };

/** Endings of the files beside a database that belong to it: commits that are not in it yet, and the rollback journal. */
export const besides = { log: '-wal', journal: '-journal' };

/** Number of attempts at one read during writes. */
const TRIES = 3;
/** Bytes of the log processed in one read: some 10 ms of work. */
const LOG_BYTES = 4 << 20;

/**
 * An SQLite database that another program writes, read without locks: nothing is written or created, and no writer ever waits.
 * (SQLite's own readers lock, and create `-shm` and `-wal` beside a database in WAL mode.)
 *
 * Instead, a read is checked afterwards: if something was committed meanwhile, or any page that was read has changed, its result is
 * discarded. A checkpoint only copies pages that are in the log, and those are read from there.
 */
export class SqliteFile {
  readonly path: string;
  readonly #log = new WriteAheadLog();
  #seen: string | null = null;
  #stat: Stats | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /** The file's stat at the last successful read. */
  get stat(): Stats | null {
    return this.#stat;
  }

  /**
   * Lets `use` read the committed state. `use` may be called several times, and only its last result counts, so it must have no
   * side effects. Never throws errors that the file causes.
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

  /** Makes the next read happen even if nothing changes, as the last one did not use all data. */
  lookAgain(): void {
    this.#seen = null;
  }

  /** A text that stays the same while nothing is written; null: the times are too recent to be reliable. */
  #looks(stat: Stats): string | null {
    const log = statRegular(this.path + besides.log);
    const stats = [stat, ...(log.kind === 'file' ? [log.stat] : [])];
    if (!stats.every(({ mtimeMs }) => isSettledTime(mtimeMs))) return null;
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

  /** Whether a log has appeared, disappeared or been replaced since it was opened. */
  #isOtherLog({ database, logId }: Files): boolean {
    const there = isInLogMode(database) ? statRegular(this.path + besides.log) : null;
    return (there?.kind === 'file' ? there.stat.ino : null) !== logId;
  }

  /** Whether a transaction is being written. Without a log, a rollback journal shows that. */
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

/** The header of a valid journal. */
const JOURNAL = Buffer.from('d9d505f920a163d7', 'hex');

/** File descriptors, and the id that distinguishes logs. */
type Files = { readonly database: number; readonly log: number | null; readonly logId: number | null };

const MAGIC = 'SQLite format 3\0';
const headAt = { pageSize: 16, written: 18, reserved: 20, changes: 24, pages: 28, encoding: 56, pagesAsOf: 92 };
const FILE_HEAD = 100;
const LOG_MODE = 2;
const UTF8 = 1;

/** Whether the database is in WAL mode. Otherwise an existing log does not belong to it. */
function isInLogMode(database: number): boolean {
  return at(database, headAt.written, 1)[0] === LOG_MODE;
}

/** The pages of one read, with a checksum of each that came from the database file itself. */
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
    // The page size 65,536 does not fit into its two bytes and is stored as 1.
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

  /** Whether the pages that were read are still the same. */
  areUnchanged(): boolean {
    return [...this.#sums].every(([number, sum]) => crc32(this.#read(number)) === sum);
  }

  /** The number of pages in the header, which is valid if the last writer maintained it. */
  #countIn(head: Buffer): number {
    const isKnown = head.readUInt32BE(headAt.changes) === head.readUInt32BE(headAt.pagesAsOf);
    const count = isKnown ? head.readUInt32BE(headAt.pages) : 0;
    return count > 0 ? count : Math.floor(fstatSync(this.#files.database).size / this.#size);
  }

  #read(number: number): Buffer {
    return at(this.#files.database, (number - 1) * this.#size, this.#size);
  }
}

/** Reads up to `length` bytes. */
function at(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
}

/** Whether an error is a failed read of a disk or a network (EIO, ESTALE). */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

function reasonOf(error: Error): string {
  const obstacle = obstacleOf(error);
  return obstacle.kind === 'unreadable' ? obstacle.reason : error.message;
}
