/** Why a run should end: the value it was judged by, and the one it should have reached. Lower is better. */
export type Verdict = {
  /** Iteration at which it was judged; counts from 1. */
  readonly iteration: number;
  readonly value: number;
  readonly bar: number;
  /** Describes the bar, as in `the best third of 9 runs`. */
  readonly barIs: string;
};

/** A rule applied to the runs of one group. Lower values are better. */
export type Judge = {
  /** Adds the value of a run's next iteration (counted from 1), and judges the run. */
  note(run: string, iteration: number, value: number): Verdict | null;
  /** The values of the run with which siblings are compared, one for each rung that it has passed. */
  passed(run: string): readonly number[];
  /** Takes the values of a past run that `passed` has given before, in place of all its values. */
  recall(run: string, passed: readonly number[]): void;
  /** Judges the run at its rungs beyond the first `judged`, by the present values of all runs; null: it may continue. */
  judgeMissed(run: string, judged: number): Verdict | null;
  /** Removes all values of a run. */
  forget(run: string): void;
};

const shares = new Map([
  [2, 'half'],
  [3, 'third'],
  [4, 'quarter'],
  [5, 'fifth'],
]);

/** A share in words: `the best third of 9 runs`. */
export function bestShare(eta: number, runs: number): string {
  const share = shares.get(eta) ?? `1/${Number(eta.toPrecision(4))}`;
  return `the best ${share} of ${runs} run${runs === 1 ? '' : 's'}`;
}

/** Numbers in ascending order, equal ones included. */
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

  /** Removes one of the values equal to this one, which must exist. */
  remove(value: number): void {
    this.#values.splice(this.below(value), 1);
  }

  /** The number of values below this one. */
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

  /** The median; NaN if there are no values. */
  median(): number {
    const { length } = this.#values;
    const middle = length >> 1;
    if (length === 0) return NaN;
    return length % 2 === 1 ? this.#values[middle]! : (this.#values[middle - 1]! + this.#values[middle]!) / 2;
  }
}

const prefix = 'early_terminate: ';

/** The rule in the outcome of a run that was ended early, from the words of `EarlyStopping`. `isEarlyStop` recognises it. */
export function earlyStopRule(words: string): string {
  return prefix + words;
}

/** Whether the rule that ended a run as done was `early_terminate`, not `stop_when`. */
export function isEarlyStop(rule: string): boolean {
  return rule.startsWith(prefix);
}

/** Adds the values of a run to those of all runs, of which each rung has its own. */
export function addPassed(all: SortedValues[], passed: readonly number[]): void {
  for (const [rung, value] of passed.entries()) (all[rung] ??= new SortedValues()).add(value);
}
