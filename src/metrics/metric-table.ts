import { BoundedSeries, type Bounds } from './bounded-series.js';
import type { Line } from './downsample.js';
import { type Clock, clockOfFile, type Filing, inSeconds, noLine, wallTime } from './filing.js';
import type { WrittenRow } from './formats/format.js';
import { LineCache } from './line-cache.js';
import { rowOfStep, xOf } from './row-axis.js';
import { type MetricRow, RowNumbers, stepKeyOf } from './row-numbers.js';

/**
 * Rows of metrics as one series for each key, in bounded memory.
 *
 * A row with the same step as the last is merged into it (its values win). A row with a smaller step means that the run resumed
 * from a checkpoint: the rows from that step on are replaced. A row without a step belongs to the step before it.
 */
export class MetricTable implements Filing {
  readonly #bounds: Bounds;
  readonly #numbers = new RowNumbers();
  /** Series by key id. */
  readonly #series: BoundedSeries[] = [];
  readonly #steps: BoundedSeries;
  /** When rows were written, Unix ms, for rows whose time is known. */
  readonly #times: BoundedSeries;
  #hasOwnTimes = false;
  #stepId: number | null = null;
  #stepCounts = false;
  #keysSeen = 0;
  #rows = 0;
  readonly #lines = new LineCache();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#steps = new BoundedSeries(bounds);
    this.#times = new BoundedSeries(bounds);
  }

  /** Number of rows, without those of replaced steps. */
  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return [this.#steps, this.#times, ...this.#series].reduce((sum, series) => sum + (series?.bytes ?? 0), 0);
  }

  /** Whether the rows have a key of steps, and are not only numbered. */
  get hasSteps(): boolean {
    return this.#stepId !== null;
  }

  get firstTime(): number | null {
    return this.#times.length === 0 ? null : this.#times.values[0]!;
  }

  get clock(): Clock {
    const { values, length } = this.#times;
    if (length === 0) return null;
    return this.#hasOwnTimes ? 'values' : clockOfFile(values[0]!, values[length - 1]!);
  }

  take(row: WrittenRow, time = NaN): boolean {
    this.#numbers.read(row);
    if (this.#numbers.count === 0) return false;
    this.#takeRow();
    if (Number.isNaN(time)) return true;
    this.#times.append(this.#rows - 1, time);
    this.#hasOwnTimes = true;
    return true;
  }

  stamp(from: number, to: number): void {
    const times = this.#times;
    if (this.#rows === 0) return;
    if (times.length === 0) times.append(0, from);
    if (times.rows[times.length - 1]! < this.#rows - 1) times.append(this.#rows - 1, to);
    this.#lines.forget();
  }

  /** Whether the key had a number or null in some row. */
  has(key: string): boolean {
    return this.#seriesOf(key) !== null;
  }

  /** The numbers of the row that was added last. */
  lastRow(): MetricRow {
    return this.#numbers.row();
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    return this.#numbers.keys.filter((_, id) => (this.#series[id]?.length ?? 0) > 0);
  }

  /**
   * One metric over another. Empty when the key is unknown. The arrays are read-only and valid until the next row.
   *
   * @param xKey `step` also stands for the run's own name of it, or else for the row's number. In a row without the key, x is
   * interpolated between the rows that have it. `wallTime`: when it was written, Unix seconds.
   */
  series(key: string, xKey = 'step'): Line {
    return this.#lines.get(key, xKey, () => this.#line(key, xKey));
  }

  /** The last value of every metric; null where it is NaN. */
  last(): Record<string, number | null> {
    const known = this.#series.flatMap((series, id) => {
      if (series.length === 0) return [];
      const value = series.values[series.length - 1]!;
      return [[this.#numbers.keys[id]!, Number.isNaN(value) ? null : value] as const];
    });
    return Object.fromEntries(known);
  }

  /** Adds the row whose numbers were read last. */
  #takeRow(): void {
    const { ids, values, count } = this.#numbers;
    // A counter of steps may appear later than the first epoch number: it orders the rows from then on.
    if (!this.#stepCounts && this.#numbers.keys.length > this.#keysSeen) this.#findStep();
    const row = this.#rowFor(this.#stepOfRow());
    this.#rows = row + 1;
    for (let index = 0; index < count; index++) {
      (this.#series[ids[index]!] ??= new BoundedSeries(this.#bounds)).append(row, values[index]!);
    }
    this.#lines.forget();
  }

  #findStep(): void {
    const { ids, count, keys } = this.#numbers;
    this.#keysSeen = keys.length;
    const step = stepKeyOf(Array.from(ids.subarray(0, count), (id) => keys[id]!));
    if (step === null || (this.#stepId !== null && !step.counts)) return;
    if (this.#stepId !== null) this.#steps.truncate(0);
    this.#stepId = keys.indexOf(step.key);
    this.#stepCounts = step.counts;
  }

  /** The step of the row that was read last; NaN: it has none. */
  #stepOfRow(): number {
    const { ids, values, count } = this.#numbers;
    for (let index = 0; index < count; index++) if (ids[index] === this.#stepId) return values[index]!;
    return NaN;
  }

  /** The number under which a row of this step is stored; removes the rows that it replaces. */
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
    this.#times.truncate(row);
    for (const series of this.#series) series.truncate(row);
  }

  #line(key: string, xKey: string): Line {
    const ys = this.#seriesOf(key);
    if (ys === null) return noLine;
    const y = ys.values.subarray(0, ys.length);
    if (xKey === wallTime) return this.#times.length === 0 ? noLine : { x: inSeconds(xOf(ys, this.#times)), y };
    const xs = xKey === 'step' && this.#steps.length > 0 ? this.#steps : this.#seriesOf(xKey);
    if (xs !== null) return { x: xOf(ys, xs), y };
    return xKey === 'step' ? { x: ys.rows.subarray(0, ys.length), y } : noLine;
  }

  #seriesOf(key: string): BoundedSeries | null {
    const series = this.#series[this.#numbers.idOf(key) ?? -1];
    return series === undefined || series.length === 0 ? null : series;
  }
}
