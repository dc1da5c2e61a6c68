/** How the curves are drawn; the same for every chart of the window. */
export type ChartChoice = {
  /** null: what the sweep says. `relative` and `time` are the seconds since the run began and the time of day. */
  readonly xKey: string | null;
  readonly isLogX: boolean;
  readonly isLogY: boolean;
  /** Weight of what came before in the exponential mean, 0 (none) to below 1. */
  readonly smoothing: number;
  readonly spread: Spread;
  /** Leaves the farthest values out of the range of y, so that one spike does not flatten all else. */
  readonly isClipped: boolean;
  /** The part of the x range that is shown, as fractions of it; null: all. */
  readonly zoom: { readonly from: number; readonly to: number } | null;
  /** Where values are read off, as a fraction of the x range; null: nowhere. */
  readonly cursor: number | null;
};

/** What stands for the seeds of one setting: each by itself, or their mean or interquartile mean with a band. */
export const spreads = ['each', 'std', 'band', 'iqm'] as const;
export type Spread = (typeof spreads)[number];

export const initialChartChoice: ChartChoice = {
  xKey: null,
  isLogX: false,
  isLogY: false,
  smoothing: 0,
  spread: 'each',
  isClipped: false,
  zoom: null,
  cursor: null,
};
