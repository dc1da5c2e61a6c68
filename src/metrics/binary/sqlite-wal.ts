import { readSync } from 'node:fs';

/**
 * The write-ahead log beside an SQLite database (`-wal`): newer versions of its pages, appended as frames. Format:
 * sqlite.org/fileformat2.html, section 4.
 *
 * Knows which pages have a newer version as of the last commit, and where. Only reads: what other readers share in `-shm` is
 * neither needed nor touched, so nothing is created and nobody is locked out.
 */
export class WriteAheadLog {
  /** The first bytes of the log as it was last seen: another log has others. Null: there is none. */
  #head: Buffer | null = null;
  /** Place in the log of the newest committed version of each page. */
  #committed = new Map<number, number>();
  /** Versions behind the last commit. */
  #pending = new Map<number, number>();
  #at = 0;
  #sums: Sums = [0, 0];
  #lastCommit: { at: number; sums: Sums } = { at: 0, sums: [0, 0] };
  #pages = 0;

  /** Pages of the database as of the last commit; 0: the log has none. */
  get pages(): number {
    return this.#pages;
  }

  /** Bytes of a page; 0: there is no log. */
  get pageSize(): number {
    return this.#head?.readUInt32BE(headAt.pageSize) ?? 0;
  }

  /** Place of a page's content in the log; undefined: the newest is in the database. */
  placeOf(page: number): number | undefined {
    return this.#committed.get(page);
  }

  /** Takes in what was appended. `more`: it stopped at the limit. `changed`: there are other commits than before. */
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
    // What is behind the last commit may be rolled back, and others written over it.
    this.#pending = new Map();
    this.#at = this.#lastCommit.at;
    this.#sums = this.#lastCommit.sums;
    return false;
  }

  /** False at the end of the log: what follows is torn, or was left by an earlier one. */
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
/** `pages`: of the database after the commit that ends here; 0: it goes on. */
const frameAt = { page: 0, pages: 4, salts: 8, sums: 16 };
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;

type Sums = readonly [number, number];

/** Null: there is none, or it is just being written. */
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

/** Which way round the words are that the checksums are made of: as on the machine that wrote it. */
function isBigEndian(head: Buffer): boolean {
  return (head.readUInt32BE(headAt.magic) & 1) === 1;
}

/** SQLite's checksum of so many bytes, a multiple of 8, going on from that of what is before. */
function summed([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}
