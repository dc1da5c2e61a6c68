import { runFiles } from '../../../contract/files.js';
import { FollowedBytes, type Taken, type Taker } from '../../../files/followed-bytes.js';
import { LONGEST_LINE } from '../../../files/followed-file.js';
import { FollowedSource } from '../followed-source.js';
import { isNot, type MetricFormat, type RowSink, type SourceReader, type StatedProgress } from '../format.js';
import { type LogPatterns, LogRows } from './log-rows.js';

const NAME = 'log';

/** The output of a run: see `LogRows`. */
export function logFormat(patterns: LogPatterns = {}): MetricFormat {
  const own = Object.keys(patterns).length > 0;
  return {
    name: NAME,
    looksFor: own
      ? `${runFiles.log}: your patterns`
      : `${runFiles.log}: names and values, JSON and Python dicts, progress bars, tables`,
    filing: 'rows',
    recognise: ({ place }) =>
      place === runFiles.log ? { is: 'yes', why: own ? 'metrics.patterns' : 'it is what the run prints' } : isNot,
    open: ({ paths: [path] }) => new LogReader(path!, patterns),
  };
}

export function isLog({ name }: MetricFormat): boolean {
  return name === NAME;
}

const NEWLINE = 10;
const RETURN = 13;

/** Follows a log: lines end with a newline, or with the carriage return after which a bar is redrawn. */
class LogReader extends FollowedSource<FollowedBytes> implements SourceReader {
  readonly #patterns: LogPatterns;
  #rows: LogRows;
  #isInLongLine = false;

  constructor(path: string, patterns: LogPatterns) {
    super(new FollowedBytes(path));
    this.#patterns = patterns;
    this.#rows = new LogRows(patterns);
  }

  get progress(): StatedProgress | null {
    return this.#rows.progress;
  }

  get settings(): ReadonlySet<string> {
    return this.#rows.settings;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const take: Taker = (bytes, { isNew }) => {
      if (isNew) this.#restart(sink);
      return this.#take(bytes, sink);
    };
    return this.follow((file) => file.read(maxBytes, take)) !== 'nothing';
  }

  #restart(sink: RowSink): void {
    this.#rows = new LogRows(this.#patterns);
    this.#isInLongLine = false;
    sink.restart();
  }

  #take(bytes: Buffer, sink: RowSink): Taken {
    const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(RETURN)) + 1;
    if (end === 0) {
      if (bytes.length < LONGEST_LINE) {
        this.#peek(bytes.toString('utf8'), sink);
        return { done: 0, needs: LONGEST_LINE };
      }
      this.#isInLongLine = true;
      return { done: bytes.length, needs: 0 };
    }
    const lines = bytes.toString('utf8', 0, end - 1).split(/[\n\r]/);
    if (this.#isInLongLine) lines.shift();
    this.#isInLongLine = false;
    for (const line of lines) {
      for (const row of this.#rows.take(line)) sink.row(row);
    }
    if (bytes.length - end < LONGEST_LINE) this.#peek(bytes.toString('utf8', end), sink);
    return { done: end, needs: 0 };
  }

  #peek(line: string, sink: RowSink): void {
    for (const row of this.#rows.peek(line)) sink.row(row);
  }
}
