import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { systemMetrics } from '../../contract/metric-names.js';
import { openForAppending, readRegular } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';

/** Values of system metrics by name; without those that are not known. */
export type SystemValues = Readonly<Record<string, number>>;

/** Greatest number of rows: more than a chart has columns. A full file is some 150 KB. */
const MOST_ROWS = 1000;
/** A file with fewer rows has never been halved. */
const HALF = MOST_ROWS / 2;
/** Rows that are kept in memory before they are written together. */
const ROWS_AT_ONCE = 3;
const MOST_BYTES = 1 << 20;

type Row = { readonly at: number; readonly values: SystemValues };

/**
 * The file with a run's use of the machine: JSON lines of a time and values. It never has more than `MOST_ROWS` rows: a full file
 * is replaced by one with half of them, each the mean of two (of memory the larger), and later rows are as far apart as those.
 *
 * A row is appended as a whole line; one that was torn by the end of the supervisor or a full disk is followed by a newline, and
 * readers skip it. Whatever cannot be written is left out, without an error: nothing of a run depends on it.
 */
export class UsageFile {
  readonly #path: string;
  /** Samples since the last row. */
  #samples: Row[] = [];
  #unwritten: Row[] = [];
  /** Times of the last sample and of the last row, Unix ms. */
  #sampledAt = -Infinity;
  #lastAt = -Infinity;
  /** Time between rows, ms; 0: each sample is a row. */
  #intervalMs = 0;
  /** Number of rows in the file; null: it has not been looked at. */
  #rows: number | null = null;
  #isTorn = false;
  /** Whether something else is at the path. */
  #isBlocked = false;

  constructor(directory: string) {
    this.#path = join(directory, runFiles.usage);
  }

  /** Adds a sample. @param at Unix ms. */
  add(values: SystemValues, at: number): void {
    if (this.#rows === null) this.#open();
    this.#samples.push({ at, values });
    // The sample that is nearest to the end of the interval ends it. A clock that was set back does not stop the rows.
    const halfGapMs = Math.max(0, at - this.#sampledAt) / 2;
    this.#sampledAt = at;
    const isEarly = at >= this.#lastAt && at - this.#lastAt < this.#intervalMs - halfGapMs;
    if (isEarly || this.#isBlocked) return this.#bound();
    this.#unwritten.push({ at, values: merged(this.#samples) });
    this.#samples = [];
    this.#lastAt = at;
    // The first row is written at once, so that a short run has one.
    if (this.#unwritten.length >= ROWS_AT_ONCE || this.#rows === 0) this.flush();
  }

  /** Writes the rows that are only in memory. */
  flush(): void {
    const rows = this.#unwritten;
    this.#unwritten = [];
    if (rows.length === 0) return;
    if (this.#rows! + rows.length > MOST_ROWS && !this.#halve()) return;
    const text = rows.map(lineOf).join('');
    if (append(this.#path, this.#isTorn ? `\n${text}` : text)) {
      this.#rows! += rows.length;
      this.#isTorn = false;
    } else this.#isTorn = true;
  }

  /** Keeps the samples of a long interval few. */
  #bound(): void {
    if (this.#samples.length < HALF) return;
    this.#samples = [{ at: this.#samples.at(-1)!.at, values: merged(this.#samples) }];
  }

  /** Continues a file of an earlier attempt or supervisor. */
  #open(): void {
    const read = readRegular(this.#path, MOST_BYTES, { noLink: true });
    this.#isBlocked = read.kind === 'unreadable';
    const text = read.kind === 'text' ? read.text : '';
    const rows = rowsIn(text);
    this.#rows = rows.length;
    this.#isTorn = text !== '' && !text.endsWith('\n');
    if (rows.length >= HALF) this.#intervalMs = medianGap(rows);
  }

  /** Replaces the file by one with half of its rows. False: that was not possible, and the next attempt comes later. */
  #halve(): boolean {
    const read = readRegular(this.#path, MOST_BYTES, { noLink: true });
    const rows = read.kind === 'text' ? rowsIn(read.text) : [];
    const halved = Array.from({ length: Math.ceil(rows.length / 2) }, (_, index): Row => {
      const pair = rows.slice(2 * index, 2 * index + 2);
      return { at: pair.at(-1)!.at, values: merged(pair) };
    });
    try {
      writeWhole(this.#path, halved.map(lineOf).join(''));
    } catch {
      this.#intervalMs *= 2;
      return false;
    }
    this.#rows = halved.length;
    this.#isTorn = false;
    this.#intervalMs = medianGap(halved);
    return true;
  }
}

/** The last values in the file of a run; null: there are none. */
export function lastUsage(directory: string): SystemValues | null {
  const read = readRegular(join(directory, runFiles.usage), MOST_BYTES, { noLink: true });
  return read.kind === 'text' ? (rowsIn(read.text.slice(-LONGEST_ROW)).at(-1)?.values ?? null) : null;
}

const LONGEST_ROW = 2048;

function rowsIn(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const { time, ...values } = (line === '' ? null : parseJsonLine(line)) ?? {};
    const at = typeof time === 'string' ? Date.parse(time) : NaN;
    const known = Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
    return Number.isNaN(at) || known.length === 0 ? [] : [{ at, values: Object.fromEntries(known) }];
  });
}

function lineOf({ at, values }: Row): string {
  return `${JSON.stringify({ time: new Date(at).toISOString(), ...values })}\n`;
}

/** The mean of each value; of memory the largest, as a run fails at its peak. */
function merged(rows: readonly Row[]): SystemValues {
  if (rows.length === 1) return rows[0]!.values;
  const keys = new Set(rows.flatMap(({ values }) => Object.keys(values)));
  return Object.fromEntries(
    Array.from(keys, (key) => {
      const all = rows.flatMap(({ values }) => values[key] ?? []);
      const isMemory = key === systemMetrics.memory || key === systemMetrics.gpuMemory;
      const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
      return [key, isMemory ? all.reduce((most, value) => Math.max(most, value)) : Math.round(10 * mean) / 10];
    }),
  );
}

/** Median of the times between rows, ms: a pause between two attempts does not count. */
function medianGap(rows: readonly Row[]): number {
  const gaps = rows.slice(1).map(({ at }, index) => at - rows[index]!.at);
  return Math.max(0, gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 0);
}

/** Appends a text to a regular file, which is made if it does not exist; false: not all of it was written. */
function append(path: string, text: string): boolean {
  try {
    const opened = openForAppending(path);
    if (opened.kind !== 'file') return false;
    try {
      return writeSync(opened.descriptor, text) === Buffer.byteLength(text);
    } finally {
      closeSync(opened.descriptor);
    }
  } catch {
    return false;
  }
}
