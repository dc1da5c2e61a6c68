import { cleanText } from '../../../text/display-text.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { CompareView, HeatmapAxes, ValueSummary } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import type { ChartSetting } from '../../widgets/chart/chart-section.js';
import type { ChartData } from '../../model/curves/chart-data.js';
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

/**
 * `cells`: one per subject; null: it has no value. `unread`: number of its runs of which something is not read yet. `behind`: number of
 * its runs with a value that are not as far as the others.
 */
export type ComparedMetric = {
  readonly key: string;
  readonly direction: Direction;
  readonly cells: readonly (Sample | null)[];
  readonly unread: readonly number[];
  readonly behind: readonly number[];
};

/** From this number of subjects on, each has a row instead of a column. */
const many = 7;

/** Whether subjects are shown as rows. Independent of the window, so that keys and picture agree. */
export function isInRows(subjects: { readonly length: number }): boolean {
  return subjects.length >= many;
}

/** `last`, or `at progress/episodes 12400`. */
export function summaryWords({ summary, cursor, setting }: Pick<Comparison, 'summary' | 'cursor' | 'setting'>): string {
  return summary === 'at cursor' && cursor !== null ? `at ${cleanText(setting.xKey)} ${narrowNumber(cursor)}` : summary;
}

/** Rows of the heading of the table whose columns are the subjects. */
export const headRows = 2;

/** Rows below that heading. */
export function bodyRows({ parameters, metrics, baseline }: Comparison): number {
  const [settings, space, heading] = [Math.max(1, parameters.length), 1, 1];
  return settings + space + (parameters.length === 0 ? 0 : heading) + heading + metrics.length * rowsEach(baseline);
}

function rowsEach(baseline: number | null): 1 | 2 {
  return baseline === null ? 1 : 2;
}

/** Rows of either table with its heading. */
export function tableRows(comparison: Comparison): number {
  const { subjects } = comparison;
  return isInRows(subjects) ? subjects.length + 1 : headRows + bodyRows(comparison);
}

/** Scroll extent of a view: lines or rows, columns, and visible lines. `height`: rows of the screen. */
export function extentOf(
  comparison: Comparison,
  view: CompareView,
  height: number,
): { readonly length: number; readonly columns: number; readonly page: number } {
  const { subjects, parameters, metrics, baseline, charts, heatmaps } = comparison;
  if (view === 'overlay') return { length: charts.length, columns: 1, page: 1 };
  if (view === 'heatmap') {
    const longest = Math.max(0, ...heatmaps.map(({ down }) => down.length));
    return { length: longest, columns: Math.max(1, ...heatmaps.map(({ across }) => across.length)), page: 1 };
  }
  if (!isInRows(subjects))
    return { length: bodyRows(comparison), columns: 1, page: Math.max(1, height - headRows - 2) };
  const hasGroups = subjects.some(({ runs }) => runs.length > 1);
  const columns = Number(hasGroups) + parameters.length + metrics.length * rowsEach(baseline);
  return { length: subjects.length, columns, page: Math.max(1, height - 3) };
}
