import { median } from './statistics.js';
import { isMiss, type Verdict } from './verdict.js';

/** A run beside the ideal observer of its own episodes. */
export type ToldRun = {
  readonly verdict: Verdict;
  /**
   * Episodes after which their rewards left only one secret; null: several still fitted at the end. Undefined: the run was not
   * observed.
   */
  readonly determinedAfter: number | null | undefined;
};

/** How soon the runs of a setting had been told the secret, and how much later their weights knew it. */
export type Told = {
  /** Runs that were observed and can be judged. */
  readonly runs: number;
  /** Episodes until it was determined: median over them, those of whom it never was as infinite. */
  readonly median: number;
  /**
   * Episodes until memorised over episodes until determined: median over the runs of whom it was determined, those that did not
   * memorise as infinite. Null: there are none.
   */
  readonly wasted: number | null;
};

/** Null: no run of it was observed and has ended. */
export function toldOf(runs: readonly ToldRun[]): Told | null {
  const judged = runs.flatMap(({ verdict, determinedAfter }) => {
    const took = tookOf(verdict);
    return took === null || determinedAfter === undefined ? [] : [{ told: determinedAfter ?? Infinity, took }];
  });
  if (judged.length === 0) return null;
  const ratios = judged.filter(({ told }) => told > 0 && Number.isFinite(told)).map(({ told, took }) => took / told);
  return { runs: judged.length, median: median(judged.map(({ told }) => told))!, wasted: median(ratios) };
}

/** Null: it cannot be judged, or not yet. */
function tookOf(verdict: Verdict): number | null {
  if (verdict.kind === 'memorised') return verdict.episodes;
  return isMiss(verdict) ? Infinity : null;
}
