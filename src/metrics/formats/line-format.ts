import { readSync } from 'node:fs';
import { basename } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { FollowedFile, LONGEST_LINE } from '../../files/followed-file.js';
import { stepKeyOf } from '../row-numbers.js';
import { ofVersions } from './event-tags.js';
import {
  FilesInTurn,
  FollowedSource,
  type Order,
  type PickAt,
  type Place,
  PlacesPicker,
  RewrittenRows,
} from './source-files.js';
import {
  isNot,
  type MetricFormat,
  type Recognition,
  type RowSink,
  type SourceReader,
  type WrittenRow,
} from './format.js';

/**
 * Parses one line, without its newline, into a row; null: it is none; `attempt`: a later attempt begins. Called with the lines of one
 * file in order. `leftOut`: which rows were left out, in words; null: none.
 */
export type LineParser = {
  (line: string): WrittenRow | 'attempt' | null;
  leftOut?: () => string | null;
};

/**
 * A format of text files with a row on each line. `parser`: creates a parser for a file, and a new one when the file is rewritten.
 * `isRewritten`: programs replace the first line and all after it now and then; see `RewrittenRows`. `order`: how the files of a source
 * belong together, where each has several. `timeKey`: the key of the time of a row, Unix ms, which is no metric.
 */
export function lineFormat(
  format: Omit<MetricFormat, 'open' | 'pickFrom' | 'filing'> & {
    filing?: MetricFormat['filing'];
    parser: (path: string) => LineParser;
    isRewritten?: boolean;
    order?: Order;
    timeKey?: string;
  },
): MetricFormat {
  const { parser, filing = 'rows', isRewritten = false, order, timeKey, ...rest } = format;
  return {
    ...rest,
    filing,
    open: (files) => {
      const open = (path: string) =>
        new LineReader(path, {
          parser: () => parser(path),
          timeKey,
          rewritten: isRewritten ? new RewrittenRows() : null,
        });
      const [path, ...others] = files.paths;
      const isSeveral = order !== undefined || others.length > 0 || ofVersions(path!) !== undefined;
      return isSeveral ? new FilesInTurn(files, open, order) : open(path!);
    },
    pickFrom: (path, places) => new PlacesPicker(path, places, pickLines(parser(path))),
  };
}

const NEWLINE = 10;
/** A rewritten file reaches its former length within this time, ms. */
const REWRITTEN_MS = 2000;

type Lines = {
  readonly parser: () => LineParser;
  readonly rewritten: RewrittenRows | null;
  readonly timeKey: string | undefined;
};

/** A sink that gets the time of a row beside it. */
function withTime(sink: RowSink, timeKey: string): RowSink {
  const row: RowSink['row'] = ({ [timeKey]: time, ...own }) =>
    sink.row(own, typeof time === 'number' ? time : undefined);
  return { ...sink, row };
}

/** Follows a file with a row on each line. A line that is too long is left out, and counted. */
class LineReader extends FollowedSource<FollowedFile> implements SourceReader {
  readonly #parser: () => LineParser;
  readonly #rewritten: RewrittenRows | null;
  readonly #timeKey: string | undefined;
  /** Since when known rows have been missing, ms. */
  #behindSince: number | null = null;
  #parse: LineParser;
  #skipped = 0;

  constructor(path: string, { parser, rewritten, timeKey }: Lines) {
    super(new FollowedFile(path));
    this.#parser = parser;
    this.#rewritten = rewritten;
    this.#timeKey = timeKey;
    this.#parse = parser();
  }

  protected override get loss(): string | null {
    const skipped = this.file.skipped + this.#skipped;
    const leftOut = this.#parse.leftOut?.() ?? null;
    if (skipped === 0) return leftOut && `${basename(this.file.path)}: ${leftOut}`;
    const [lines, are, were] = skipped === 1 ? ['line', 'is', 'was'] : ['lines', 'are', 'were'];
    return `${skipped} ${lines} of ${basename(this.file.path)} ${are} longer than ${LONGEST_LINE >> 10} kB and ${were} left out`;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const { restarted, bytes, more, isReopened } = this.file.read(maxBytes);
    this.more = more;
    if (restarted) this.#restart((isReopened ? sink.reopened : undefined) ?? sink.restart);
    const rows = this.#timeKey === undefined ? sink : withTime(sink, this.#timeKey);
    const isKept = this.#takeLines(bytes, rows) && !this.#isCutShort();
    if (!isKept) this.#beginAgain(sink);
    return restarted || bytes.length > 0 || !isKept;
  }

  /** Processes whole lines. False: the rows so far are invalid. */
  #takeLines(bytes: Buffer, sink: RowSink): boolean {
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end - from > LONGEST_LINE) this.#skipped += 1;
      else if (!this.#take(bytes.toString('utf8', from, end), sink)) return false;
      from = end + 1;
    }
    return true;
  }

  #take(line: string, sink: RowSink): boolean {
    const row = this.#parse(line);
    if (row === null) return true;
    if (row === 'attempt') {
      if (this.#rewritten?.isBehind !== true) sink.attempt?.();
      return true;
    }
    if (this.#rewritten !== null) return this.#rewritten.take(row, sink);
    sink.row(row);
    return true;
  }

  /** @param begin What begins with the rows that follow, unless they are the known ones. */
  #restart(begin: () => void): void {
    this.#skipped = 0;
    this.#parse = this.#parser();
    if (this.#rewritten === null) begin();
    else this.#rewritten.rescan();
  }

  /** Whether a rewritten file has stayed shorter than it was. */
  #isCutShort(): boolean {
    if (this.#rewritten?.isBehind !== true || this.more) this.#behindSince = null;
    else this.#behindSince ??= performance.now();
    return this.#behindSince !== null && performance.now() - this.#behindSince > REWRITTEN_MS;
  }

  #beginAgain(sink: RowSink): void {
    this.#rewritten?.forget();
    (sink.reopened ?? sink.restart)();
    this.file.rewind();
    this.#skipped = 0;
    this.#parse = this.#parser();
    this.more = true;
  }
}

/** Size of the first window in which a line is searched; a longer line needs a larger one. */
const FIRST_LOOK = 4 << 10;
/** A file with longer lines can only be read from its beginning. */
const WIDEST_LOOK = 256 << 10;

/** Picks a line at each place: the first of the file, those that begin after the places, the last. */
function pickLines(parse: LineParser): PickAt {
  let look = FIRST_LOOK;
  let buffer = Buffer.alloc(look);
  const lineAt = (descriptor: number, { size, share }: Place): string | null => {
    for (;;) {
      const from = Math.floor(Math.max(0, size - look) * share);
      const length = readSync(descriptor, buffer, 0, look, from);
      const line = wholeLine(buffer.subarray(0, length), from === 0, share === 1);
      if (line !== null || look >= WIDEST_LOOK || length < look) return line;
      look *= 4;
      buffer = Buffer.alloc(look);
    }
  };
  return (descriptor, place, take) => {
    const line = lineAt(descriptor, place);
    const row = line === null ? null : parse(line);
    if (row !== null && row !== 'attempt') take(row);
  };
}

/** The first whole line of the bytes, or the last; null when there is none. `begins`: the bytes start with a line. */
function wholeLine(bytes: Buffer, begins: boolean, wantsLast: boolean): string | null {
  const end = wantsLast ? bytes.lastIndexOf(NEWLINE) : bytes.indexOf(NEWLINE, begins ? 0 : bytes.indexOf(NEWLINE) + 1);
  if (end <= 0) return null;
  const before = bytes.lastIndexOf(NEWLINE, end - 1);
  return before < 0 && !begins ? null : bytes.toString('utf8', before + 1, end);
}

const JSON_LINES = 'JSON lines';

/** Metrics of our own lab and the tinker-cookbook, and of many programs: a JSON object for each row, with the step in it. */
export const ownJsonLines = lineFormat({
  name: 'metrics.jsonl',
  family: JSON_LINES,
  looksFor: runFiles.metrics,
  recognise: ({ place }) => (place === runFiles.metrics ? { is: 'yes', why: 'its name' } : isNot),
  parser: () => parseJsonLine,
});

/** What a run used of the machine, as the supervisor samples it; see `UsageFile`. */
export const systemUsage: MetricFormat = {
  ...lineFormat({
    name: 'system usage',
    looksFor: runFiles.usage,
    recognise: ({ place }) => (place === runFiles.usage ? { is: 'yes', why: 'its name' } : isNot),
    parser: () => parseJsonLine,
  }),
  isTimed: true,
};

/** Any other file of JSON lines whose rows have a step, whatever its name ends with, or whose name is one of metrics. */
export const jsonLines: MetricFormat = {
  ...lineFormat({
    name: JSON_LINES,
    looksFor: '*.jsonl, *.json, *.log, *.txt with a step and numbers on each line',
    isNamed: isJsonLines,
    recognise: ({ name, head }) => (isJsonLines(name) ? recogniseLines(name, head()) : recogniseRows(head())),
    parser: () => rowWithoutSettings,
  }),
  looksInto,
};

/** A row of Ray has all settings of the program in it. */
function rowWithoutSettings(line: string): WrittenRow | null {
  const row = parseJsonLine(line);
  if (row === null || typeof row['config'] !== 'object') return row;
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== 'config'));
}

/** Other files of the tinker-cookbook and of the manager, and names of data or other records. */
const otherRecords =
  /^(checkpoints|timing_spans|events|completions|system-usage)\.jsonl$|(_rollout_summaries|_logtree)\./;
const ofMetrics = /metric|history|progress|scalars/i;
/** Number of lines after which a file is rejected. */
const LOOK = 20;

/** `progress.json` is written by stable-baselines3. */
function isJsonLines(name: string): boolean {
  return (/\.(jsonl|ndjson)$/i.test(name) || name === 'progress.json') && !otherRecords.test(name);
}

/** Whether a file of this name may hold JSON lines, which only its content tells: those of detectron2, MMEngine, Ray, MAE. */
function looksInto(name: string): boolean {
  return /\.(json|log|txt)$/i.test(name) && !otherRecords.test(name) && name !== runFiles.log;
}

/** Recognises rows by their content: two of the first lines have the same counter, which has moved. */
function recogniseRows(lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: '' };
  if (!lines[0]!.startsWith('{"')) return isNot;
  const seen = new Map<string, unknown>();
  for (const row of lines.slice(0, LOOK).map(rowWithoutSettings)) {
    if (row === null) return isNot;
    const step = stepKeyOf(Object.keys(row), (key) => row[key]);
    if (step === null || !hasMetric(row)) continue;
    const before = seen.get(step.key);
    if (before !== undefined && before !== row[step.key])
      return { is: 'yes', why: `its lines are JSON, and have numbers and \`${step.key}\`` };
    seen.set(step.key, row[step.key]);
  }
  return lines.length < LOOK ? { is: 'maybe', why: '' } : isNot;
}

function hasMetric(row: WrittenRow): boolean {
  return Object.keys(row).filter((key) => isNumeric(row[key])).length > 1;
}

function recogniseLines(name: string, lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const rows = lines.slice(0, LOOK).map(parseJsonLine);
  for (const row of rows) {
    const words = row === null ? null : reasonOf(name, row);
    if (words !== null) return { is: 'yes', why: words };
  }
  if (lines.length < LOOK) return { is: 'maybe', why: 'none of its lines has a step and a number' };
  return { is: 'no', why: `none of its first ${LOOK} lines has a step and a number` };
}

function reasonOf(name: string, row: WrittenRow): string | null {
  const numbers = Object.keys(row).filter((key) => isNumeric(row[key]));
  const step = stepKeyOf(numbers, (key) => row[key]);
  if (step !== null && numbers.length > 1) return `its lines have numbers and \`${step.key}\``;
  return ofMetrics.test(name) && numbers.length > 0 ? 'its name, and numbers on its lines' : null;
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value === null || (typeof value === 'object' && !Array.isArray(value));
}
