import { notFiniteText } from '../../../analysis/seed-statistics.js';
import { tagsText } from '../../../base/annotation.js';
import { parameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { fitDistinct } from '../../../text/distinct-names.js';
import { narrowNumber } from '../../../text/numbers.js';
import type { ChartData } from '../../model/chart-data.js';
import type { CompareView, HeatmapAxes, ValueSummary } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import { type Line, span, type Tone } from '../../surface/span.js';
import type { ChartSetting } from '../../widgets/chart/chart-section.js';
import { scalarText } from '../../widgets/parameters.js';
import type { Delta, Direction, Sample } from './compare-value.js';
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

/** Numbers of runs of a cell: not read yet; and not as far as the others, which a star marks. */
type Waiting = { readonly unread: number; readonly behind: number };

const none: Waiting = { unread: 0, behind: 0 };

/**
 * `9.310 ±0.12 n2`, `0.0059 · 4 NaN`, or `0.02…9.31` if it is not known which end is best. `runs`: number of runs that could have a
 * value.
 */
export function sampleCell(sample: Sample | null, runs: number, waiting = none): Line {
  if (sample === null) return [waiting.unread > 0 ? span('not read yet', 'warn') : span('–', 'faint')];
  const others = notFiniteText(sample);
  if (sample.count === 0) return [span(runs === 1 ? others.replace(/^1 /, '') : others, 'bad')];
  const few = [
    ...runWords(sample, runs, waiting),
    ...(others === '' ? [] : [span(' · ', 'faint'), span(others, 'bad')]),
  ];
  if (sample.kind === 'range') {
    return [span(`${narrowNumber(sample.low)}…${narrowNumber(sample.high)}`, 'value'), ...few];
  }
  const spread = sample.count > 1 ? [span(` ±${roughNumber(sample.deviation)}`, 'dim')] : [];
  return [span(narrowNumber(sample.mean), 'value'), ...spread, ...few];
}

/** Which runs the value is of, where it is not all of them, or where they are not equally far. */
function runWords({ count, nan, infinite }: Sample, runs: number, { unread, behind }: Waiting): Line {
  return [
    ...(behind > 0 ? [span('*', 'warn')] : []),
    ...(count + nan + infinite < runs ? [span(` n${count}`, 'faint')] : []),
    ...(unread > 0 ? [span(` ${unread} unread`, 'warn')] : []),
  ];
}

/** The best cell of a row or column, also marked with a sign. */
export function bestCell(cell: Line): Line {
  const [value, ...rest] = cell;
  return value === undefined ? cell : [span('● ', 'good'), { ...value, tone: 'good' }, ...rest];
}

const verdictTones: Record<Delta['verdict'], Tone> = { better: 'good', worse: 'bad', same: 'dim', unknown: 'plain' };

/** `+0.520 +5.6%`; coloured only if the sweep names a direction. */
export function deltaCell(delta: Delta | null): Line {
  if (delta === null) return [];
  if (delta.absolute === 0) return [span('same', 'dim')];
  const tone = verdictTones[delta.verdict];
  const percent =
    delta.percent === null ? [] : [span(` ${percentText(delta.percent)}`, tone === 'plain' ? 'dim' : tone)];
  return [span(signed(delta.absolute, roughNumber), tone), ...percent];
}

function percentText(percent: number): string {
  if (Math.abs(percent) >= 1000) return `×${narrowNumber(1 + percent / 100)}`;
  if (Math.abs(percent) < 0.05) return '~0%';
  return `${signed(percent, (size) => (size < 10 ? size.toFixed(1) : size.toFixed(0)))}%`;
}

function signed(value: number, text: (size: number) => string): string {
  return (value < 0 ? '-' : '+') + text(Math.abs(value));
}

/** Three significant digits, the precision of a deviation or a difference. */
function roughNumber(value: number): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value) || size < 1e-3 || size >= 1000) return narrowNumber(value);
  return String(Number(value.toPrecision(3)));
}

/** The name with an arrow for the direction, if that is known. A long name keeps its end. */
export function metricName({ key, direction }: Pick<ComparedMetric, 'key' | 'direction'>, width: number): string {
  const arrow = direction === null ? '' : direction === 'maximize' ? ' ↑' : ' ↓';
  const text = cleanText(key);
  const room = width - arrow.length;
  return (text.length <= room ? text : `…${text.slice(text.length - room + 1)}`) + arrow;
}

type Value = RunSummary['parameters'][string];

/** A parameter that differs between subjects. `cells`: for each subject, the distinct values of its runs. */
export type DifferingParameter = { readonly key: string; readonly cells: readonly (readonly (Value | undefined)[])[] };

/**
 * The parameters that do not have the same values in all of these lists of runs, in their original order. What varies in the same
 * way within every list (such as seeds) is not a difference. `undefined` is a value, as a run may lack a parameter.
 */
export function differingParameters(lists: readonly (readonly RunSummary[])[]): DifferingParameter[] {
  const sets = lists.map(valueSets);
  const keys = new Set(sets.flatMap((set) => [...set.keys()]));
  return [...keys].flatMap((key): DifferingParameter[] => {
    const texts = sets.map((set) => identity(set.get(key)));
    if (texts.every((text) => text === texts[0])) return [];
    return [{ key, cells: sets.map((set) => [...(set.get(key)?.values() ?? [undefined])]) }];
  });
}

/** Tags and notes that differ between subjects, by the same rule. */
export function differingAnnotations(lists: readonly (readonly RunSummary[])[]): DifferingParameter[] {
  return differingParameters(lists.map((runs) => runs.map((run) => ({ ...run, parameters: annotationValues(run) }))));
}

function annotationValues({ annotation }: RunSummary): RunSummary['parameters'] {
  const tags = tagsText(annotation);
  const note = annotation?.note ?? null;
  return { ...(tags === '' ? {} : { tags }), ...(note === null ? {} : { note }) };
}

/** The values of every parameter, by their text. */
function valueSets(runs: readonly RunSummary[]): Map<string, Map<string, Value | undefined>> {
  const sets = new Map<string, Map<string, Value | undefined>>();
  const counts = new Map<string, number>();
  for (const { parameters } of runs) {
    for (const key in parameters) {
      let set = sets.get(key);
      if (set === undefined) sets.set(key, (set = new Map<string, Value | undefined>()));
      set.set(JSON.stringify(parameterOf(parameters, key)), parameterOf(parameters, key));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  for (const [key, set] of sets) if (counts.get(key)! < runs.length) set.set('', undefined);
  return sets;
}

/** A text that is equal for equal sets of values. A missing set means that no run of the list has the parameter. */
function identity(set: ReadonlyMap<string, unknown> | undefined): string {
  return set === undefined ? '' : [...set.keys()].sort().join('\n');
}

/** One value as it is, a few beside each other, many as a range or a count; about `width` columns at most. */
export function valuesText(values: readonly (Value | undefined)[], width: number): string {
  const texts = values.map(scalarText);
  const whole = texts.join(' ');
  if (texts.length === 1 || whole.length <= width) return cleanText(whole);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return `${values.length} values`;
  return `${narrowNumber(Math.min(...numbers))}…${narrowNumber(Math.max(...numbers))} (${values.length})`;
}

/** Texts for comparison: whole if all of them fit, otherwise shortened to what distinguishes them (`…N64/last.ckpt`). */
export function withoutCommon(texts: readonly string[], width: number): string[] {
  const distinct = [...new Set(texts)];
  if (distinct.length < 2 || texts.every((text) => textWidth(text) <= width)) return [...texts];
  return texts.map((text) => fitDistinct(text, width, distinct).trimEnd());
}
