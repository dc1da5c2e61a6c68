import { extremes, lowerBound, upperBound } from './line.js';

/** How many points a series keeps: at most `older` thinned ones, then at least `exact` exact ones. */
export type Bounds = { older: number; exact: number };

/** At most about half a megabyte for a series; far more points than a screen has columns. */
export const defaultBounds: Bounds = { older: 16_384, exact: 8_192 };
/**
 * For watching many runs by their last values and sparklines. A run with the maximum number of keys (2000) takes 80 MB with that,
 * and a usual one half a megabyte.
 */
export const smallBounds: Bounds = { older: 2048, exact: 256 };
/** Keeps every point, for a caller that reads a run once and then frees it. */
export const everyPoint: Bounds = { older: 0, exact: Infinity };

/**
 * The values of one metric by x, in bounded memory: the newest are exact, older ones are reduced to the lowest and the highest of
 * equal stretches, so that a chart keeps every peak. A stretch doubles each time the older part is full. (Stretches are equal up to
 * `older × exact / 2` points, 67 million by default; beyond, the latest of them are shorter.)
 */
export class BoundedSeries {
  /** The x and value of each point; only the first `length` entries are valid. x does not fall. Valid until the next change. */
  x = new Float64Array(64);
  values = new Float64Array(64);
  /** When each point was written, Unix ms, NaN where unknown; null: of no point. */
  times: Float64Array<ArrayBuffer> | null = null;
  length = 0;
  readonly #bounds: Bounds;
  readonly #capacity: number;
  /** Number of points in the older part. */
  #older = 0;
  /** Number of exact points that one stretch of the older part replaces. */
  #stretch = 4;

  constructor(bounds: Bounds = defaultBounds) {
    this.#bounds = bounds;
    this.#capacity = bounds.older + 2 * bounds.exact;
  }

  /** Memory of the points. */
  get bytes(): number {
    return this.x.byteLength + this.values.byteLength + (this.times?.byteLength ?? 0);
  }

  /** Whether every point is still exact. */
  get isExact(): boolean {
    return this.#older === 0;
  }

  /** Adds a point whose x is that of the last one or greater. */
  append(x: number, value: number, time = NaN): void {
    if (this.length === this.#capacity) this.#boilDown();
    if (this.length === this.x.length) this.#grow();
    this.x[this.length] = x;
    this.#set(this.length++, value, time);
  }

  /** Adds a point after those with the same x or a smaller one. */
  insert(x: number, value: number, time = NaN): void {
    const newest = this.length - 1;
    this.append(newest < 0 ? x : this.x[newest]!, NaN);
    const at = upperBound(this.x, this.length - 1, x);
    for (const lane of [this.x, this.values, this.times]) lane?.copyWithin(at + 1, at, this.length - 1);
    this.x[at] = x;
    this.#set(at, value, time);
    if (at < this.#older) this.#older += 1;
  }

  /** Replaces the value of the last point with this x, and returns its former value; null: no point has this x. */
  replace(x: number, value: number, time = NaN): number | null {
    const at = upperBound(this.x, this.length, x) - 1;
    if (at < 0 || this.x[at] !== x) return null;
    const before = this.values[at]!;
    this.#set(at, value, time);
    return before;
  }

  /** Whether a point has this x, or had it, as far as can be told where points were reduced. */
  has(x: number): boolean {
    const at = lowerBound(this.x, this.length, x);
    return this.x[at] === x ? at < this.length : at > 0 && at < this.#older;
  }

  /** Moves all points to one x. */
  gather(x: number): void {
    this.x.fill(x, 0, this.length);
  }

  /** Removes all points from this x on; returns their number. */
  truncate(x: number): number {
    const { length } = this;
    this.length = lowerBound(this.x, length, x);
    this.#older = Math.min(this.#older, this.length);
    return length - this.length;
  }

  #grow(): void {
    const size = Math.min(this.x.length * 2, Math.max(this.#capacity, this.length + 1));
    this.x = resized(this.x, size);
    this.values = resized(this.values, size);
    this.times &&= resized(this.times, size);
  }

  #set(at: number, value: number, time: number): void {
    this.values[at] = value;
    if (this.times !== null) this.times[at] = time;
    else if (!Number.isNaN(time)) {
      this.times = new Float64Array(this.x.length).fill(NaN);
      this.times[at] = time;
    }
  }

  #boilDown(): void {
    const exactFrom = this.length - this.#bounds.exact;
    this.#older = this.#squeeze(this.#older, exactFrom, this.#stretch);
    if (this.#older > this.#bounds.older) {
      this.#older = this.#squeeze(0, this.#older, 4);
      this.#stretch *= 2;
    }
    for (const lane of [this.x, this.values, this.times]) lane?.copyWithin(this.#older, exactFrom, this.length);
    this.length = this.#older + this.#bounds.exact;
  }

  /** Keeps two of every `stretch` points in `[from, end)`, in place; returns the new end. */
  #squeeze(from: number, end: number, stretch: number): number {
    let to = from;
    for (let start = from; start < end; start += stretch) {
      const [low, high] = extremes(this.values, start, Math.min(start + stretch, end));
      to = this.#keep(Math.min(low, high), to);
      if (low !== high) to = this.#keep(Math.max(low, high), to);
    }
    return to;
  }

  #keep(index: number, at: number): number {
    this.x[at] = this.x[index]!;
    this.values[at] = this.values[index]!;
    if (this.times !== null) this.times[at] = this.times[index]!;
    return at + 1;
  }
}

/** The values that a series with these bounds would keep. */
export function boiledDown(values: Float64Array, bounds: Bounds): Float64Array {
  const series = new BoundedSeries(bounds);
  values.forEach((value, place) => series.append(place, value));
  return series.values.subarray(0, series.length);
}

function resized(array: Float64Array<ArrayBuffer>, size: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size);
  larger.set(array);
  return larger;
}

/** The row that is being added, and what has been left out so far. */
export type Taking = {
  /** Number of the row, and of the first row of the present attempt, as far as its beginning is known. */
  row: number;
  attempt: number;
  /** Whether the row's counter stays the same for several rows, all of which are kept. */
  isCoarse: boolean;
  /** Points that a resumed attempt replaced, and values written twice at one x, of which the later counts. */
  replaced: number;
  doubled: number;
};

/** A resume: the metric came again from this x on, first in that row; its greatest x was `top`. */
export type Resume = { readonly from: number; readonly row: number; readonly top: number };

/**
 * A possible resume: `points` holds x, value and time of each point that came again, in turn, until a further one decides; `end`
 * those of one that came again at the greatest x, which decides nothing.
 */
type Again = {
  readonly from: number;
  readonly row: number;
  last: number;
  inserted: number;
  readonly points: number[];
  end: readonly number[];
};
/** Points that are hidden, as others of the same rows were written again from an earlier x on. */
type Held = { readonly from: number; readonly points: readonly number[] };

/** More points at one place of a coarse counter are late rows, numbers. */
const MOST_AGAIN = 3 << 12;

/**
 * The points of one metric. What happens to those that come late, twice or again is decided here, for all formats:
 *
 * A point beyond all others is added. One at an earlier x is late: it is put at its place, and nothing is removed. Points are those of
 * a resumed attempt where an attempt is known to have ended before them, or where they repeat an x that was there and go on from it:
 * then they replace all points from there on.
 */
export class Curve {
  readonly points: BoundedSeries;
  /** The greatest x, that of hidden points included. */
  top = -Infinity;
  /** Number of points, also of those that were reduced. */
  count = 0;
  /** Number of the row that wrote last. */
  row = -1;
  /** Id of the counter that its x are values of; -1: the row's number; null: the counter of its source. */
  apart: number | null = null;
  #again: Again | null = null;
  #held: Held | null = null;

  constructor(bounds: Bounds) {
    this.points = new BoundedSeries(bounds);
  }

  /** Adds a point; returns the resume that it shows, or null. */
  take(x: number, value: number, time: number, taking: Taking): Resume | null {
    if (x <= this.top) return this.#takeEarlier(x, value, time, taking);
    if (this.#held !== null) this.#release();
    if (this.#again !== null) this.#settle(taking);
    this.points.append(x, value, time);
    this.top = x;
    this.count += 1;
    this.row = taking.row;
    return null;
  }

  /** Hides the points from this x on, until the metric is written again. */
  hold(from: number): void {
    this.#release();
    if (this.top < from) return;
    const points = this.#from(from);
    this.#truncate(from);
    this.#held = { from, points };
  }

  /** Moves all points to one x: that of the first row with a better counter. */
  gather(x: number): void {
    this.#release();
    this.points.gather(x);
    this.top = x;
    this.apart = null;
  }

  /** Removes all points from this x on, as an attempt begins there. */
  end(from: number, taking: Taking): void {
    this.#release();
    if (this.top < from) return;
    taking.replaced += this.#truncate(from);
    this.top = this.#lastX;
    this.#again = null;
  }

  #takeEarlier(x: number, value: number, time: number, taking: Taking): Resume | null {
    const isOfNewAttempt = this.row < taking.attempt;
    this.row = taking.row;
    const points = [x, value, time];
    if (isOfNewAttempt) return this.#resume(againAt(points, taking.row), taking);
    if (this.#held !== null && x >= this.#held.from) {
      taking.replaced += this.#held.points.length / 3;
      this.#held = null;
      this.top = this.#lastX;
      return this.take(x, value, time, taking);
    }
    const again = this.#again;
    if (x < this.top && again !== null && x > again.last) {
      again.points.push(...points);
      return this.#resume(again, taking);
    }
    if (x < this.top) this.#note(points, taking);
    else if (again !== null) again.end = points;
    this.#put(x, value, time, taking);
    return null;
  }

  /** Notes a point at an earlier x, which may be the first of a resumed attempt if that x was there. */
  #note(points: number[], { row, isCoarse }: Taking): void {
    const again = this.#again;
    const x = points[0]!;
    if (again !== null && x === again.last && again.points.length < MOST_AGAIN) {
      if (!isCoarse) again.points.length -= points.length;
      again.points.push(...points);
    } else this.#again = this.points.has(x) ? againAt(points, row) : null;
  }

  /** Puts a point at its place. */
  #put(x: number, value: number, time: number, taking: Taking): void {
    const held = this.#held;
    if (held !== null) this.#release();
    const former = taking.isCoarse ? null : this.points.replace(x, value, time);
    if (former === null) {
      this.points.insert(x, value, time);
      this.count += 1;
      if (this.#again !== null) this.#again.inserted += 1;
    } else if (x === this.top && !Object.is(former, value)) taking.doubled += 1;
    if (held !== null) this.hold(held.from);
  }

  #resume(again: Again, taking: Taking): Resume {
    const { top } = this;
    this.#held = null;
    this.count -= again.inserted;
    taking.replaced += this.#truncate(again.from);
    this.#append(again.points);
    this.#append(again.end);
    this.top = this.#lastX;
    this.#again = null;
    return { from: again.from, row: again.row, top };
  }

  /** Decides that points at earlier places were late ones. */
  #settle(taking: Taking): void {
    taking.doubled += this.#again!.points.length / 3;
    this.#again = null;
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#append(held.points);
  }

  #append(points: readonly number[]): void {
    for (let at = 0; at < points.length; at += 3) this.points.append(points[at]!, points[at + 1]!, points[at + 2]);
    this.count += points.length / 3;
  }

  /** The points from this x on. */
  #from(from: number): number[] {
    const { x, values, times, length } = this.points;
    const points: number[] = [];
    for (let at = lowerBound(x, length, from); at < length; at++) points.push(x[at]!, values[at]!, times?.[at] ?? NaN);
    return points;
  }

  /** Removes the points from this x on; returns their number. Between reduced points it is interpolated. */
  #truncate(from: number): number {
    const { points, count } = this;
    const first = points.x[0]!;
    const removed = points.truncate(from);
    if (points.length === 0) this.count = 0;
    else if (points.isExact) this.count -= removed;
    else this.count = Math.min(count, Math.round(((count - 1) * (from - first)) / (this.top - first)));
    return count - this.count;
  }

  get #lastX(): number {
    return this.points.length === 0 ? -Infinity : this.points.x[this.points.length - 1]!;
  }
}

function againAt(points: number[], row: number): Again {
  const from = points[0]!;
  return { from, row, last: from, inserted: 0, points, end: [] };
}
