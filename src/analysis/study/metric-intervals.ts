import { groupBy } from '../../base/group-by.js';
import type { Interval } from '../bootstrap.js';
import { mean } from '../statistics.js';
import { meanInterval } from './clustered.js';
import { signedRankTest } from './signed-ranks.js';

/** The seeds and the base model of a run, by which runs are paired. */
export type Origin = {
  /** Its seeds, which runs of other settings have too; null: it has none. */
  readonly pair: string | null;
  /** The model that it started from; empty: none that the sweep made. */
  readonly base: string;
};

/** The value of a metric that stands for a run. */
export type Result = Origin & { readonly value: number };

/** With fewer pairs no signed-rank test falls below .05. */
export const LEAST_PAIRS = 6;

/** Metrics of several runs: their values by name, null where a run has none. */
export type Measured = readonly (Origin & { readonly values: Readonly<Record<string, number | null>> })[];

/** The results of the runs with a finite value of a metric. */
export function resultsOf(measured: Measured, key: string): Result[] {
  return measured.flatMap(({ values, ...origin }) => {
    const value = values[key];
    return value != null && Number.isFinite(value) ? [{ ...origin, value }] : [];
  });
}

/** A mean over runs. `interval`: 95 %, by Student’s t over base models; where they share one, over the runs. Null: of one run. */
export type MeanEstimate = {
  readonly mean: number;
  readonly interval: Interval | null;
  readonly runs: number;
  readonly bases: number;
};

/** Two settings beside each other, by the runs of the same seeds and base model. */
export type Difference = MeanEstimate & {
  /** Number of base models whose runs differ in the direction of the mean. */
  readonly alike: number;
  /** Signed ranks of the pairs, exact; null: too few pairs for any answer below .05. */
  readonly p: number | null;
};

/** Null: there are no values. */
export function meanEstimate(results: readonly Result[]): MeanEstimate | null {
  const middle = mean(results.map(({ value }) => value));
  if (middle === null) return null;
  const bases = new Set(results.map(({ base }) => base)).size;
  return {
    mean: middle,
    interval: meanInterval(results.map(({ base, value }) => ({ cluster: base, value }))),
    runs: results.length,
    bases,
  };
}

/** `one` less `other`; null: they share no seeds. */
export function difference(one: readonly Result[], other: readonly Result[]): Difference | null {
  const partners = new Map(other.map((result) => [keyOf(result), result.value]));
  const pairs = one.flatMap((result) => {
    const partner = result.pair === null ? undefined : partners.get(keyOf(result));
    return partner === undefined ? [] : [{ ...result, value: result.value - partner }];
  });
  const estimate = meanEstimate(pairs);
  if (estimate === null) return null;
  const means = [...groupBy(pairs, ({ base }) => base).values()].map((own) => mean(own.map(({ value }) => value))!);
  const alike = means.filter((each) => Math.sign(each) === Math.sign(estimate.mean)).length;
  const p = pairs.length < LEAST_PAIRS ? null : signedRankTest(pairs.map(({ value }) => value));
  return { ...estimate, alike, p };
}

function keyOf({ pair, base }: Origin): string {
  return JSON.stringify([pair, base]);
}
