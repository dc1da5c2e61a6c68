import { median } from '../../../analysis/statistics.js';
import { isMiss, type Verdict } from './verdict.js';

/** A run, with the moment when an ideal observer of its episodes knew the secret. */
export type ToldRun = {
  readonly verdict: Verdict;
  /**
   * Episodes after which the rewards left only one possible secret; null: several were left at the end. Undefined: the
   * run was not observed.
   */
  readonly determinedAfter: number | null | undefined;
};

/** How soon the episodes of a setting's runs determined the secret, and how much later the weights knew it. */
export type Told = {
  /** Number of runs that were observed and have a verdict. */
  readonly runs: number;
  /** Episodes until the secret was determined: median over these runs; one in which it never was counts as infinite. */
  readonly median: number;
  /**
   * Ratio of the episodes until memorised to those until determined: median over the runs in which it was determined; one that did
   * not memorise counts as infinite. Null: there are none.
   */
  readonly wasted: number | null;
};

/** Summary of a setting's runs; null: none of them was observed and has ended. */
export function toldOf(runs: readonly ToldRun[]): Told | null {
  const judged = runs.flatMap(({ verdict, determinedAfter }) => {
    const took = tookOf(verdict);
    return took === null || determinedAfter === undefined ? [] : [{ told: determinedAfter ?? Infinity, took }];
  });
  if (judged.length === 0) return null;
  const ratios = judged.filter(({ told }) => told > 0 && Number.isFinite(told)).map(({ told, took }) => took / told);
  return { runs: judged.length, median: median(judged.map(({ told }) => told))!, wasted: median(ratios) };
}

/** Episodes until memorised, Infinity if it failed to; null: there is no verdict (yet). */
export function tookOf(verdict: Verdict): number | null {
  if (verdict.kind === 'memorised') return verdict.episodes;
  return isMiss(verdict) ? Infinity : null;
}
