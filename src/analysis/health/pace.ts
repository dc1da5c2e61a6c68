import { shortNumber } from '../../text/numbers.js';
import { median, quantile } from '../statistics.js';

/** Kept of a run: enough to tell how long any stretch of it took, to a sixtieth of its length. */
const MARKS = 64;
/** The stretch that is looked at, ms and moves: a minute evens out what happens now and then (saving, a slow batch). */
const STRETCH_MS = 60_000;
const STRETCH_MOVES = 2;
/** A run that takes so many times as long as its siblings is slow, and is so until it takes less than the other. */
const SLOW = 2;
const STILL_SLOW = 1.5;
/** Siblings that must have taken the same steps: of those that differ in nothing but their seed, and of all others. */
const LIKE = 2;
const OTHERS = 3;
/** Other siblings count only if the slower half of them is not much slower than the faster: then no parameter sets the pace. */
const AGREEMENT = 1.5;

/** When a run came to which of its steps. Times: ms in which it could move, from any zero. */
export class PaceMarks {
  readonly #at: number[] = [];
  readonly #step: number[] = [];

  /** It is at this step. A step that is smaller than the last begins anew: the run took up an earlier checkpoint. */
  note(at: number, step: number): void {
    const last = this.#step.at(-1);
    if (last === step || !Number.isFinite(step)) return;
    if (last !== undefined && step < last) this.#at.length = this.#step.length = 0;
    if (this.#at.length === MARKS) this.#thinOut();
    this.#at.push(at);
    this.#step.push(step);
  }

  /** The last minute or so of its moves; null: it has not moved for long enough. It ends with a move: what comes is not known. */
  stretch(): { from: number; to: number; ms: number } | null {
    const end = this.#at.length - 1;
    let begin = end;
    while (begin >= 0 && this.#at[end]! - this.#at[begin]! < STRETCH_MS) begin--;
    begin = Math.min(begin, end - STRETCH_MOVES);
    if (begin < 0) return null;
    return { from: this.#step[begin]!, to: this.#step[end]!, ms: this.#at[end]! - this.#at[begin]! };
  }

  /** How long it took from one step to another, ms; null: it was not seen at both. */
  msBetween(from: number, to: number): number | null {
    const [begin, end] = [this.#timeAt(from), this.#timeAt(to)];
    return begin === null || end === null ? null : end - begin;
  }

  /** Between two marks it went evenly. */
  #timeAt(step: number): number | null {
    const [steps, at] = [this.#step, this.#at];
    const next = firstAtLeast(steps, step);
    if (next === steps.length || (next === 0 && steps[0] !== step)) return null;
    if (steps[next] === step) return at[next]!;
    const share = (step - steps[next - 1]!) / (steps[next]! - steps[next - 1]!);
    return at[next - 1]! + share * (at[next]! - at[next - 1]!);
  }

  /** Every second one, but the last. */
  #thinOut(): void {
    for (const marks of [this.#at, this.#step]) {
      const kept = marks.filter((_, index) => index % 2 === 0 || index === marks.length - 1);
      marks.splice(0, marks.length, ...kept);
    }
  }
}

/** Place of the first value that is no less than the bound, in values that rise. */
function firstAtLeast(values: readonly number[], bound: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs of the same group. `like`: those of them that differ in nothing but their seed. */
export type PaceSiblings = { readonly like: readonly PaceMarks[]; readonly all: () => readonly PaceMarks[] };

/**
 * Why a run is slow, in words; null: it is not, or nobody can tell. It took at least twice as long as the median of its siblings
 * for the same steps, so that what is slow for all of them (a warm-up, an evaluation) is slow for none.
 *
 * @param wasSlow Whether it was at the look before.
 */
export function slownessOf(own: PaceMarks, siblings: PaceSiblings, wasSlow: boolean): string | null {
  const stretch = own.stretch();
  if (stretch === null) return null;
  const usual = usualMs(siblings, stretch);
  if (usual === null || stretch.ms <= (wasSlow ? STILL_SLOW : SLOW) * usual) return null;
  const rate = (ms: number) => shortNumber((stretch.to - stretch.from) / (ms / 1000), 2);
  return `${rate(stretch.ms)} steps/s, others ${rate(usual)}`;
}

/** Of the siblings, for the same steps; null: too few of them were seen there, or they differ too much. */
function usualMs({ like, all }: PaceSiblings, { from, to }: { from: number; to: number }): number | null {
  const timesOf = (marks: readonly PaceMarks[]) =>
    marks.map((each) => each.msBetween(from, to)).filter((ms) => ms !== null && ms > 0) as number[];
  const alike = timesOf(like);
  if (alike.length >= LIKE) return median(alike);
  const times = timesOf(all()).sort((a, b) => a - b);
  if (times.length < OTHERS || quantile(times, 0.75) > AGREEMENT * quantile(times, 0.25)) return null;
  return median(times);
}
