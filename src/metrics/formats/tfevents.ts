import { readSync } from 'node:fs';
import { dirname } from 'node:path';
import { FollowedBytes, type Taken, type Taker } from '../../files/followed-file.js';
import { FilesInTurn, FollowedSource, type PickAt, PlacesPicker } from './source-files.js';
import { ofVersions, tagsIn } from './event-tags.js';
import { EventReader, isSound, RECORD_HEAD, recordLength } from './event-record.js';
import type { MetricFormat, NamedWriter, PointTaker, RowSink, SourceFiles, SourceReader } from './format.js';
import { Media } from './media.js';

/** Event files of TensorBoard, by torch, tensorboardX and TensorFlow 2. All files of a folder are one source. */
export const tfevents: MetricFormat = {
  name: 'TensorBoard events',
  looksFor: '*tfevents*',
  filing: 'points',
  isNamed: (name) => /tfevents/.test(name) && !name.endsWith('.profile-empty'),
  writerIn,
  recognise: ({ path }) => ({ is: 'yes', why: 'its name', source: ofVersions(path) ?? dirname(path) }),
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
/** Number of bytes at the beginning of such a record that tell what it is about. */
const PEEK = 4 << 10;

class EventFiles extends FilesInTurn<EventFile> {
  constructor(files: SourceFiles) {
    super(files, (path, part) => new EventFile(path, part), 'parts');
  }

  get media(): readonly string[] {
    return Media.wordsOf(this.readers().map(({ events }) => events.media));
  }
}

/** Follows one file of events. */
class EventFile extends FollowedSource<FollowedBytes> implements SourceReader {
  readonly #part: number;
  readonly events: EventReader;
  /** Remaining bytes of a record that is skipped. */
  #passing = 0;
  #isDead = false;

  constructor(path: string, part: number) {
    super(new FollowedBytes(path));
    this.#part = part;
    this.events = new EventReader(tagsIn(dirname(path)));
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const row = new RowOfStep(sink, this.#part);
    this.events.began = (step) => sink.purge?.(step, this.#part);
    const take: Taker = (bytes, { isNew, idleMs }) => {
      if (isNew) this.#restart(sink);
      return this.#take(bytes, idleMs, sink.points?.(this.#part) ?? row.point);
    };
    const changed = this.follow((file) => file.read(maxBytes, take));
    row.end();
    return changed;
  }

  #restart(sink: RowSink): void {
    this.forget();
    this.events.media.forget();
    this.#passing = 0;
    this.#isDead = false;
    sink.restart();
  }

  #take(bytes: Buffer, idleMs: number, take: PointTaker): Taken {
    if (this.#isDead) return { done: 0, needs: 0 };
    let at = Math.min(this.#passing, bytes.length);
    this.#passing -= at;
    while (at + RECORD_HEAD <= bytes.length) {
      const length = recordLength(bytes, at);
      if (length === null) {
        this.#isDead = !this.isStillWritten(this.file.offset + at, idleMs, 'what follows is not read');
        return { done: at, needs: 0 };
      }
      if (length > LONGEST) {
        if (bytes.length - at < PEEK) return { done: at, needs: PEEK };
        const here = Math.min(length, bytes.length - at);
        this.events.peek(bytes, [at + RECORD_HEAD, at + Math.min(here, length - 4)]);
        this.#passing = length - here;
        at += here;
        continue;
      }
      if (at + length > bytes.length) return { done: at, needs: length };
      if (isSound(bytes, at, at + length)) this.events.read(bytes, [at + RECORD_HEAD, at + length - 4], take);
      else if (this.isStillWritten(this.file.offset + at, idleMs, 'a record is left out'))
        return { done: at, needs: 0 };
      at += length;
    }
    return { done: at, needs: 0 };
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
