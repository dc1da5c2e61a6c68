/** Runs inside and outside of a condition, and how many of each failed. */
export type TwoByTwo = { readonly inside: Tally; readonly outside: Tally };
export type Tally = { readonly runs: number; readonly failed: number };

/**
 * Fisher's exact test, one-sided: log10 of the probability that at least as many failures lie inside by chance (the upper tail of
 * the hypergeometric distribution). As a logarithm, since for 5,000 runs the probability itself is often too small for a double.
 */
export function fisherLog10({ inside, outside }: TwoByTwo): number {
  const runs = inside.runs + outside.runs;
  const failed = inside.failed + outside.failed;
  const most = Math.min(inside.runs, failed);
  const first =
    logChoose(failed, inside.failed) +
    logChoose(runs - failed, inside.runs - inside.failed) -
    logChoose(runs, inside.runs);
  // The terms of the tail are relative to its first one.
  let [term, sum] = [1, 1];
  for (let count = inside.failed; count < most; count++) {
    const passed = inside.runs - count;
    term *= ((failed - count) * passed) / ((count + 1) * (runs - failed - passed + 1));
    sum += term;
  }
  return Math.min(0, (first + Math.log(sum)) / Math.LN10);
}

/**
 * Fisher's exact test, two-sided: the probability by chance of a table that is as improbable as this one, or more so. Tables count
 * as equally probable up to a relative difference of 1e-7, as in R and scipy.
 */
export function fisherTwoSided({ inside, outside }: TwoByTwo): number {
  const runs = inside.runs + outside.runs;
  const failed = inside.failed + outside.failed;
  const chance = (count: number) =>
    Math.exp(logChoose(failed, count) + logChoose(runs - failed, inside.runs - count) - logChoose(runs, inside.runs));
  const least = Math.max(0, failed - outside.runs);
  const most = Math.min(inside.runs, failed);
  const limit = chance(inside.failed) * (1 + 1e-7);
  let sum = 0;
  for (let count = least; count <= most; count++) if (chance(count) <= limit) sum += chance(count);
  return Math.min(1, sum);
}

/**
 * The G statistic: twice the log-likelihood ratio of two rates against one; 0 where no more runs fail inside than outside. It
 * orders all but the smallest tables as Fisher's p does, and is fast, so it selects what the exact test is applied to.
 */
export function gStatistic({ inside, outside }: TwoByTwo): number {
  const runs = inside.runs + outside.runs;
  const failed = inside.failed + outside.failed;
  if (inside.runs === 0 || outside.runs === 0 || inside.failed * outside.runs <= outside.failed * inside.runs) return 0;
  const cell = (seen: number, of: number, all: number) =>
    seen === 0 ? 0 : seen * Math.log((seen * runs) / (of * all));
  return (
    2 *
    (cell(inside.failed, inside.runs, failed) +
      cell(outside.failed, outside.runs, failed) +
      cell(inside.runs - inside.failed, inside.runs, runs - failed) +
      cell(outside.runs - outside.failed, outside.runs, runs - failed))
  );
}

/** Logarithms of 0!, 1!, 2! …, computed as needed. */
const logFactorials = [0];

function logFactorial(count: number): number {
  for (let next = logFactorials.length; next <= count; next++) {
    logFactorials.push(logFactorials[next - 1]! + Math.log(next));
  }
  return logFactorials[count]!;
}

function logChoose(from: number, count: number): number {
  return logFactorial(from) - logFactorial(count) - logFactorial(from - count);
}
