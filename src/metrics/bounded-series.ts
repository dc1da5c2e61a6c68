import { extremes, lowerBound } from './downsample.js';

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
 * The values of one metric by row, in bounded memory: the newest are exact, older ones are reduced to the lowest and the highest of
 * equal stretches, so that a chart keeps every peak. A stretch doubles each time the older part is full. (Stretches are equal up to
 * `older × exact / 2` points, 67 million by default; beyond, the latest of them are shorter.)
 */
export class BoundedSeries {
  /**
   * Row number and value of each point; only the first `length` entries are valid. Rows ascend. Read-only, and valid until the next
   * change.
   */
  rows = new Float64Array(64);
  values = new Float64Array(64);
  length = 0;
  readonly #bounds: Bounds;
  /** Number of points in the older part. */
  #older = 0;
  /** Number of exact points that one stretch of the older part replaces. */
  #stretch = 4;

  constructor(bounds: Bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  /** Memory of the points. */
  get bytes(): number {
    return this.rows.byteLength + this.values.byteLength;
  }

  /** Whether every point is still exact. */
  get isExact(): boolean {
    return this.#older === 0;
  }

  /** Adds a point; it replaces the last one if the row is the same. */
  append(row: number, value: number): void {
    if (this.length > 0 && this.rows[this.length - 1] === row) {
      this.values[this.length - 1] = value;
      return;
    }
    if (this.length === this.#capacity) this.#boilDown();
    if (this.length === this.rows.length) this.#grow();
    this.rows[this.length] = row;
    this.values[this.length++] = value;
  }

  /** Removes all points from this row on. */
  truncate(row: number): void {
    this.length = lowerBound(this.rows, this.length, row);
    this.#older = Math.min(this.#older, this.length);
  }

  get #capacity(): number {
    return this.#bounds.older + 2 * this.#bounds.exact;
  }

  #grow(): void {
    const size = Math.min(this.rows.length * 2, Math.max(this.#capacity, this.length + 1));
    this.rows = resized(this.rows, size);
    this.values = resized(this.values, size);
  }

  #boilDown(): void {
    const exactFrom = this.length - this.#bounds.exact;
    this.#older = this.#squeeze(this.#older, exactFrom, this.#stretch);
    if (this.#older > this.#bounds.older) {
      this.#older = this.#squeeze(0, this.#older, 4);
      this.#stretch *= 2;
    }
    this.rows.copyWithin(this.#older, exactFrom, this.length);
    this.values.copyWithin(this.#older, exactFrom, this.length);
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
    this.rows[at] = this.rows[index]!;
    this.values[at] = this.values[index]!;
    return at + 1;
  }
}

/** The values that a series with these bounds would keep. */
export function boiledDown(values: Float64Array, bounds: Bounds): Float64Array {
  const series = new BoundedSeries(bounds);
  values.forEach((value, row) => series.append(row, value));
  return series.values.subarray(0, series.length);
}

function resized(array: Float64Array<ArrayBuffer>, size: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size);
  larger.set(array);
  return larger;
}
