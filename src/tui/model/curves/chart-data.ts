import type { MetricsReport } from '../../../metrics/describe-sources.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import { hasEnded, isBroken } from '../../../base/run-words.js';
import type { RunSummary, Series } from '../../state/port.js';
import type { WallMetrics } from '../../state/run-choice.js';
import type { Tone } from '../../surface/span.js';

/** One run in a chart. */
export type Curve = {
  /** Label in the legend; empty: left out. */
  readonly label: string;
  readonly tone: Tone;
  readonly series: Series;
  /** What it shares its name in the legend and its colour with, where runs of several settings do: `lr 0.1`. */
  readonly family?: string | undefined;
  /** Last values of all runs of its name in the legend, drawn or not, where there are several. */
  readonly together?: readonly number[] | undefined;
  /** Setting of the run; curves of one setting may be drawn as one. Absent: always drawn by itself. */
  readonly setting?: string | undefined;
  /** Whether the run has ended, so that its curve is complete. */
  readonly isOver?: boolean;
  /** Its last value as the list and the tables show it; absent: that of the series, of which a part may not have been read. */
  readonly last?: number | undefined;
  /** Whether it diverged or broke otherwise; it then counts in no mean with runs that did not. */
  readonly isBroken?: boolean;
  /** How far it has come, in the unit of the other curves. Absent: unknown. */
  readonly place?: number | undefined;
};

/** What is known of a run beside its curve. @param place Its own of `placesOf`. */
export function knownOf(
  run: RunSummary,
  metric: string,
  place: number | undefined,
): Pick<Curve, 'isOver' | 'last' | 'isBroken' | 'place'> {
  const value = Object.hasOwn(run.metrics, metric) ? run.metrics[metric] : undefined;
  const last = value === null ? Number.NaN : value;
  return { isOver: hasEnded(run.state), isBroken: isBroken(run), last, place };
}

/** A line given by theory, or a declared limit: `value`, or `value` times x. */
export type Reference = {
  readonly label: string;
  readonly value: number;
  readonly isPerX: boolean;
  /** Whether the values need not come near it: then it is not shown, so that they stay readable. */
  readonly isLimit?: true;
};

/** Unit of the x axis: plain numbers, seconds, or Unix seconds. */
export type XUnit = 'number' | 'seconds' | 'clock';

/** What is known of the selection beyond its summary. */
export type Detail = {
  /** The chosen metric comes first. */
  readonly charts: readonly ChartData[];
  /** All metrics that have been written, for the wall of charts. `chartOf`: the chart of each. */
  readonly wall: () => WallMetrics;
  readonly chartOf: (metric: string) => ChartData;
  /** The step of the point of the first curve nearest to an x; null: unknown. */
  readonly stepAt: (metric: string, x: number) => number | null;
  readonly xKey: string;
  readonly xUnit: XUnit;
  /** How the charts are drawn. */
  readonly choice: ChartChoice;
  /** A note for all charts, such as that not every run is drawn; null: none. */
  readonly note: string | null;
  readonly log: readonly string[];
  /** Report on the metrics of the single selected run; null: several runs, or unknown. */
  readonly report?: (() => MetricsReport) | null;
  /** False until the files of the selection have been read. */
  readonly isLoaded: boolean;
};

export type ChartData = {
  readonly metric: string;
  readonly curves: readonly Curve[];
  /** Lines given by theory, and declared limits. */
  readonly references?: readonly Reference[];
};
