import type { HeatmapAxes, ValueSummary } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import type { ChartData, ChartSetting } from '../../widgets/chart/chart-section.js';
import type { DifferingParameter } from './compare-parameters.js';
import type { Direction, Sample } from './compare-value.js';
import type { Heatmap } from './heatmap.js';

/** Everything the compare screen is drawn from. */
export type Comparison = {
  readonly subjects: readonly ComparedSubject[];
  /** Position of the baseline in `subjects`; null: none of them is it. */
  readonly baseline: number | null;
  readonly parameters: readonly DifferingParameter[];
  readonly metrics: readonly ComparedMetric[];
  readonly summary: ValueSummary;
  /** Where `at cursor` reads the curves; null: there is no cursor. */
  readonly cursor: number | null;
  readonly charts: readonly ChartData[];
  readonly setting: ChartSetting;
  /** One for each metric while they are shown. */
  readonly heatmaps: readonly Heatmap[];
  /** What may be on the axes of the heatmap, those with the most values first. */
  readonly axes: readonly string[];
  readonly chosenAxes: HeatmapAxes | null;
  /** Runs whose curves are looked at, those of them that have been read, and all that are compared. */
  readonly curves: { readonly wanted: number; readonly read: number; readonly of: number };
};

export type ComparedSubject = { readonly key: string; readonly label: string; readonly runs: readonly RunSummary[] };

/** `cells`: one for each thing compared; null where it has no value. */
export type ComparedMetric = {
  readonly key: string;
  readonly direction: Direction;
  readonly cells: readonly (Sample | null)[];
};

/** From this many on each has a row instead of a column. */
const many = 7;

/** Whether what is compared stands below each other. Independent of the window, so that keys and picture agree. */
export function isInRows(subjects: { readonly length: number }): boolean {
  return subjects.length >= many;
}
