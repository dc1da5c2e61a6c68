/** Why a run should end: the value it was judged by, and the one it should have reached. The lower, the better. */
export type Verdict = {
  /** Iteration at which it was judged; counts from 1. */
  readonly iteration: number;
  readonly value: number;
  readonly bar: number;
  /** What the bar is, as in `the best third of 9 runs`. */
  readonly barIs: string;
};

/** One rule at work on the runs of one group. Values are such that the lower is the better. */
export type Judge = {
  /** Takes in the value of a run's next iteration (counted from 1), and judges the run. */
  note(run: string, iteration: number, value: number): Verdict | null;
  /** At how many rungs the run has been. */
  rungs(run: string): number;
  /** Judges the run at the rungs that it has been at beyond so many, by what all runs have said by now; null: it may go on. */
  judgeMissed(run: string, judged: number): Verdict | null;
  /** All that the run has said no longer counts. */
  forget(run: string): void;
};

const shares = new Map([
  [2, 'half'],
  [3, 'third'],
  [4, 'quarter'],
  [5, 'fifth'],
]);

/** `the best third of 9 runs`. */
export function bestShare(eta: number, runs: number): string {
  const share = shares.get(eta) ?? `1/${Number(eta.toPrecision(4))}`;
  return `the best ${share} of ${runs} run${runs === 1 ? '' : 's'}`;
}

/** Numbers in ascending order; the same number may be there several times. */
export class SortedValues {
  readonly #values: number[] = [];

  get count(): number {
    return this.#values.length;
  }

  /** @param index Below `count`. */
  at(index: number): number {
    return this.#values[index]!;
  }

  add(value: number): void {
    this.#values.splice(this.below(value), 0, value);
  }

  /** Removes one of the values that equal this one, which must be there. */
  remove(value: number): void {
    this.#values.splice(this.below(value), 1);
  }

  /** How many are below a value. */
  below(value: number): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The middle one, or the mean of the two in the middle; of nothing NaN. */
  median(): number {
    const { length } = this.#values;
    const middle = length >> 1;
    if (length === 0) return NaN;
    return length % 2 === 1 ? this.#values[middle]! : (this.#values[middle - 1]! + this.#values[middle]!) / 2;
  }
}

const prefix = 'early_terminate: ';

/** The rule of an outcome whose run was ended early, of what `EarlyStopping` says: what `isEarlyStop` knows it by. */
export function earlyStopRule(words: string): string {
  return prefix + words;
}

/** Whether the rule that ended a run as done was `early_terminate`, and not a `stop_when`. */
export function isEarlyStop(rule: string): boolean {
  return rule.startsWith(prefix);
}
