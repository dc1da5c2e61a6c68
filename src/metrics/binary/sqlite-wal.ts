import { readSync } from 'node:fs';

/**
 * The write-ahead log beside an SQLite database (`-wal`): newer versions of its pages, appended as frames. Format:
 * sqlite.org/fileformat2.html, section 4.
 *
 * Finds the newest version of each page as of the last commit. It only reads: `-shm`, which SQLite's readers share, is neither
 * needed nor touched, so nothing is created and no process is locked out.
 */
export class WriteAheadLog {
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
    return this.#head?.readUInt32BE(headAt.pageSize) ?? 0;
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
    this.#sums = head === null ? [0, 0] : [head.readUInt32BE(headAt.sums), head.readUInt32BE(headAt.sums + 4)];
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
    if (frame.compare(head, headAt.salts, headAt.sums, frameAt.salts, frameAt.sums) !== 0) return false;
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
const headAt = { magic: 0, version: 4, pageSize: 8, salts: 16, sums: 24 };
const FRAME_HEAD = 24;
/** `pages`: size of the database after the commit that ends with this frame; 0: the transaction continues. */
const frameAt = { page: 0, pages: 4, salts: 8, sums: 16 };
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;

type Sums = readonly [number, number];

/** The header of the log; null: there is none, or it is being written. */
function soundHead(descriptor: number): Buffer | null {
  const head = Buffer.alloc(HEAD);
  if (readSync(descriptor, head, 0, HEAD, 0) < HEAD) return null;
  const isWal = (head.readUInt32BE(headAt.magic) & ~1) === MAGIC && head.readUInt32BE(headAt.version) === VERSION;
  const size = head.readUInt32BE(headAt.pageSize);
  if (!isWal || size < 512 || size > 65_536 || (size & (size - 1)) !== 0) return null;
  const sums = summed([0, 0], head.subarray(0, headAt.sums), isBigEndian(head));
  const isSound = sums[0] === head.readUInt32BE(headAt.sums) && sums[1] === head.readUInt32BE(headAt.sums + 4);
  return isSound ? head : null;
}

/** Byte order of the words in checksums, which is that of the machine that wrote the log. */
function isBigEndian(head: Buffer): boolean {
  return (head.readUInt32BE(headAt.magic) & 1) === 1;
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
