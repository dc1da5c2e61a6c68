import { seedSummaries, type SeedSummary } from '../../analysis/seed-statistics.js';

/** How the curves are drawn; the same for every chart of the window. */
export type ChartChoice = {
  /** null: what the sweep says. `relative` and `time` are the seconds since the run began and the time of day. */
  readonly xKey: string | null;
  readonly isLogX: boolean;
  /** null: as the values need it. */
  readonly isLogY: boolean | null;
  /** Weight of what came before in the exponential mean, 0 (none) to below 1. */
  readonly smoothing: number;
  readonly spread: Spread;
  /** Whether a run that ended before the others counts on with its last value where seeds are drawn as one; else it is left out from its end on. */
  readonly carriesEnded: boolean;
  /** Leaves the farthest values out of the range of y, so that one spike does not flatten all else. */
  readonly isClipped: boolean;
  /** The part of the x range that is shown, as fractions of it; null: all. */
  readonly zoom: { readonly from: number; readonly to: number } | null;
  /** Whether lines are told apart by their dashes, too: where there are no colours. Nobody chooses it; the terminal and the theme do. */
  readonly hasDashes: boolean;
  /** Where values are read off, as a fraction of the x range; null: nowhere. */
  readonly cursor: number | null;
};

/** What stands for the seeds of one setting: each by itself, or one line with a band. */
export type Spread = 'each' | SeedSummary;
export const spreads: readonly Spread[] = ['each', ...seedSummaries];

export const initialChartChoice: ChartChoice = {
  xKey: null,
  isLogX: false,
  isLogY: null,
  smoothing: 0,
  spread: 'each',
  carriesEnded: true,
  isClipped: false,
  hasDashes: false,
  zoom: null,
  cursor: null,
};
