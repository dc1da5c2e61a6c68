import { attemptRule } from '../../../contract/attempt-separator.js';
import { parseJsonLine } from '../../../contract/json-line.js';
import { stepKeyOf } from '../../row-numbers.js';
import type { StatedProgress, WrittenRow } from '../format.js';
import { describedIn, headedRowIn } from './headed-line.js';
import { assignmentsIn, pairsIn, partsOf, toNumber } from './pairs.js';
import { PrintedSettings } from './printed-settings.js';
import { BoxTable, IterationBlock } from './printed-table.js';
import { type Bar, barIn, epochIn, kerasBarIn } from './progress-bar.js';
import { parsePythonDict } from './python-dict.js';

/** Own patterns: a metric by name, and the regular expression whose first group is its number. */
export type LogPatterns = Readonly<Record<string, string>>;

/** Of a longer line only the beginning is looked at, characters. */
const LONGEST = 8192;
/** Of a record of the log itself, not of the training. */
const clerical = new Set([
  ...['ts', 'time', 'timestamp', 'asctime', 'created', 'msecs', 'relativeCreated', 'level', 'levelno', 'severity'],
  ...['line', 'lineno', 'pid', 'process', 'thread', 'tid', 'rank', 'v'],
]);
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()].|[A-Za-z78=>])/g;

/** Finds the rows of metrics, and how far the run is, in the lines that a program prints. One reads one log from its start. */
export class LogRows {
  readonly #patterns: readonly (readonly [string, RegExp])[];
  #box = new BoxTable();
  #block = new IterationBlock();
  #bars = new BarSteps();
  readonly #settings = new PrintedSettings();

  /** @param patterns When there are any, nothing else makes a row. One that is no regular expression finds nothing. */
  constructor(patterns: LogPatterns = {}) {
    this.#patterns = Object.entries(patterns).flatMap(([key, text]) => {
      const pattern = compiled(text);
      return pattern === null ? [] : [[key, pattern] as const];
    });
  }

  get progress(): StatedProgress | null {
    return this.#block.progress ?? this.#bars.progress;
  }

  /** Keys of values that are settings of the program, as far as is known. */
  get settings(): ReadonlySet<string> {
    return this.#settings.names;
  }

  /** The row that a line is, or ends; null: none. */
  take(written: string): WrittenRow | null {
    const row = this.#read(written);
    // Who says what to look for has looked.
    if (row !== null && this.#patterns.length === 0) this.#settings.take(row);
    return row;
  }

  #read(written: string): WrittenRow | null {
    const line = plain(written);
    if (line === '') return null;
    if (attemptRule.test(line)) {
      this.#begin();
      return null;
    }
    const keras = kerasBarIn(line);
    const bar = keras ?? barIn(line);
    this.#advance(line, bar);
    if (this.#patterns.length > 0) return this.#matched(line);
    if (keras !== null) return this.#ofEpoch(keras);
    return bar === null ? this.#rowOf(line) : this.#withStep(withBar(bar));
  }

  #advance(line: string, bar: Bar | null): void {
    if (bar !== null) this.#bars.take(bar);
    const epoch = bar === null || /epoch/i.test(line) ? epochIn(line) : null;
    if (epoch !== null) this.#bars.takeEpoch(epoch);
  }

  /** Looks at a line that is not whole for nothing but a bar. */
  peek(written: string): void {
    const line = plain(written);
    const bar = kerasBarIn(line) ?? barIn(line);
    if (bar !== null) this.#bars.take(bar);
  }

  /** A bar of Keras has the metrics of an epoch once it is full; another one than that of the training has those of something else. */
  #ofEpoch(bar: Bar): WrittenRow | null {
    return bar.done === bar.total && this.#bars.isAt(bar) ? this.#withStep(partsOf(bar.rest)) : null;
  }

  /** What another attempt left open is over. */
  #begin(): void {
    this.#box = new BoxTable();
    this.#block = new IterationBlock();
    this.#bars = new BarSteps();
    this.#settings.begin();
  }

  #rowOf(line: string): WrittenRow | null {
    const boxed = this.#box.take(line);
    if (boxed !== undefined) return boxed;
    const block = this.#block.take(line);
    if (block !== undefined) return block;
    const dict = objectIn(line);
    if (dict !== null) return this.#withStep(dict);
    if (!/\d/.test(line) && !/nan|inf/i.test(line)) return null;
    return this.#withStep(headedRowIn(line) ?? pairsIn(line));
  }

  #matched(line: string): WrittenRow | null {
    const found = this.#patterns.flatMap(([key, pattern]) => {
      const text = pattern.exec(line)?.[1];
      const number = text === undefined ? NaN : toNumber(text);
      return text === undefined || (Number.isNaN(number) && !/^[-+]?nan$/i.test(text)) ? [] : [[key, number] as const];
    });
    return found.length === 0 ? null : this.#withStep(Object.fromEntries(found));
  }

  /** A row that counts no steps was printed at the step that the bar shows. */
  #withStep(row: WrittenRow | null): WrittenRow | null {
    if (row === null || Object.keys(row).every((key) => clerical.has(key))) return null;
    const step = this.#bars.step;
    if (step === null || stepKeyOf(Object.keys(row))?.counts === true) return row;
    this.#bars.hasRows();
    return { step, ...row };
  }
}

/** What a program writes before and behind its bar. */
function withBar({ before, rest }: Bar): WrittenRow | null {
  const [described, added] = [describedIn(before), assignmentsIn(rest)];
  return described === null || added === null ? (added ?? described) : { ...described, ...added };
}

/** Without escape sequences, and what a cursor did. */
function plain(written: string): string {
  const line = written.length > LONGEST ? written.slice(0, LONGEST) : written;
  const text = line.includes('\u001b') ? line.replace(escapes, '') : line;
  // Keras goes back before it draws its bar again.
  return (text.includes('\b') ? text.replaceAll('\b', '') : text).trim();
}

function compiled(text: string): RegExp | null {
  try {
    return new RegExp(text);
  } catch {
    // Refused where sweep files are read.
    return null;
  }
}

/** Before a dict: what it holds is no metric. */
const ofSettings = /(?:config\w*|args|arguments|\w*params|\w*parameters|settings|options)\W*$/i;

/**
 * The dict or the JSON object in a line, with what a logger puts before it, and pairs behind it: `epoch=1 metrics={'loss': 0.5}
 * step=100`. Null also for what is said to be settings.
 */
function objectIn(line: string): WrittenRow | null {
  const from = line.indexOf('{');
  const to = line.lastIndexOf('}') + 1;
  if (from < 0 || to === 0 || ofSettings.test(line.slice(0, from))) return null;
  const behind = line.slice(to).trim();
  const after = behind === '' ? {} : assignmentsIn(behind);
  if (
    after === null ||
    line
      .slice(to)
      .replace(/[\w.]+ ?= ?[\w.+-]+/g, '')
      .trim() !== ''
  )
    return null;
  const text = line.slice(from, to);
  const row = parseJsonLine(text) ?? parsePythonDict(text);
  return row === null || behind === '' ? row : { ...after, ...row };
}

/**
 * The step a run is at, from its progress bars. One that is open is the training; others meanwhile are inside it (an
 * evaluation). Where a bar of as many steps begins again (each epoch has its own), steps go on being counted.
 */
class BarSteps {
  #bar: Bar | null = null;
  #base = 0;
  #step: number | null = null;
  #hasRows = false;
  #epoch: { epoch: number; of: number } | null = null;

  get step(): number | null {
    return this.#step;
  }

  get progress(): StatedProgress | null {
    const bar = this.#bar;
    const share = bar === null ? 0 : bar.done / bar.total;
    if (this.#epoch !== null) return inEpochs(this.#epoch, share, bar);
    return bar === null ? null : { share: Math.min(1, share), etaSeconds: bar.etaSeconds, rate: bar.rate };
  }

  /** Whether this bar is that of the training. */
  isAt({ done, total }: Bar): boolean {
    return this.#bar?.total === total && this.#bar.done === done;
  }

  hasRows(): void {
    this.#hasRows = true;
  }

  take(bar: Bar): void {
    const before = this.#bar;
    const isOpen = before !== null && before.done < before.total;
    if (before !== null && bar.total !== before.total) {
      if (isOpen || this.#hasRows) return;
      this.#base = 0;
      this.#step = null;
    } else if (before !== null && bar.done < before.done) {
      this.#base = this.#step ?? 0;
    }
    this.#bar = bar;
    this.#step = Math.max(this.#step ?? 0, this.#base + bar.done);
  }

  takeEpoch(epoch: { epoch: number; of: number }): void {
    const before = this.#epoch?.epoch;
    if (before !== undefined && before !== epoch.epoch && this.#bar?.done === this.#bar?.total) this.#openEpoch();
    this.#epoch = epoch;
  }

  /** The bar of the epoch before says nothing of this one. */
  #openEpoch(): void {
    if (this.#bar !== null) this.#bar = { ...this.#bar, done: 0 };
    this.#base = this.#step ?? 0;
  }
}

/** Epochs are counted from 1; the last one is over when its bar is full. */
function inEpochs({ epoch, of }: { epoch: number; of: number }, share: number, bar: Bar | null): StatedProgress {
  const total = Math.min(1, Math.max(0, (epoch - 1 + Math.min(1, share)) / of));
  const left = bar?.etaSeconds ?? null;
  return { share: total, etaSeconds: of === epoch ? left : null, rate: bar?.rate ?? null };
}
