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
