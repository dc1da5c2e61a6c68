import { readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { FollowedBytes, type Taken, type Taker } from '../../files/followed-bytes.js';
import { type Change, FollowedSource } from './followed-source.js';
import { tagsIn } from './event-tags.js';
import { EventReader, isSound, RECORD_HEAD, recordLength } from './event-record.js';
import type { MetricFormat, NamedWriter, PointTaker, RowSink, SourceFiles, SourceReader } from './format.js';
import { type PickAt, PlacesPicker } from './places-picker.js';

/** Event files of TensorBoard, by torch, tensorboardX and TensorFlow 2. All files of a folder are one source. */
export const tfevents: MetricFormat = {
  name: 'TensorBoard events',
  looksFor: '*tfevents*',
  filing: 'points',
  isNamed: (name) => /tfevents/.test(name) && !name.endsWith('.profile-empty'),
  writerIn,
  recognise: ({ path }) => ({ is: 'yes', why: 'its name', source: dirname(path) }),
  open: (files) => new EventFiles(files),
  pickFrom: (path, places) => new PlacesPicker(path, places, pickEvents(path)),
};

/** The writer in `events.out.tfevents.1795434418.host.9301.0`, with `.v2` or another suffix. */
function writerIn(name: string): NamedWriter | null {
  const [, host, pid] = /tfevents\.\d+\.(.+?)\.(\d+)\.\d+(?:\D.*)?$/.exec(name) ?? [];
  return host === undefined ? null : { host, pid: Number(pid) };
}

/** Limit on the size of a record, bytes: a longer one holds pictures or weights, and is skipped. */
const LONGEST = 1 << 20;
/** Cost of checking a file, as the number of bytes that could be read in the same time. */
const COST_OF_LOOK = 1024;
/** A checksum that is still wrong after this time, in ms, means damage: network file systems show partial writes. */
const DAMAGED_MS = 30_000;

class EventFiles implements SourceReader {
  readonly #source: SourceFiles;
  readonly #files: EventFile[] = [];
  /** Index of the file that is read next. */
  #next = 0;
  #offset = 0;

  constructor(source: SourceFiles) {
    this.#source = source;
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    const isNew = this.#files.length < this.#source.paths.length;
    return isNew || this.#next > 0 || this.#files.some(({ more }) => more);
  }

  get written(): SourceReader['written'] {
    const times = this.#files.flatMap(({ written }) => written ?? []);
    if (times.length === 0) return null;
    return { from: Math.min(...times.map(({ from }) => from)), to: Math.max(...times.map(({ to }) => to)) };
  }

  get isHindered(): boolean {
    return this.#files.some(({ isHindered }) => isHindered);
  }

  get obstacle(): string | null {
    return this.#files.map(({ obstacle }) => obstacle).find((words) => words !== null) ?? null;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    if (this.#isOutOfOrder()) {
      this.#files.length = this.#next = this.#offset = 0;
      sink.restart();
    }
    this.#takeUp();
    let changed = false;
    for (let left = maxBytes; this.#next < this.#files.length && left > 0; this.#next++) {
      const file = this.#files[this.#next]!;
      const { offset } = file;
      const read = file.read(left, sink, this.#next);
      this.#offset += file.offset - offset;
      if (read === 'restarted') {
        this.#rewind(sink);
        return true;
      }
      changed ||= read === 'more';
      left -= Math.max(COST_OF_LOOK, file.offset - offset);
      if (file.more && left <= 0) return changed;
    }
    if (this.#next === this.#files.length) this.#next = 0;
    return changed;
  }

  #rewind(sink: RowSink): void {
    for (const file of this.#files) file.rewind();
    this.#next = this.#offset = 0;
    sink.restart();
  }

  /** Whether a new file sorts before a known one. */
  #isOutOfOrder(): boolean {
    return this.#files.some(({ path }, index) => path !== this.#source.paths[index]);
  }

  #takeUp(): void {
    for (const path of this.#source.paths.slice(this.#files.length)) this.#files.push(new EventFile(path));
  }
}

/** Follows one file of events. */
class EventFile extends FollowedSource<FollowedBytes> {
  readonly #events: EventReader;
  override more = true;
  /** Remaining bytes of a record that is skipped. */
  #passing = 0;
  /** Where a wrong checksum was first seen, and when, ms. */
  #doubt: { offset: number; since: number } | null = null;
  #lost: string | null = null;
  #isDead = false;

  constructor(path: string) {
    super(new FollowedBytes(path));
    this.#events = new EventReader(tagsIn(dirname(path)));
  }

  get path(): string {
    return this.file.path;
  }

  protected override get loss(): string | null {
    return this.#lost;
  }

  rewind(): void {
    this.file.rewind();
    this.more = true;
    this.#forget();
  }

  read(maxBytes: number, sink: RowSink, part: number): Change {
    const row = new RowOfStep(sink, part);
    const taker = sink.points?.(part) ?? row.point;
    const take: Taker = (bytes, { isNew, idleMs }) =>
      isNew ? { done: 0, needs: 0 } : this.#take(bytes, idleMs, taker);
    const change = this.follow((file) => file.read(maxBytes, take));
    row.end();
    return change;
  }

  #forget(): void {
    this.#passing = 0;
    this.#doubt = null;
    this.#lost = null;
    this.#isDead = false;
  }

  #take(bytes: Buffer, idleMs: number, take: PointTaker): Taken {
    if (this.#isDead) return { done: 0, needs: 0 };
    let at = Math.min(this.#passing, bytes.length);
    this.#passing -= at;
    while (at + RECORD_HEAD <= bytes.length) {
      const length = recordLength(bytes, at);
      if (length === null)
        return { done: at, needs: this.#wait(at, idleMs, 'what follows is not read') ?? this.#die() };
      if (length > LONGEST) {
        const here = Math.min(length, bytes.length - at);
        this.#passing = length - here;
        at += here;
        continue;
      }
      if (at + length > bytes.length) return { done: at, needs: length };
      if (isSound(bytes, at, at + length)) this.#events.read(bytes, [at + RECORD_HEAD, at + length - 4], take);
      else if (this.#wait(at, idleMs, 'a record is left out') !== null) return { done: at, needs: 0 };
      at += length;
    }
    return { done: at, needs: 0 };
  }

  /** Waits for the rest of a record; null: it has waited long enough. */
  #wait(at: number, idleMs: number, words: string): number | null {
    const offset = this.file.offset + at;
    if (this.#doubt?.offset !== offset) this.#doubt = { offset, since: performance.now() };
    const isDamaged = idleMs > DAMAGED_MS || performance.now() - this.#doubt.since > DAMAGED_MS;
    if (isDamaged) this.#lost = `${basename(this.path)} is damaged at byte ${offset}: ${words}`;
    else this.file.lookAgain();
    return isDamaged ? null : 0;
  }

  #die(): number {
    this.#isDead = true;
    return 0;
  }
}

/** Merges consecutive points of the same step into a row, as a rule may use two metrics of a row. */
class RowOfStep {
  readonly #sink: RowSink;
  readonly #part: number;
  #row: Record<string, number> | null = null;
  #time = NaN;

  constructor(sink: RowSink, part: number) {
    this.#sink = sink;
    this.#part = part;
  }

  readonly point: PointTaker = (tag, value, step, time) => {
    const row = this.#row;
    if (row === null || row['step'] !== step || Object.hasOwn(row, tag)) this.end();
    this.#row ??= { step };
    this.#row[tag] = value;
    this.#time = time;
  };

  end(): void {
    if (this.#row !== null) this.#sink.row(this.#row, this.#time, this.#part);
    this.#row = null;
  }
}

/** Bytes read at each place. */
const LOOK = 64 << 10;
/** Number of points taken at each place. */
const POINTS = 64;

function pickEvents(path: string): PickAt {
  const events = new EventReader(tagsIn(dirname(path)));
  const buffer = Buffer.alloc(LOOK);
  return (descriptor, { size, share }, take) => {
    const from = Math.floor(Math.max(0, size - LOOK) * share);
    const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, LOOK, from));
    let left = POINTS;
    const point: PointTaker = (tag, value, step, time) => {
      if (left-- > 0) take({ step, [tag]: value }, time);
    };
    for (let at = firstRecord(bytes); left > 0 && at + RECORD_HEAD <= bytes.length;) {
      const length = recordLength(bytes, at);
      if (length === null || at + length > bytes.length) return;
      if (isSound(bytes, at, at + length)) events.read(bytes, [at + RECORD_HEAD, at + length - 4], point);
      at += length;
    }
  };
}

/** The start of a record, found by the checksum of its length, which matches by chance once in four billion times. */
function firstRecord(bytes: Buffer): number {
  for (let at = 0; at + RECORD_HEAD <= bytes.length; at++) {
    // The upper half of a length is 0, which is cheaper to test.
    if (bytes[at + 7] === 0 && bytes[at + 6] === 0 && recordLength(bytes, at) !== null) return at;
  }
  return bytes.length;
}
