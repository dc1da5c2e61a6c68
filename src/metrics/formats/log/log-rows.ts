import type { RE2JS } from 're2js';
import { attemptRule } from '../../../contract/files.js';
import { inWords, isResultName, isSettingName } from '../../../contract/metric-names.js';
import { patternOrNull } from '../../../text/pattern.js';
import { Tracebacks } from '../../../text/tracebacks.js';
import { stepKeyOf } from '../../row-numbers.js';
import type { StatedProgress, WrittenRow } from '../format.js';
import { numberText, printedName, toNumber, unitText } from './printed-tokens.js';
import { isOfFailure, withoutEscapes } from './log-line.js';
import { type PrintedLine, readLine } from './printed-line.js';
import { joined, objectIn, withAxis, without } from './printed-object.js';
import { BoxTable, ColumnTable } from './printed-table.js';
import { type Bar, barIn, kerasBarIn, ownBarIn } from './progress-bar.js';
import { TrainingClock } from './training-clock.js';

/**
 * Distinguishes settings from metrics in a log: a key that occurs once in each attempt, before the first key that is repeated, is a
 * setting (`batch_size = 64`). Until a key is repeated, names decide.
 */
class PrintedSettings {
  /** Settings of all attempts; those with the name of a setting are known at once. */
  readonly #settings = new Set<string>();
  readonly #byName = new Set<string>();
  readonly #metrics = new Set<string>();
  /** In this attempt: the row in which each key first occurred, and the first row of a repeated key. */
  #firstOf = new Map<string, number>();
  #begun = Infinity;
  #row = 0;

  get names(): ReadonlySet<string> {
    return this.#metrics.size === 0 ? this.#byName : this.#settings;
  }

  /** Starts another attempt, which prints its settings again. */
  begin(): void {
    this.#firstOf = new Map();
    this.#begun = Infinity;
    this.#row = 0;
  }

  take(row: WrittenRow): void {
    const at = this.#row++;
    for (const key in row) {
      // Of millions of rows nearly all contain only known metrics.
      if (this.#metrics.has(key)) {
        if (!this.#firstOf.has(key)) this.#firstOf.set(key, at);
        continue;
      }
      const first = this.#firstOf.get(key);
      if (first !== undefined) this.#cameAgain(first);
      else {
        this.#firstOf.set(key, at);
        if (at >= this.#begun) this.#isMetric(key);
        else this.#isSetting(key);
      }
    }
  }

  #cameAgain(first: number): void {
    this.#begun = Math.min(this.#begun, first);
    for (const [key, at] of this.#firstOf) if (at >= this.#begun) this.#isMetric(key);
  }

  /** Adds a key as a setting, unless its name is that of a result, which may be repeated much later. */
  #isSetting(key: string): void {
    const words = inWords(key);
    const isNamed = isSettingName(words);
    if (isNamed || !isResultName(words)) this.#settings.add(key);
    if (isNamed) this.#byName.add(key);
  }

  #isMetric(key: string): void {
    this.#metrics.add(key);
    this.#settings.delete(key);
    this.#byName.delete(key);
  }
}

/** The user's patterns: the name of a metric, and a regular expression whose first group is its number. */
export type LogPatterns = Readonly<Record<string, string>>;

/** Fields of a log record, not of the training. */
const clerical = new Set([
  ...['ts', 'time', 'timestamp', 'asctime', 'created', 'msecs', 'relativeCreated', 'level', 'levelno', 'severity'],
  ...['line', 'lineno', 'pid', 'process', 'thread', 'tid', 'rank', 'local_rank', 'v', 'v_num'],
  ...['exitcode', 'exit code', 'Exit code', 'return code', 'error code', 'code', 'errno', 'signal'],
]);
const noRows: readonly WrittenRow[] = [];

/** Finds the rows of metrics, and the progress of the run, in the lines of a log. One instance reads one log from its start. */
export class LogRows {
  readonly #patterns: readonly (readonly [string, RE2JS])[];
  #box = new BoxTable();
  #columns = new ColumnTable();
  #tracebacks = new Tracebacks();
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

  /** The rows that a line contains, or completes. `isRedrawn`: it replaces the line before it. */
  take(written: string, isRedrawn = false): readonly WrittenRow[] {
    const line = withoutEscapes(written);
    if (this.#tracebacks.take(line) !== null) return noRows;
    // A line of escape sequences alone wipes a bar away, as one of spaces does.
    return this.#told(this.#read(line === '' && written !== '' ? ' ' : line, isRedrawn));
  }

  /** A line without a number: most lines that contain no metric. */
  #readWords(line: string): readonly WrittenRow[] {
    const rows = this.#placed();
    const row = this.#ofWords(line);
    this.#isWiped = false;
    return row === null ? rows : [...rows, row];
  }

  /** Looks for a bar in an incomplete line; returns the row that waited for it. */
  peek(written: string, isRedrawn = false): readonly WrittenRow[] {
    const line = withoutEscapes(written).trim();
    const bar = kerasBarIn(line) ?? barIn(line);
    if (bar === null) this.#clock.takeShare(ownBarIn(line, isRedrawn));
    return this.#told(bar !== null && this.#advance(bar) ? this.#placed() : noRows);
  }

  #told(rows: readonly WrittenRow[]): readonly WrittenRow[] {
    // With patterns, the user has chosen the metrics.
    if (this.#patterns.length === 0) for (const row of rows) this.#settings.take(row);
    return rows;
  }

  #read(written: string, isRedrawn: boolean): readonly WrittenRow[] {
    const line = written.trim();
    if (line === '') {
      this.#isWiped ||= written !== '' && this.#clock.step !== null;
      return noRows;
    }
    if (this.#patterns.length === 0 && !hasNumber.test(line)) return this.#readWords(line);
    if (attemptRule.test(line)) return this.#begin();
    const bar = kerasBarIn(line) ?? barIn(line);
    if (bar !== null) return this.#readBar(line, bar);
    const rows = this.#placed();
    const row = this.#rowOf(line, isRedrawn);
    this.#isWiped = false;
    return row === null ? rows : [...rows, row];
  }

  /** Reads a bar, and as a line of its own the text behind it. */
  #readBar(line: string, bar: Bar): readonly WrittenRow[] {
    const isInside = !this.#advance(bar);
    const rows = isInside ? noRows : this.#placed();
    const row =
      this.#patterns.length > 0
        ? this.#withStep(this.#matched(line))
        : isInside
          ? this.#ofInnerBar(bar)
          : this.#ofBar(bar);
    this.#isWiped = false;
    const own = row === null ? rows : [...rows, row];
    if (bar.after === '' || this.#patterns.length > 0) return own;
    return [...own, ...this.#read(bar.after, false)];
  }

  #rowOf(written: string, isRedrawn: boolean): WrittenRow | null {
    const own = ownBarIn(written, isRedrawn);
    this.#clock.takeShare(own);
    if (this.#patterns.length > 0) return this.#withStep(this.#matched(written));
    const line = own?.rest ?? written;
    if (own !== null && !hasNumber.test(line)) return this.#ofWords(line);
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
    const eta = line.startsWith('ETA: ') ? /^ETA: +([\d:]+)$/.exec(line)?.[1] : undefined;
    if (eta !== undefined) {
      this.#clock.takeEta(eta);
      return null;
    }
    const printed = readLine(line);
    if (printed === null) return this.#ofPair(line);
    const isEmpty = Object.keys(printed.metrics).length === 0;
    if (isEmpty && printed.isPure) this.#clock.announce(printed.places);
    return isEmpty ? null : this.#ofPrinted(printed);
  }

  /** Parses a name and its value in columns, below a line that names the place. */
  #ofPair(line: string): WrittenRow | null {
    if (Object.keys(this.#clock.axis).length === 0) return null;
    const [, name, number, unit = ''] = pairInColumns.exec(line) ?? [];
    return name === undefined ? null : this.#withStep({ [name]: toNumber(number!, unit.trim()) });
  }

  #ofPrinted({ places, metrics, averages, set, isSummary }: PrintedLine): WrittenRow | null {
    const about = isSummary ? this.#set : set;
    const row = about === '' || set === about ? metrics : underSet(about, metrics);
    const isOfEvaluation = Object.keys(metrics).every((name) => ofEvaluation.test(name));
    const inner =
      set === '' ? undefined : places.find(({ name, of }) => (name === '' || name === 'step') && of !== undefined);
    const named =
      isOfEvaluation && this.#clock.isBehind(places) ? places.filter(({ name }) => name !== 'step') : places;
    if (inner === undefined) return this.#atPlace(this.#clock.place(named), row);
    this.#set = set;
    const axis = this.#clock.place(places.filter((place) => place !== inner));
    this.#evaluation = this.#withStep(joined(joined(axis, row), averages));
    if (inner.at < inner.of! && inner.at + 1 < inner.of!) return null;
    const evaluated = this.#evaluation;
    this.#evaluation = null;
    return evaluated;
  }

  /** A line that names its epoch itself is not moved to a step of the bar. */
  #atPlace(axis: WrittenRow, row: WrittenRow): WrittenRow | null {
    const placed = joined(axis, row);
    return 'epoch' in axis && this.#clock.step !== null ? placed : this.#withStep(placed);
  }

  /** A dict after a place: `epoch 1: {…}`. */
  #ofDict(line: string, dict: WrittenRow): WrittenRow {
    const head = readLine(line.slice(0, line.indexOf('{')).trim());
    return head === null || head.places.length === 0 ? dict : joined(this.#clock.place(head.places), dict);
  }

  /** Parses the text before and after a bar; one of Keras has the metrics of an epoch once it is full. */
  #ofBar(bar: Bar): WrittenRow | null {
    const table = this.#ofColumns(bar);
    if (table !== undefined || (bar.isKeras && bar.done !== bar.total)) return table ?? null;
    const row = joined(metricsIn(bar.before), metricsIn(bar.rest));
    return Object.keys(row).length === 0 ? null : this.#atBar(row);
  }

  /** Parses a bar within the training's; YOLO writes the names of the columns before that of an evaluation. */
  #ofInnerBar(bar: Bar): WrittenRow | null {
    if (this.#ofColumns(bar) !== undefined) return null;
    const row = metricsIn(bar.rest);
    if (Object.keys(row).length === 0) return null;
    const step = this.#clock.stepWithin(bar);
    return step === null ? this.#ofSecondBar(bar, row) : joined({ step }, row);
  }

  /** The row of a full bar beside that of the training, such as one of an evaluation, under the name before it. */
  #ofSecondBar({ before, done, total }: Bar, row: WrittenRow): WrittenRow | null {
    const { set, name } = printedName(before);
    if (done !== total || !/^[A-Za-z][\w -]{0,40}$/.test(name)) return null;
    const named = Object.entries(row).map(([key, value]) => [
      printedName(key).namesSet ? key : `${set || name}/${key}`,
      value,
    ]);
    return { step: this.#clock.stepBeside, ...(Object.fromEntries(named) as WrittenRow) };
  }

  /** The row of a table before a bar. */
  #ofColumns({ before, done, total }: Bar): WrittenRow | null | undefined {
    const line = this.#columns.take(before);
    if (line.is === 'none') return undefined;
    return line.is === 'row' && done === total ? this.#atBar(withAxis(line.row)) : null;
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
    if (this.#waiting !== null) rows.push(this.#atBar(this.#waiting));
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
    this.#tracebacks = new Tracebacks();
    this.#clock.begin();
    this.#settings.begin();
    this.#isWiped = false;
    this.#isInCall = false;
    this.#set = '';
    return rows;
  }

  #matched(line: string): WrittenRow | null {
    if (isOfFailure(line)) return null;
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
    const isPlaced = counted !== null && counted.is !== 'time' && this.#clock.axis['step'] === undefined;
    if (this.#clock.step === null) return isPlaced ? row : this.#withAxis(row);
    if (!this.#isWiped) return this.#withBarStep(row);
    this.#waiting = row;
    return null;
  }

  /** Adds the place to a row. A time alone is a duration, which does not order rows. */
  #withAxis(row: WrittenRow): WrittenRow {
    const placed = joined(this.#clock.axis, row);
    return stepKeyOf(Object.keys(placed))?.key === 'time' ? without(placed, 'time') : placed;
  }

  /** A row of a line that was printed while a bar stood. */
  #withBarStep(row: WrittenRow): WrittenRow {
    this.#clock.hasRows();
    return joined({ step: this.#clock.stepOf(Object.keys(row).filter((key) => !axisKeys.has(key))) }, row);
  }

  /** A row of the bar itself, which is drawn again and again at a step. */
  #atBar(row: WrittenRow): WrittenRow {
    this.#clock.hasRows();
    return stepKeyOf(Object.keys(row))?.counts === true ? row : joined(this.#clock.axis, row);
  }
}

/** Metrics with the name of an evaluated set. */
const ofEvaluation = /^(?:val|valid|validation|test|eval|dev)\b/i;
const axisKeys = new Set(['step', 'epoch', 'episode', 'trial']);
const pairInColumns = new RegExp(
  String.raw`^([A-Za-z][\w./@%() -]{0,60}?)(?: {2,60}| {0,4}\t{1,9} {0,9})(${numberText})(${unitText})?$`,
);
const hasNumber = /\d|\b(?:nan|inf)\b/i;
const mayBeOfTable = /^[|│┃║┌┏╒╭╔├┡╞╟╠└┗╘╰╚-]|  |\t/;

/** The metrics in the text before or after a bar. */
function metricsIn(text: string): WrittenRow {
  const row = (text === '' ? null : readLine(text)?.metrics) ?? {};
  return 'v_num' in row ? without(row, 'v_num') : row;
}

function underSet(set: string, metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${set}/${name}`, value]));
}
