import { BoundedSeries, type Bounds } from './bounded-series.js';
import { type Line, lowerBound } from './downsample.js';
import { type Clock, clockOfFile, type Filing, inSeconds, noLine, wallTime } from './filing.js';
import type { PointTaker, WrittenRow } from './formats/format.js';
import { LineCache } from './line-cache.js';
import { interpolated, rowOfStep, xOf } from './row-axis.js';
import { type MetricRow, RowNumbers } from './row-numbers.js';

/** The points of one metric in one part, numbered from 0: step, value, and the time, where known, in Unix ms. */
type Points = { count: number; steps: BoundedSeries; values: BoundedSeries; times: BoundedSeries };
/** The points of one metric, by part. */
type Parts = (Points | undefined)[];

const STEP = 'step';

/**
 * Metrics that each have steps of their own, as in TensorBoard, in bounded memory. A row has a few points of one `step`; without
 * it, points are numbered.
 *
 * A point with the same step as the metric's last one replaces it; one with a smaller step means that the run resumed from a
 * checkpoint, and replaces the metric's points from that step on. A later part (the file of a later attempt) counts from its first
 * step on, in whatever order the parts are read. `step` itself is that of the metric that was written first.
 */
export class PointTable implements Filing {
  readonly #bounds: Bounds;
  readonly #numbers = new RowNumbers();
  /** Points by key id. */
  readonly #metrics: Parts[] = [];
  #hasOwnTimes = false;
  /** Key id of the metric that was written first. */
  #leader = -1;
  readonly #lines = new LineCache();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  get rows(): number {
    return this.#metrics.reduce((most, parts) => Math.max(most, sum(parts)), 0);
  }

  get bytes(): number {
    return this.#all().reduce((sum, { steps, values, times }) => sum + steps.bytes + values.bytes + times.bytes, 0);
  }

  get hasSteps(): boolean {
    return this.#leader >= 0;
  }

  get firstTime(): number | null {
    const times = this.#all().flatMap(({ times: known }) => (known.length === 0 ? [] : [known.values[0]!]));
    return times.length === 0 ? null : times.reduce((first, time) => Math.min(first, time));
  }

  get clock(): Clock {
    const timed = this.#all().filter(({ times }) => times.length > 0);
    if (timed.length === 0 || this.#hasOwnTimes) return timed.length === 0 ? null : 'values';
    const last = Math.max(...timed.map(({ times }) => times.values[times.length - 1]!));
    return clockOfFile(this.firstTime!, last);
  }

  take(row: WrittenRow, time = NaN, part = 0): boolean {
    this.#numbers.read(row);
    const { ids, values, count, keys } = this.#numbers;
    const step = typeof row[STEP] === 'number' ? row[STEP] : NaN;
    let taken = false;
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      if (keys[id] === STEP) continue;
      if (this.#leader < 0) this.#leader = id;
      append(((this.#metrics[id] ??= [])[part] ??= this.#newPoints()), step, values[index]!, time);
      taken = true;
    }
    if (taken) this.#changed(time);
    return taken;
  }

  points(part: number): PointTaker {
    return (key, value, step, time) => {
      const id = key === STEP ? -1 : this.#numbers.take(key);
      if (id < 0) return;
      if (this.#leader < 0) this.#leader = id;
      append(((this.#metrics[id] ??= [])[part] ??= this.#newPoints()), step, value, time);
      this.#changed(time);
    };
  }

  stamp(from: number, to: number): void {
    for (const { count, times } of this.#all()) {
      if (times.length === 0) times.append(0, from);
      if (times.rows[times.length - 1]! < count - 1) times.append(count - 1, to);
    }
    this.#lines.forget();
  }

  has(key: string): boolean {
    return this.#partsOf(key) !== null;
  }

  lastRow(): MetricRow {
    return this.#numbers.row();
  }

  keys(): string[] {
    const known = this.#numbers.keys.filter((key, id) => key !== STEP && this.#metrics[id] !== undefined);
    return known.length === 0 ? [] : [STEP, ...known];
  }

  /** @param xKey Another metric is read at the step of each point, interpolated between its own points. */
  series(key: string, xKey = STEP): Line {
    return this.#lines.get(key, xKey, () => this.#line(key, xKey));
  }

  last(): Record<string, number | null> {
    const known = this.keys().map((key) => {
      const points = this.#partsOf(key)!.at(-1)!;
      const series = key === STEP ? points.steps : points.values;
      const value = series.values[series.length - 1]!;
      return [key, Number.isNaN(value) ? null : value] as const;
    });
    return Object.fromEntries(known);
  }

  #changed(time: number): void {
    this.#hasOwnTimes ||= !Number.isNaN(time);
    this.#lines.forget();
  }

  #newPoints(): Points {
    const series = () => new BoundedSeries(this.#bounds);
    return { count: 0, steps: series(), values: series(), times: series() };
  }

  #all(): Points[] {
    return this.#metrics.flatMap((parts) => (parts ?? []).filter((points) => points !== undefined));
  }

  #partsOf(key: string): Parts | null {
    return this.#metrics[key === STEP ? this.#leader : (this.#numbers.idOf(key) ?? -1)] ?? null;
  }

  #line(key: string, xKey: string): Line {
    const isTimed = ({ times }: Points) => xKey !== wallTime || times.length > 0;
    const parts = (this.#partsOf(key) ?? []).filter((points) => points !== undefined && isTimed(points)) as Points[];
    const other = xKey === STEP || xKey === wallTime ? null : this.series(xKey);
    if (other?.x.length === 0) return noLine;
    const lines: Line[] = [];
    let before = Infinity;
    // From the last part on: each counts up to the beginning of a later one.
    for (const points of parts.toReversed()) {
      const ys = key === STEP ? points.steps : points.values;
      const steps = xOf(ys, points.steps);
      const end = lowerBound(steps, steps.length, before);
      const x =
        xKey === wallTime ? inSeconds(xOf(ys, points.times)) : other === null ? steps : interpolated(steps, other);
      lines.push({ x: x.subarray(0, end), y: ys.values.subarray(0, end) });
      before = Math.min(before, points.steps.values[0]!);
    }
    lines.reverse();
    return joined(lines);
  }
}

function sum(parts: Parts): number {
  return parts.reduce((count, points) => count + (points?.count ?? 0), 0);
}

function joined(lines: readonly Line[]): Line {
  if (lines.length <= 1) return lines[0] ?? noLine;
  const of = (side: keyof Line) => Float64Array.from(lines.flatMap((line) => Array.from(line[side])));
  return { x: of('x'), y: of('y') };
}

function append(points: Points, step: number, value: number, time: number): void {
  const { steps, values, times } = points;
  const last = steps.length === 0 ? -Infinity : steps.values[steps.length - 1]!;
  const own = Number.isNaN(step) ? points.count : step;
  if (own < last) {
    points.count = rowOfStep(steps, own);
    for (const series of [steps, values, times]) series.truncate(points.count);
  }
  const row = own === last ? points.count - 1 : points.count;
  steps.append(row, own);
  values.append(row, value);
  if (!Number.isNaN(time)) times.append(row, time);
  points.count = row + 1;
}
