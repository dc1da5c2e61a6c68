import type { HeatmapAxes, ValueSummary } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import type { ChartData, ChartSetting } from '../../widgets/chart/chart-section.js';
import type { DifferingParameter } from './compare-parameters.js';
import type { Direction, Sample } from './compare-value.js';
import type { Heatmap } from './heatmap.js';

/** Everything the compare screen is drawn from. */
export type Comparison = {
  readonly subjects: readonly ComparedSubject[];
  /** Position of the baseline in `subjects`; null: it is not among them. */
  readonly baseline: number | null;
  readonly parameters: readonly DifferingParameter[];
  readonly metrics: readonly ComparedMetric[];
  readonly summary: ValueSummary;
  /** Position for `at cursor`; null: there is no cursor. */
  readonly cursor: number | null;
  readonly charts: readonly ChartData[];
  readonly setting: ChartSetting;
  /** One per metric while heatmaps are shown. */
  readonly heatmaps: readonly Heatmap[];
  /** Possible axes of the heatmap, those with the most values first. */
  readonly axes: readonly string[];
  readonly chosenAxes: HeatmapAxes | null;
  /** Number of runs whose curves are wanted, of those that have been read, and of all compared runs. */
  readonly curves: { readonly wanted: number; readonly read: number; readonly of: number };
};

export type ComparedSubject = { readonly key: string; readonly label: string; readonly runs: readonly RunSummary[] };

/** `cells`: one per subject; null: it has no value. */
export type ComparedMetric = {
  readonly key: string;
  readonly direction: Direction;
  readonly cells: readonly (Sample | null)[];
};

/** From this number of subjects on, each has a row instead of a column. */
const many = 7;

/** Whether subjects are shown as rows. Independent of the window, so that keys and picture agree. */
export function isInRows(subjects: { readonly length: number }): boolean {
  return subjects.length >= many;
}
