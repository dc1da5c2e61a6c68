import { shortNumber } from '../text/numbers.js';
import type { MetricSummary } from './metric-summary.js';

/** How a table of metrics summarises the seeds of one setting. Apart from the summaries: the command line loads it at each start. */
export const spreads = ['std', 'ci', 'bootstrap', 'range', 'median', 'iqm'] as const;
export type Spread = (typeof spreads)[number];

/** The same in words, for a note below the table. */
export const spreadWords: Readonly<Record<Spread, string>> = {
  std: 'mean ± standard deviation over the seeds',
  ci: 'mean [95 % interval by Student’s t] over the seeds',
  bootstrap: 'mean [95 % interval by bootstrap] over the seeds',
  range: 'mean [lowest, highest] over the seeds',
  median: 'median [quartiles] over the seeds',
  iqm: 'interquartile mean [95 % interval by bootstrap] over the seeds',
};

/** `0.31 ± 0.02`, `0.31 [0.28, 0.35]`; null: no seed has a finite value. */
export function spreadText(summary: MetricSummary, spread: Spread): string | null {
  const { middle, interval } = partsOf(summary, spread);
  if (middle === null) return null;
  if (spread === 'std') return shortNumber(middle) + plusMinus(summary.deviation);
  return interval === null
    ? shortNumber(middle)
    : `${shortNumber(middle)} [${interval.map((end) => shortNumber(end)).join(', ')}]`;
}

/** The central value of a setting's seeds; null: no seed has a finite value. */
export function middleOf(summary: MetricSummary, spread: Spread): number | null {
  return partsOf(summary, spread).middle;
}

function plusMinus(deviation: number | null): string {
  return deviation === null ? '' : ` ± ${shortNumber(deviation, 2)}`;
}

function partsOf(
  summary: MetricSummary,
  spread: Spread,
): { middle: number | null; interval: readonly number[] | null } {
  switch (spread) {
    case 'std':
      return { middle: summary.mean, interval: null };
    case 'ci':
      return { middle: summary.mean, interval: summary.ci95 };
    case 'bootstrap':
      return { middle: summary.mean, interval: summary.bootstrap95 };
    case 'range':
      return { middle: summary.mean, interval: summary.range };
    case 'median':
      return { middle: summary.median, interval: summary.quartiles };
    case 'iqm':
      return { middle: summary.iqm, interval: summary.iqm95 };
  }
}
