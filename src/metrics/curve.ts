import { BoundedSeries, type Bounds } from './bounded-series.js';
import { lowerBound } from './downsample.js';

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
