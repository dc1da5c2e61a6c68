import { seedSummaries, type SeedSummary } from '../../analysis/seed-statistics.js';

/** How curves are drawn, the same in every chart of the window. */
export type ChartChoice = {
  /** null: the axis that the sweep names. `relative`: seconds since the run began; `time`: time of day. */
  readonly xKey: string | null;
  readonly isLogX: boolean;
  /** null: chosen according to the values. */
  readonly isLogY: boolean | null;
  /** The same by metric, for charts that have a choice of their own. */
  readonly ownLogY: Readonly<Record<string, boolean | null>>;
  readonly guides: Guides;
  /** Weight of previous values in the exponential mean, from 0 (none) to below 1. */
  readonly smoothing: number;
  readonly spread: Spread;
  /**
   * Whether, in the summary of seeds, a run that ended early continues with its last value; otherwise it is left out from its end
   * on.
   */
  readonly carriesEnded: boolean;
  /** Whether the y range excludes outliers, so that one spike does not flatten everything else. */
  readonly isClipped: boolean;
  /** The visible part of the x range, as fractions; null: all of it. */
  readonly zoom: { readonly from: number; readonly to: number } | null;
  /** Whether lines also differ in their dashes, for lack of colours. Set by the terminal and the theme rather than the user. */
  readonly hasDashes: boolean;
  /** Position where values are read off, as a fraction of the x range; null: none. */
  readonly cursor: number | null;
};

/** Faint lines behind the curves, at the numbers beside the y axis, or at those of both axes. */
export const guideChoices = ['none', 'lines', 'grid'] as const;
export type Guides = (typeof guideChoices)[number];

/** How seeds of one setting are drawn: each by itself, or as one line with a band. */
export type Spread = 'each' | SeedSummary;
export const spreads: readonly Spread[] = ['each', ...seedSummaries];

export const initialChartChoice: ChartChoice = {
  xKey: null,
  isLogX: false,
  isLogY: null,
  ownLogY: {},
  guides: 'none',
  smoothing: 0,
  spread: 'each',
  carriesEnded: true,
  isClipped: false,
  hasDashes: false,
  zoom: null,
  cursor: null,
};
