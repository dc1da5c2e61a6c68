import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { parseJsonLine } from '../../contract/json-line.js';
import { StreamHead, StreamLine } from '../../protocol/event-stream.js';

/** Size from which on a new file is begun, in bytes. */
const LONG = 4 << 20;
/** Limit on the lines that wait for room on the disk. */
const MOST_WAITING = 10_000;

/** Paths of the file and of the one before it. */
type Paths = { readonly path: string; readonly earlier: string };
/** What a new file begins with, beside the name of the stream. */
type Memory = Pick<StreamHead, 'from' | 'best'>;

/**
 * The file of the event stream. Lines are numbered; a line that a crash left unfinished is cut off, and a file that is gone or was
 * changed by somebody else begins a new stream, so that no number means two things.
 */
export class EventFile {
  readonly #paths: Paths;
  readonly #log: (line: string) => void;
  #head: StreamHead;
  /** Number of the next line that is added. */
  #next: number;
  /** The open file and its size after our last write; null: there is none of this stream. */
  #own: { descriptor: number; size: number } | null;
  #waiting: string[] = [];
  #isTroubled = false;

  private constructor(paths: Paths, log: (line: string) => void, { head, lines, own }: Found) {
    this.#paths = paths;
    this.#log = log;
    this.#head = head;
    this.#own = own;
    this.#next = (lines.at(-1)?.n ?? head.next - 1) + 1;
  }

  /** @returns also what the file tells, for whoever goes on with it; `isNew`: there was none. */
  static open(paths: Paths, log: (line: string) => void) {
    const found = readStream(paths.path);
    const { head, lines, own } = found ?? { head: newHead(1), lines: [], own: null };
    return { file: new EventFile(paths, log, { head, lines, own }), head, lines, isNew: found === null };
  }

  /** Adds an event, which is written with the next `flush`. */
  add(line: Omit<StreamLine, 'n'>): void {
    this.#waiting.push(`${JSON.stringify({ n: this.#next++, ...line })}\n`);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  /** Writes what was added, and a new file's first line; what the disk refuses is tried again with the next call. */
  flush(memory: () => Memory): void {
    if (this.#waiting.length === 0 && this.#own !== null) return;
    try {
      this.#prepare(memory);
      this.#write(this.#waiting.join(''));
      this.#waiting = [];
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) this.#log(`events cannot be written: ${(error as Error).message}`);
      this.#isTroubled = true;
    }
  }

  close(): void {
    if (this.#own !== null) closeSync(this.#own.descriptor);
    this.#own = null;
  }

  /** Begins a new file where there is none, or it is long, or not as it was left. */
  #prepare(memory: () => Memory): void {
    const isOurs = this.#own !== null && this.#isInPlace(this.#own);
    if (isOurs && this.#own!.size < LONG) return;
    this.close();
    const { path, earlier } = this.#paths;
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) renameSync(path, earlier);
    // The lines that wait have their numbers.
    const next = this.#next - this.#waiting.length;
    this.#head = { ...(isOurs ? this.#head : newHead(next)), next, ...memory() };
    const how = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW;
    this.#own = { descriptor: openSync(path, how, 0o600), size: 0 };
    this.#write(`${JSON.stringify(this.#head)}\n`);
  }

  #isInPlace({ descriptor, size }: { descriptor: number; size: number }): boolean {
    const there = statSync(this.#paths.path, { throwIfNoEntry: false });
    const ours = fstatSync(descriptor);
    return there?.ino === ours.ino && there.dev === ours.dev && there.size === size;
  }

  /** @throws {Error} When the disk refuses some of it, with none of it kept. */
  #write(text: string): void {
    const { descriptor, size } = this.#own!;
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
      this.#own = { descriptor, size: size + bytes.length };
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw error;
    }
  }
}

type Found = { head: StreamHead; lines: StreamLine[]; own: { descriptor: number; size: number } | null };

function newHead(next: number): StreamHead {
  return { stream: randomBytes(4).toString('hex'), next, best: {} };
}

/** The stream in a file, whose unfinished last line is cut off; null: there is none. */
function readStream(path: string): Found | null {
  let descriptor: number;
  try {
    const how = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    descriptor = openSync(path, how);
  } catch {
    return null;
  }
  const found = streamIn(descriptor);
  if (found === null) closeSync(descriptor);
  return found;
}

function streamIn(descriptor: number): Found | null {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.size > 2 * LONG) return null;
  const bytes = readFileSync(descriptor);
  const size = bytes.lastIndexOf(10) + 1;
  if (size < bytes.length) ftruncateSync(descriptor, size);
  const [first, ...rest] = bytes.toString('utf8', 0, size).split('\n').slice(0, -1).map(parseJsonLine);
  const head = StreamHead.safeParse(first).data;
  if (head === undefined) return null;
  return { head, lines: rest.flatMap((line) => StreamLine.safeParse(line).data ?? []), own: { descriptor, size } };
}
