import type { RE2JS } from 're2js';
import { attemptRule } from '../../../contract/attempt-separator.js';
import { parseJsonLine } from '../../../contract/json-line.js';
import { patternOrNull } from '../../../text/pattern.js';
import { stepKeyOf } from '../../row-numbers.js';
import { valueOf } from '../csv.js';
import type { StatedProgress, WrittenRow } from '../format.js';
import { type PrintedLine, readLine } from './printed-line.js';
import { toNumber } from './printed-number.js';
import { PrintedSettings } from './printed-settings.js';
import { BoxTable, ColumnTable } from './printed-table.js';
import { type Bar, barIn, kerasBarIn, secondsOf } from './progress-bar.js';
import { parsePythonDict } from './python-dict.js';
import { TrainingClock } from './training-clock.js';

/** The user's patterns: the name of a metric, and a regular expression whose first group is its number. */
export type LogPatterns = Readonly<Record<string, string>>;

/** Only the beginning of a longer line is parsed, characters. */
const LONGEST = 8192;
/** Fields of a log record, not of the training. */
const clerical = new Set([
  ...['ts', 'time', 'timestamp', 'asctime', 'created', 'msecs', 'relativeCreated', 'level', 'levelno', 'severity'],
  ...['line', 'lineno', 'pid', 'process', 'thread', 'tid', 'rank', 'v', 'v_num'],
]);
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()].|[A-Za-z78=>])/g;
const noRows: readonly WrittenRow[] = [];

/** Finds the rows of metrics, and the progress of the run, in the lines of a log. One instance reads one log from its start. */
export class LogRows {
  readonly #patterns: readonly (readonly [string, RE2JS])[];
  #box = new BoxTable();
  #columns = new ColumnTable();
  readonly #clock = new TrainingClock();
  readonly #settings = new PrintedSettings();
  /** Whether a bar was just erased so that a line could be written in its place; it is drawn again after that. */
  #isWiped = false;
  /** A row whose step the next bar shows. */
  #waiting: WrittenRow | null = null;
  /** Running means of an evaluation, which become a row at its end. */
  #evaluation: WrittenRow | null = null;
  /** The set that was evaluated last, and whether the lines are arguments of a call. */
  #set = '';
  #isInCall = false;

  /** @param patterns If there are any, only they yield rows. An invalid one matches nothing. */
  constructor(patterns: LogPatterns = {}) {
    this.#patterns = Object.entries(patterns).flatMap(([key, text]) => {
      const pattern = patternOrNull(text);
      return pattern === null ? [] : [[key, pattern] as const];
    });
  }

  get progress(): StatedProgress | null {
    return this.#clock.progress;
  }

  /** Keys of values that are settings of the program, as far as known. */
  get settings(): ReadonlySet<string> {
    return this.#settings.names;
  }

  /** The rows that a line contains, or completes. */
  take(written: string): readonly WrittenRow[] {
    return this.#told(this.#read(written));
  }

  /** Looks for a bar in an incomplete line; returns the row that waited for it. */
  peek(written: string): readonly WrittenRow[] {
    const line = plain(written);
    const bar = kerasBarIn(line) ?? barIn(line);
    return this.#told(bar !== null && this.#advance(bar) ? this.#placed() : noRows);
  }

  #told(rows: readonly WrittenRow[]): readonly WrittenRow[] {
    // With patterns, the user has chosen the metrics.
    if (this.#patterns.length === 0) for (const row of rows) this.#settings.take(row);
    return rows;
  }

  #read(written: string): readonly WrittenRow[] {
    const line = plain(written);
    if (line === '') {
      this.#isWiped ||= written !== '' && this.#clock.step !== null;
      return noRows;
    }
    if (attemptRule.test(line)) return this.#begin();
    const bar = kerasBarIn(line) ?? barIn(line);
    const isInside = bar !== null && !this.#advance(bar);
    const rows = isInside ? noRows : this.#placed();
    const row = isInside ? this.#ofInnerBar(line, bar) : this.#rowOf(line, bar);
    this.#isWiped = false;
    return row === null ? rows : [...rows, row];
  }

  #rowOf(line: string, bar: Bar | null): WrittenRow | null {
    if (this.#patterns.length > 0) return this.#withStep(this.#matched(line));
    if (bar !== null) return this.#ofBar(bar);
    if (!hasNumber.test(line)) return this.#ofWords(line);
    const table = this.#ofTable(line);
    if (table !== undefined) return table;
    const dict = objectIn(line);
    if (dict !== null) return this.#withStep(this.#ofDict(line, dict));
    this.#isInCall &&= line.endsWith(',');
    return this.#isInCall ? null : this.#ofLine(line);
  }

  /** Parses a line without numbers: part of a table, or `TrainingArguments(`, which is followed by an argument on each line. */
  #ofWords(line: string): WrittenRow | null {
    this.#isInCall = line.endsWith('(') && line.length < 80;
    return mayBeOfTable.test(line) ? (this.#ofTable(line) ?? null) : null;
  }

  #ofTable(line: string): WrittenRow | null | undefined {
    for (const table of [this.#box.take(line), this.#columns.take(line)]) {
      if (table.is === 'row') return this.#withStep(withAxis(table.row));
      if (table.is === 'part') return null;
    }
    return undefined;
  }

  #ofLine(line: string): WrittenRow | null {
    const eta = /^ETA: +([\d:]+)$/.exec(line)?.[1];
    if (eta !== undefined) {
      this.#clock.takeEta(secondsOf(eta));
      return null;
    }
    const printed = readLine(line);
    if (printed === null) return null;
    const isEmpty = Object.keys(printed.metrics).length === 0;
    if (isEmpty && printed.isPure) this.#clock.announce(printed.places);
    return isEmpty ? null : this.#ofPrinted(printed);
  }

  #ofPrinted({ places, metrics, averages, set, isSummary }: PrintedLine): WrittenRow | null {
    const about = isSummary ? this.#set : set;
    const row = about === '' || set === about ? metrics : underSet(about, metrics);
    const isOfEvaluation = Object.keys(metrics).every((name) => ofEvaluation.test(name));
    const inner =
      set === '' ? undefined : places.find(({ name, of }) => (name === '' || name === 'step') && of !== undefined);
    const named =
      isOfEvaluation && this.#clock.isBehind(places) ? places.filter(({ name }) => name !== 'step') : places;
    if (inner === undefined) return this.#withStep({ ...this.#clock.place(named), ...row });
    this.#set = set;
    const axis = this.#clock.place(places.filter((place) => place !== inner));
    this.#evaluation = this.#withStep({ ...axis, ...row, ...averages });
    if (inner.at < inner.of! && inner.at + 1 < inner.of!) return null;
    const evaluated = this.#evaluation;
    this.#evaluation = null;
    return evaluated;
  }

  /** A dict after a place: `epoch 1: {…}`. */
  #ofDict(line: string, dict: WrittenRow): WrittenRow {
    const head = readLine(line.slice(0, line.indexOf('{')).trim() || ' ');
    const axis = head === null || head.places.length === 0 ? {} : this.#clock.place(head.places);
    return { ...axis, ...dict };
  }

  /** Parses the text before and after a bar; one of Keras has the metrics of an epoch once it is full. */
  #ofBar(bar: Bar): WrittenRow | null {
    const table = this.#ofColumns(bar);
    if (table !== undefined || (bar.isKeras && bar.done !== bar.total)) return table ?? null;
    const before = bar.before === '' ? null : readLine(bar.before);
    const row = { ...before?.metrics, ...(bar.rest === '' ? null : readLine(bar.rest)?.metrics) };
    return Object.keys(row).length === 0 ? null : this.#withStep(without(row, 'v_num'));
  }

  /** Parses the bar of an evaluation; YOLO writes the names of the columns before it. */
  #ofInnerBar(line: string, bar: Bar): WrittenRow | null {
    if (this.#patterns.length > 0) return this.#rowOf(line, bar);
    this.#ofColumns(bar);
    return null;
  }

  /** The row of a table before a bar. */
  #ofColumns({ before, done, total }: Bar): WrittenRow | null | undefined {
    const line = this.#columns.take(before);
    if (line.is === 'none') return undefined;
    return line.is === 'row' && done === total ? this.#withStep(withAxis(line.row)) : null;
  }

  /** Counts a bar as the training's, unless it is nested in that. */
  #advance(bar: Bar): boolean {
    const head = /epoch|\bep\b/i.test(bar.before) ? readLine(bar.before) : null;
    this.#clock.takeBar(bar, head?.places ?? []);
    return this.#clock.isAt(bar);
  }

  /** Rows that waited for the present line. */
  #placed(): readonly WrittenRow[] {
    const rows: WrittenRow[] = [];
    if (this.#waiting !== null) rows.push(this.#withBarStep(this.#waiting));
    if (this.#evaluation !== null) rows.push(this.#evaluation);
    this.#waiting = null;
    this.#evaluation = null;
    return rows.length === 0 ? noRows : rows;
  }

  /** Drops unfinished state of the previous attempt. */
  #begin(): readonly WrittenRow[] {
    const rows = this.#placed();
    this.#box = new BoxTable();
    this.#columns = new ColumnTable();
    this.#clock.begin();
    this.#settings.begin();
    this.#isWiped = false;
    this.#isInCall = false;
    this.#set = '';
    return rows;
  }

  #matched(line: string): WrittenRow | null {
    const found = this.#patterns.flatMap(([key, pattern]) => {
      const match = pattern.matcher(line);
      // Testing for a match first takes a tenth of the time.
      const text = pattern.test(line) && match.find() ? (match.group(1) ?? undefined) : undefined;
      const number = text === undefined ? NaN : toNumber(text);
      return text === undefined || (Number.isNaN(number) && !/^[-+]?nan$/i.test(text)) ? [] : [[key, number] as const];
    });
    return found.length === 0 ? null : Object.fromEntries(found);
  }

  /** A row without a step was printed at the step that the bar shows, or that the last heading names. */
  #withStep(row: WrittenRow | null): WrittenRow | null {
    if (row === null || Object.keys(row).every((key) => clerical.has(key) || axisKeys.has(key))) return null;
    const counted = stepKeyOf(Object.keys(row));
    if (counted?.counts === true) return row;
    if (this.#clock.step === null) return counted === null || counted.key === 'time' ? this.#withAxis(row) : row;
    if (!this.#isWiped) return this.#withBarStep(row);
    this.#waiting = row;
    return null;
  }

  /** Adds the place to a row. A time alone is a duration, which does not order rows. */
  #withAxis(row: WrittenRow): WrittenRow {
    const placed = { ...this.#clock.axis, ...row };
    return stepKeyOf(Object.keys(placed))?.key === 'time' ? without(placed, 'time') : placed;
  }

  #withBarStep(row: WrittenRow): WrittenRow {
    this.#clock.hasRows();
    return { step: this.#clock.step, ...row };
  }
}

/** Metrics with the name of an evaluated set. */
const ofEvaluation = /^(?:val|valid|validation|test|eval|dev)\b/i;
const axisKeys = new Set(['step', 'epoch', 'episode', 'trial']);
const hasNumber = /\d|\b(?:nan|inf)\b/i;
const mayBeOfTable = /^[|-]|  |\t/;

/** Counters in tables that are not among the keys that order rows. */
const aliases = ['num_updates', 'Epoch', 'steps', 'Step', 'Iteration'];

/** Renames a counter of the program to `step`. */
function withAxis(row: WrittenRow): WrittenRow {
  if (stepKeyOf(Object.keys(row)) !== null && !('epoch' in row && 'num_updates' in row)) return row;
  const alias = aliases.find((name) => typeof row[name] === 'number');
  if (alias === undefined) return row;
  return { [alias === 'Epoch' ? 'epoch' : 'step']: row[alias], ...without(row, alias) };
}

function without(row: WrittenRow, key: string): WrittenRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));
}

function underSet(set: string, metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${set}/${name}`, value]));
}

/** The line without escape sequences and cursor movements. */
function plain(written: string): string {
  const line = written.length > LONGEST ? written.slice(0, LONGEST) : written;
  const text = line.includes('\u001b') ? line.replace(escapes, '') : line;
  // Keras moves the cursor back before it draws its bar again.
  return (text.includes('\b') ? text.replaceAll('\b', '') : text).trim();
}

/** Text before a dict that holds settings, not metrics. */
const ofSettings = /(?:config\w{0,40}|args|arguments|params|parameters|settings|options)\W{0,8}$/i;

/**
 * The dict or JSON object in a line, with a logger's prefix before it, and pairs after it: `epoch=1 metrics={'loss': 0.5}
 * step=100`. Null also for a dict that is labelled as settings.
 */
function objectIn(line: string): WrittenRow | null {
  const from = line.indexOf('{');
  const to = line.lastIndexOf('}') + 1;
  if (from < 0 || to === 0) return null;
  if (line.includes('Trial ')) return trialIn(line);
  const after = pairsIn(line.slice(to).trim());
  if (after === null || ofSettings.test(line.slice(Math.max(0, from - 80), from))) return null;
  const text = line.slice(from, to);
  const row = parseJsonLine(text) ?? parsePythonDict(text);
  return row === null ? null : { ...after, ...withAxis(withNumbers(row)) };
}

/** Pairs after a dict; null: other text is there. */
function pairsIn(text: string): WrittenRow | null {
  if (text === '') return {};
  const printed = /^[\w.]{1,80} ?=/.test(text) ? readLine(text) : null;
  return printed && { ...Object.fromEntries(printed.places.map(({ name, at }) => [name, at])), ...printed.metrics };
}

/** Converts numbers that were written as texts (fairseq). */
function withNumbers(row: WrittenRow): WrittenRow {
  if (!Object.values(row).some((value) => typeof value === 'string')) return row;
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => {
      const number = typeof value === 'string' ? valueOf(value) : value;
      return [key, typeof number === 'number' ? number : value];
    }),
  );
}

const trial = /\bTrial (\d+) finished with value: (\S+) .*\bBest is trial \d+ with value: (\S+)\.$/;

function trialIn(line: string): WrittenRow | null {
  const [, number, value, best] = trial.exec(line) ?? [];
  return number === undefined
    ? null
    : { trial: Number(number), value: toNumber(value!), 'best value': toNumber(best!) };
}
