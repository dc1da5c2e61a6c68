import { join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import { StreamHead, StreamLine } from '../protocol/event-stream.js';
import { Tail } from '../files/followed-file.js';

/** A place in a stream of events: behind its n-th. */
export type StreamPlace = { readonly stream: string; readonly n: number };

/** A line, and the stream that it is of. `gap`: events between the one before, or the place that was asked for, and it are not kept any more. */
export type ReadEvent = { readonly stream: string; readonly line: StreamLine; readonly gap: boolean };

/** Reads events from the file that the supervisor writes and from the one before it, and later what was added. */
export class EventStreamReader {
  readonly #earlier: StreamFile;
  readonly #present: StreamFile;
  /** Behind the last event that was read; null: none was asked for, or read. */
  #place: StreamPlace | null;
  #isBegun = false;

  /** @param since Behind which place to begin; null: with the oldest event that is kept. */
  constructor(runsDirectory: string, since: StreamPlace | null) {
    const fileOf = (name: string) => new StreamFile(join(runsDirectory, supervisorFiles.directory, name));
    [this.#earlier, this.#present] = [fileOf(supervisorFiles.earlierEvents), fileOf(supervisorFiles.events)];
    this.#place = since;
  }

  /** The events since the last call. */
  read(): ReadEvent[] {
    const added = [...this.#earlier.added(), ...this.#present.added(() => this.#earlier.added())];
    const from = this.#isBegun ? 0 : added.findIndex(({ stream }) => stream === this.#place?.stream);
    this.#isBegun ||= added.length > 0;
    return added.slice(Math.max(0, from)).flatMap((each) => this.#next(each));
  }

  #next({ stream, line }: Omit<ReadEvent, 'gap'>): ReadEvent[] {
    const place = this.#place;
    const isSame = place?.stream === stream;
    if (isSame && line.n <= place.n) return [];
    this.#place = { stream, n: line.n };
    return [{ stream, line, gap: place !== null && !(isSame && line.n === place.n + 1) }];
  }
}

type Added = Omit<ReadEvent, 'gap'>;

class StreamFile {
  readonly #tail: Tail;
  #stream: string | null = null;

  constructor(path: string) {
    this.#tail = new Tail(path);
  }

  /** What was added. @param before What is to be read first where the file was begun anew: the end of the one that it was. */
  added(before: () => readonly Added[] = () => []): Added[] {
    const added: Added[] = [];
    for (let more = true; more;) {
      const read = this.#tail.read();
      more = read.more;
      if (read.restarted) added.push(...before());
      for (const text of read.lines) added.push(...this.#take(parseJsonLine(text)));
    }
    return added;
  }

  #take(written: Record<string, unknown> | null): Added[] {
    const line = StreamLine.safeParse(written).data;
    if (line !== undefined && this.#stream !== null) return [{ stream: this.#stream, line }];
    this.#stream = StreamHead.safeParse(written).data?.stream ?? this.#stream;
    return [];
  }
}
