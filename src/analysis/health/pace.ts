import { shortNumber } from '../../text/numbers.js';
import { median, quantile } from '../statistics.js';

/** Number of marks kept of a run: they give the duration of any part of it with an error of about a sixtieth of the whole. */
const MARKS = 64;
/** Least length of the stretch that is compared, in ms and in moves: a minute evens out occasional work such as saving. */
const STRETCH_MS = 60_000;
const STRETCH_MOVES = 2;
/** A run that takes so many times as long as its siblings is slow, until it falls below the second factor. */
const SLOW = 2;
const STILL_SLOW = 1.5;
/** Least number of siblings that have made the same steps: of those that differ in nothing but their seed, and of all siblings. */
const LIKE = 2;
const OTHERS = 3;
/**
 * Siblings with other parameters count only if their slower half is at most so many times as slow as the faster half: then no
 * parameter sets the pace.
 */
const AGREEMENT = 1.5;

/** The times at which a run reached its steps. Times: ms in which it could move, from any zero. */
export class PaceMarks {
  readonly #at: number[] = [];
  readonly #step: number[] = [];

  /** Records a step. A step smaller than the last one starts anew, as the run resumed from an earlier checkpoint. */
  note(at: number, step: number): void {
    const last = this.#step.at(-1);
    if (last === step || !Number.isFinite(step)) return;
    if (last !== undefined && step < last) this.#at.length = this.#step.length = 0;
    if (this.#at.length === MARKS) this.#thinOut();
    this.#at.push(at);
    this.#step.push(step);
  }

  /**
   * The last minute or so of its moves; null: it has not moved for long enough. The stretch ends with a move, as nothing is known
   * after it.
   */
  stretch(): { from: number; to: number; ms: number } | null {
    const end = this.#at.length - 1;
    let begin = end;
    while (begin >= 0 && this.#at[end]! - this.#at[begin]! < STRETCH_MS) begin--;
    begin = Math.min(begin, end - STRETCH_MOVES);
    if (begin < 0) return null;
    return { from: this.#step[begin]!, to: this.#step[end]!, ms: this.#at[end]! - this.#at[begin]! };
  }

  /** Time from one step to another, ms; null: the run was not observed at both. */
  msBetween(from: number, to: number): number | null {
    const [begin, end] = [this.#timeAt(from), this.#timeAt(to)];
    return begin === null || end === null ? null : end - begin;
  }

  /** The time at a step, interpolated linearly between two marks. */
  #timeAt(step: number): number | null {
    const [steps, at] = [this.#step, this.#at];
    const next = firstAtLeast(steps, step);
    if (next === steps.length || (next === 0 && steps[0] !== step)) return null;
    if (steps[next] === step) return at[next]!;
    const share = (step - steps[next - 1]!) / (steps[next]! - steps[next - 1]!);
    return at[next - 1]! + share * (at[next]! - at[next - 1]!);
  }

  /** Drops every second mark, but keeps the last. */
  #thinOut(): void {
    for (const marks of [this.#at, this.#step]) {
      const kept = marks.filter((_, index) => index % 2 === 0 || index === marks.length - 1);
      marks.splice(0, marks.length, ...kept);
    }
  }
}

/** Index of the first value that is not below the bound, in ascending values. */
function firstAtLeast(values: readonly number[], bound: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs of the same group. `like`: those that differ in nothing but their seed. */
export type PaceSiblings = { readonly like: readonly PaceMarks[]; readonly all: () => readonly PaceMarks[] };

/**
 * Why a run is slow, in words; null: it is not, or that is unknown. A slow run took at least twice as long as the median of its
 * siblings for the same steps, so that a part that is slow for all of them (a warm-up, an evaluation) does not count.
 *
 * @param wasSlow Whether the run was slow at the last check.
 */
export function slownessOf(own: PaceMarks, siblings: PaceSiblings, wasSlow: boolean): string | null {
  const stretch = own.stretch();
  if (stretch === null) return null;
  const usual = usualMs(siblings, stretch);
  if (usual === null || stretch.ms <= (wasSlow ? STILL_SLOW : SLOW) * usual) return null;
  const rate = (ms: number) => shortNumber((stretch.to - stretch.from) / (ms / 1000), 2);
  return `${rate(stretch.ms)} steps/s, others ${rate(usual)}`;
}

/** The siblings' median time for the same steps; null: too few of them were observed there, or they differ too much. */
function usualMs({ like, all }: PaceSiblings, { from, to }: { from: number; to: number }): number | null {
  const timesOf = (marks: readonly PaceMarks[]) =>
    marks.map((each) => each.msBetween(from, to)).filter((ms) => ms !== null && ms > 0) as number[];
  const alike = timesOf(like);
  if (alike.length >= LIKE) return median(alike);
  const times = timesOf(all()).sort((a, b) => a - b);
  if (times.length < OTHERS || quantile(times, 0.75) > AGREEMENT * quantile(times, 0.25)) return null;
  return median(times);
}
