import { BoundedSeries, type Bounds, lowerBound } from './bounded-series.js';
import type { Line } from './downsample.js';
import type { WrittenRow } from './formats/format.js';

/** The numbers of one row. What was written as `null` is NaN here. */
export type MetricRow = Record<string, number>;

/**
 * Rows of metrics as one series for each key, in bounded memory.
 *
 * A row of the same step as the last adds to it (its values win). A row of a smaller step is a resume from a
 * checkpoint: the rows from that step on are replaced. A row without a step belongs to the step before it.
 */
export class MetricTable {
  readonly #bounds: Bounds;
  readonly #numbers = new RowNumbers();
  /** By key id. */
  readonly #series: BoundedSeries[] = [];
  readonly #steps: BoundedSeries;
  #stepId: number | null = null;
  #stepCounts = false;
  #rows = 0;
  /** Grows with every row. */
  #version = 0;
  readonly #lines = new Map<string, { version: number; line: Line }>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#steps = new BoundedSeries(bounds);
  }

  /** Rows kept: those of replaced steps do not count. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether a key of the rows orders them, and not only their number. */
  get hasSteps(): boolean {
    return this.#stepId !== null;
  }

  /** Files a row; false when there is no number in it. */
  take(row: WrittenRow): boolean {
    this.#numbers.read(row);
    if (this.#numbers.count === 0) return false;
    this.#takeRow();
    return true;
  }

  /** Whether the key had a number or null in some row. */
  has(key: string): boolean {
    return this.#seriesOf(key) !== null;
  }

  /** The numbers of the row taken last. */
  lastRow(): MetricRow {
    const { ids, values, count, keys } = this.#numbers;
    return Object.fromEntries(
      Array.from({ length: count }, (_, index) => [keys[ids[index]!]!, values[index]!] as const),
    );
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    return this.#numbers.keys.filter((_, id) => (this.#series[id]?.length ?? 0) > 0);
  }

  /**
   * One metric against another. Empty when the key is unknown. Do not change the arrays; valid until the next row.
   *
   * @param xKey `step` also means the run's own word for it, or else the row's number. In a row that lacks the key, x is
   *   interpolated between the rows that have it.
   */
  series(key: string, xKey = 'step'): Line {
    const name = `${key}\n${xKey}`;
    const cached = this.#lines.get(name);
    if (cached !== undefined && cached.version === this.#version) return cached.line;
    const line = this.#line(key, xKey);
    this.#lines.set(name, { version: this.#version, line });
    return line;
  }

  /** The last value of every metric; null where it is not a finite number. */
  last(): Record<string, number | null> {
    const known = this.#series.flatMap((series, id) => {
      if (series.length === 0) return [];
      const value = series.values[series.length - 1]!;
      return [[this.#numbers.keys[id]!, Number.isFinite(value) ? value : null] as const];
    });
    return Object.fromEntries(known);
  }

  /** Files the row whose numbers were read last. */
  #takeRow(): void {
    const { ids, values, count } = this.#numbers;
    if (this.#stepId === null) this.#findStep();
    const row = this.#rowFor(this.#stepOfRow());
    this.#rows = row + 1;
    for (let index = 0; index < count; index++) {
      (this.#series[ids[index]!] ??= new BoundedSeries(this.#bounds)).append(row, values[index]!);
    }
    this.#version += 1;
  }

  #findStep(): void {
    const { ids, count, keys } = this.#numbers;
    const step = stepKeyOf(Array.from(ids.subarray(0, count), (id) => keys[id]!));
    if (step === null) return;
    this.#stepId = keys.indexOf(step.key);
    this.#stepCounts = step.counts;
  }

  /** NaN when the row has none. */
  #stepOfRow(): number {
    const { ids, values, count } = this.#numbers;
    for (let index = 0; index < count; index++) if (ids[index] === this.#stepId) return values[index]!;
    return NaN;
  }

  /** The number under which a row of this step is filed; drops the rows it replaces. */
  #rowFor(step: number): number {
    if (this.#stepId === null) return this.#rows;
    const steps = this.#steps;
    const last = steps.length === 0 ? NaN : steps.values[steps.length - 1]!;
    const own = Number.isNaN(step) ? last : step;
    if (this.#stepCounts && step === last) return this.#rows - 1;
    if (this.#stepCounts && step < last) this.#truncate(rowOfStep(steps, step));
    if (!Number.isNaN(own)) steps.append(this.#rows, own);
    return this.#rows;
  }

  #truncate(row: number): void {
    this.#rows = row;
    this.#steps.truncate(row);
    for (const series of this.#series) series.truncate(row);
  }

  #line(key: string, xKey: string): Line {
    const ys = this.#seriesOf(key);
    if (ys === null) return { x: new Float64Array(0), y: new Float64Array(0) };
    const y = ys.values.subarray(0, ys.length);
    const xs = xKey === 'step' && this.#steps.length > 0 ? this.#steps : this.#seriesOf(xKey);
    if (xs !== null) return { x: xOf(ys, xs), y };
    return xKey === 'step'
      ? { x: ys.rows.subarray(0, ys.length), y }
      : { x: new Float64Array(0), y: new Float64Array(0) };
  }

  #seriesOf(key: string): BoundedSeries | null {
    const series = this.#series[this.#numbers.keys.indexOf(key)];
    return series === undefined || series.length === 0 ? null : series;
  }
}

/** The first row of this step or a later one. Steps rise. Between boiled-down points the row is interpolated. */
function rowOfStep(steps: BoundedSeries, step: number): number {
  const index = lowerBound(steps.values, steps.length, step);
  const next = steps.rows[index]!;
  if (index === 0) return steps.isExact ? next : 0;
  const before = steps.rows[index - 1]!;
  const share = (step - steps.values[index - 1]!) / (steps.values[index]! - steps.values[index - 1]!);
  return Math.max(before + 1, Math.round(before + share * (next - before)));
}

/** The x of each point of `ys`, by row. The array itself, not a copy, when both have all the same rows. */
function xOf(ys: BoundedSeries, xs: BoundedSeries): Float64Array {
  if (haveSameRows(ys, xs)) return xs.values.subarray(0, xs.length);
  const x = new Float64Array(ys.length);
  for (let index = 0, near = 0; index < ys.length; index++) {
    const row = ys.rows[index]!;
    while (near + 1 < xs.length && xs.rows[near + 1]! <= row) near += 1;
    x[index] = xAt(xs, near, row);
  }
  return x;
}

function haveSameRows(ys: BoundedSeries, xs: BoundedSeries): boolean {
  const count = ys.length;
  if (count !== xs.length || !ys.isExact || !xs.isExact) return false;
  const isDense = ys.rows[count - 1]! - ys.rows[0]! === count - 1;
  return isDense && xs.rows[0] === ys.rows[0] && xs.rows[count - 1] === ys.rows[count - 1];
}

/** `near`: the last point at or before the row, or the first. Beyond both ends the nearest x holds. */
function xAt(xs: BoundedSeries, near: number, row: number): number {
  const from = xs.rows[near]!;
  const value = xs.values[near]!;
  if (row <= from || near + 1 >= xs.length) return value;
  const share = (row - from) / (xs.rows[near + 1]! - from);
  return value + share * (xs.values[near + 1]! - value);
}

/** A foreign file may invent a key a row; no chart shows so many. */
const MOST_KEYS = 2000;

/**
 * The numbers of a metrics row, by key id. One instance reads all rows of a file and gives each key its id.
 *
 * `null` gives NaN, true and false 1 and 0; text and nested values are left out. Rows come as objects: `JSON.parse` is
 * faster than any parser written in JavaScript (measured: 1.5 times one that read numbers straight from the bytes).
 */
class RowNumbers {
  /** Every key that held a number, by id. */
  readonly keys: string[] = [];
  /** The numbers of the row read last, `count` of them: key ids and values. */
  readonly ids = new Int32Array(MOST_KEYS);
  readonly values = new Float64Array(MOST_KEYS);
  count = 0;
  readonly #idOf = new Map<string, number>();
  /** Writers repeat their keys in the same order: the id of the same place of the row before is tried first. */
  readonly #idAt: number[] = [];

  read(row: WrittenRow): void {
    this.count = 0;
    let place = 0;
    for (const key in row) {
      const value = row[key];
      const at = place++;
      if (typeof value === 'number') this.#put(at, key, value);
      else if (value === null) this.#put(at, key, NaN);
      else if (typeof value === 'boolean') this.#put(at, key, Number(value));
    }
  }

  #put(place: number, key: string, value: number): void {
    let id = this.#idAt[place];
    if (id === undefined || this.keys[id] !== key) {
      id = this.#id(key);
      if (place < MOST_KEYS) this.#idAt[place] = id;
    }
    if (id < 0 || this.count >= MOST_KEYS) return;
    this.ids[this.count] = id;
    this.values[this.count++] = value;
  }

  /** Negative when there are too many keys already. */
  #id(key: string): number {
    const known = this.#idOf.get(key);
    if (known !== undefined) return known;
    if (this.keys.length >= MOST_KEYS) return -1;
    this.#idOf.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }
}

/** Names writers use for a counter of training steps, best first. A row with a smaller step is a resume. */
const counters = ['step', 'global_step', '_step', 'train/global_step', 'trainer/global_step', 'iteration', 'iter'];
/** Names that make an x axis, but may repeat or begin again without a row being replaced. */
const axes = ['epoch', 'timestep', 'timesteps', 'total_timesteps', 'time/total_timesteps', 'num_tokens', 'time'];

/** The key of a row that orders the rows of its file, and whether it counts steps. Null: only their number does. */
export function stepKeyOf(keys: readonly string[]): { key: string; counts: boolean } | null {
  const key = [...counters, ...axes].find((name) => keys.includes(name));
  return key === undefined ? null : { key, counts: counters.includes(key) };
}
