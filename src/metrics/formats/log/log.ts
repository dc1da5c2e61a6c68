import { closeSync, readSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { runFiles } from '../../../contract/files.js';
import { FollowedBytes, LONGEST_LINE, type Taken, type Taker } from '../../../files/followed-file.js';
import { hydraLog } from '../../../files/hydra-log.js';
import { openRegular, statRegular } from '../../../files/regular-file.js';
import { FollowedSource } from '../source-files.js';
import { isNot, type MetricFormat, type RowSink, type SourceReader, type StatedProgress } from '../format.js';
import { sacredFiles } from '../sacred.js';
import { type LogPatterns, LogRows } from './log-rows.js';

const NAME = 'log';
/** In the directory of a run of guild. */
const guildLog = '.guild/output';

/** The output of a run: see `LogRows`. */
export function logFormat(patterns: LogPatterns = {}): MetricFormat {
  const own = Object.keys(patterns).length > 0;
  return {
    name: NAME,
    looksFor: own
      ? `${runFiles.log}: your patterns`
      : `${runFiles.log}: names and values, JSON and Python dicts, progress bars, tables`,
    filing: 'rows',
    recognise: ({ path, place }) =>
      place === runFiles.log || isLogOfWriter(path, place)
        ? { is: 'yes', why: own ? 'metrics.patterns' : 'it is what the run prints' }
        : isNot,
    open: ({ paths: [path] }) => new LogReader(path!, patterns),
  };
}

/** Whether Hydra, sacred or guild keeps here what the run prints, and nobody else does. */
function isLogOfWriter(path: string, place: string): boolean {
  if (isAbsolute(place) || statRegular(join(path.slice(0, -place.length), runFiles.log)).kind === 'file') return false;
  const folder = dirname(path);
  const name = basename(path);
  if (name === sacredFiles.log) return statRegular(join(folder, sacredFiles.record)).kind === 'file';
  return name.endsWith('.log') ? hydraLog(folder) === path : place === guildLog;
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
  /** Whether the line that is being written replaces the one before it. */
  #isRedrawn = false;

  constructor(path: string, patterns: LogPatterns) {
    super(new FollowedBytes(path));
    this.#patterns = patterns;
    this.#rows = new LogRows(patterns);
  }

  get progress(): StatedProgress | null {
    return this.#rows.progress;
  }

  /** A line is read before its end, too. */
  override get isWaiting(): boolean {
    return false;
  }

  get settings(): ReadonlySet<string> {
    return this.#rows.settings;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const take: Taker = (bytes, { isNew }) => {
      if (isNew) this.#restart(sink);
      return this.#take(bytes, sink);
    };
    return this.follow((file) => file.read(maxBytes, take));
  }

  #restart(sink: RowSink): void {
    this.#rows = new LogRows(this.#patterns);
    this.#isInLongLine = false;
    this.#isRedrawn = false;
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
    this.#takeLines(bytes.toString('utf8', 0, end), sink);
    if (bytes.length - end < LONGEST_LINE) this.#peek(bytes.toString('utf8', end), sink);
    return { done: end, needs: 0 };
  }

  /** Processes whole lines, each with the sign at its end. */
  #takeLines(text: string, sink: RowSink): void {
    let at = 0;
    for (const line of text.split(/[\n\r]/)) {
      if (at === text.length) break;
      at += line.length + 1;
      if (!this.#isInLongLine) for (const row of this.#rows.take(line, this.#isRedrawn)) sink.row(row);
      this.#isInLongLine = false;
      this.#isRedrawn = text.charCodeAt(at - 1) === RETURN;
    }
  }

  #peek(line: string, sink: RowSink): void {
    for (const row of this.#rows.peek(line, this.#isRedrawn)) sink.row(row);
  }
}

/** Bytes read at the end of the log. */
const TAIL = 16 << 10;
/** Time between two looks, ms. */
const PAUSE_MS = 1000;

/** The progress at the end of a run's log, for runs whose log is not read otherwise. */
export class LogTail {
  readonly #path: string;
  #lookedAt = -Infinity;
  #seen = '';
  #progress: StatedProgress | null = null;

  constructor(runDirectory: string) {
    this.#path = join(runDirectory, runFiles.log);
  }

  /** The progress; null: the log shows none. Checked at most once a second. */
  progress(): StatedProgress | null {
    if (performance.now() - this.#lookedAt >= PAUSE_MS) this.#look();
    return this.#progress;
  }

  /** Makes the next look happen at once, for a run that has ended. */
  lookAgain(): void {
    this.#lookedAt = -Infinity;
  }

  #look(): void {
    this.#lookedAt = performance.now();
    const opened = openRegular(this.#path);
    if (opened.kind !== 'file') return;
    const { descriptor, stat } = opened;
    try {
      const seen = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
      if (seen === this.#seen) return;
      this.#seen = seen;
      const from = Math.max(0, stat.size - TAIL);
      const bytes = Buffer.allocUnsafe(stat.size - from);
      const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
      const rows = new LogRows();
      for (const line of text.split(/[\n\r]/)) rows.take(line);
      this.#progress = rows.progress;
    } catch {
      // A read of the disk or the network failed: the next look tries again.
    } finally {
      closeSync(descriptor);
    }
  }
}
