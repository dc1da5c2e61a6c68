import { extremes, lowerBound, upperBound } from './downsample.js';

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
