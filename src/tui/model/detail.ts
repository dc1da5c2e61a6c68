import { alikeMetrics } from '../../analysis/alike-metrics.js';
import { inMetricOrder, isCounter, isCountingOne, type MetricsToShow } from '../../analysis/metric-order.js';
import { tellingParameter } from '../../analysis/parameters/settings.js';
import { groupBy } from '../../base/group-by.js';
import { lazy } from '../../base/lazy.js';
import { Memo } from '../../base/memo.js';
import { parameterOf } from '../../base/scalar.js';
import { distinctNames } from '../../text/distinct-names.js';
import type { MetricReader, RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import type { WallMetrics } from '../state/run-choice.js';
import type { Tone } from '../surface/span.js';
import {
  type ChartData,
  type Curve,
  type CurveColours,
  type Detail,
  knownOf,
  mostColours,
  referenceLines,
  seriesOver,
  type XAxis,
  xAxisOf,
  type XChoice,
  xChoicesOf,
} from './chart-data.js';
import type { History, Wanted } from './history.js';
import type { ListModel } from './list-model.js';
import { parameterText, varyingKeys } from './varying-parameters.js';
import { shownFor } from './selection.js';
import { placesOf, soundRuns } from './tally.js';
import type { Branch, TreeNode } from './tree/branch.js';

/** Maximum number of charts; a large terminal fits this many. */
const mostCharts = 9;

/** The files to read for showing a node. `logLines`: number of lines from the end of a run's log. */
export function wantedFor(node: TreeNode | undefined, listModel: ListModel, logLines: number): Wanted {
  const isRun = node?.kind === 'run';
  return {
    metrics: subjectsOf(node, listModel).drawn.map(({ run }) => run.directory),
    log: isRun ? node.run.directory : null,
    logLines: isRun ? logLines : 0,
  };
}

/** What has been read of a node. Curves of the chosen metric come first, then those that its group or the sweep shows. */
export function detailOf(
  node: TreeNode | undefined,
  listModel: ListModel,
  history: History,
  { chart: { xKey }, hovered }: Pick<UiState, 'chart' | 'hovered'>,
): ReadDetail {
  const { drawn: all, begun } = subjectsOf(node, listModel);
  const pointed = hovered === null ? undefined : listModel.rows.find(({ key }) => key === hovered);
  const drawn = withHighlight(all, pointed, listModel.colours);
  const sources = sourcesOf(drawn, history);
  const readers = sources.map(({ reader }) => reader);
  const shown = shownFor(drawn[0]?.run, listModel);
  const axis = xAxisOf(xKey, shown.x);
  const places = placesOf(
    sources.map(({ run }) => run),
    shown.x,
  );
  // Only the metrics on the screen are read, even if there are a hundred.
  const known = new Map<string, ChartData>();
  const chartOf = (metric: string): ChartData => {
    let chart = known.get(metric);
    if (chart === undefined) {
      const lasts = lastValues(begun, metric);
      const curves = sources.map((source, index) => curve(source, { axis, metric, place: places[index], lasts }));
      known.set(metric, (chart = { metric, curves, references: referenceLines(metric, axis.key, sources) }));
    }
    return chart;
  };
  return {
    charts: chartKeys(listModel.metric, shown.show, readers).map(chartOf),
    wall: lazy(() => wallMetrics({ history, of: node?.key ?? '', readers }, shown)),
    chartOf,
    stepAt: (metric, x) => stepAt(readers[0], axis, metric, x),
    xKey: axis.key,
    xUnit: axis.unit,
    note: begun.length > drawn.length ? `${drawn.length} of ${begun.length} runs` : null,
    log: node?.kind === 'run' ? history.log(node.run.directory) : [],
    isLoaded: sources.length === drawn.length,
    report: node?.kind === 'run' ? reportOf(history.reader(node.run.directory)) : null,
  };
}

/** The step of the point of a curve nearest to `x` of the axis; null: the curve has no points, or its steps are unknown. */
function stepAt(reader: MetricReader | undefined, axis: XAxis, metric: string, x: number): number | null {
  if (reader === undefined) return null;
  const [over, bySteps] = [seriesOver(axis, reader, metric), reader.series(metric)];
  // Over another axis, a curve may have fewer points than steps.
  if (over.x.length === 0 || over.x.length !== bySteps.x.length) return null;
  const nearest = over.x.reduce((best, each, at) => (Math.abs(each - x) < Math.abs(over.x[best]! - x) ? at : best), 0);
  return bySteps.x[nearest]!;
}

/** The run report, built at most once per look at the files and only when requested. */
function reportOf(reader: MetricReader | undefined): NonNullable<Detail['report']> | null {
  return reader?.describe === undefined ? null : lazy(() => reader.describe!());
}

/** A detail without the chart settings, which change with a key alone. */
export type ReadDetail = Omit<Detail, 'choice'>;

/** Number of charts with at least one curve; a run that has not started has a chart without curves. */
export function filledCharts({ charts }: ReadDetail): number {
  return charts.filter(({ curves }) => curves.some(({ series }) => series.y.length > 0)).length;
}

/** The possible x axes for a node. */
export function xChoicesFor(node: TreeNode | undefined, listModel: ListModel, history: History): XChoice[] {
  const { drawn } = subjectsOf(node, listModel);
  const readers = sourcesOf(drawn, history).map(({ reader }) => reader);
  return xChoicesOf(shownFor(drawn[0]?.run, listModel).x, readers);
}

type Source = Subject & { readonly reader: MetricReader };

/** The subjects whose metrics have been read. */
function sourcesOf(subjects: readonly Subject[], history: History): Source[] {
  return subjects.flatMap((subject) => {
    const reader = history.reader(subject.run.directory);
    return reader === undefined ? [] : [{ ...subject, reader }];
  });
}

function chartKeys(metric: string | null, show: readonly string[], readers: readonly MetricReader[]): string[] {
  const known = new Set(readers.flatMap((reader) => reader.keys()));
  const others = show.filter((key) => known.has(key));
  // A warm-up may not write the metric of the sweep; an empty chart would then hide its own metrics.
  const first = metric !== null && known.has(metric) ? [metric] : [];
  if (first.length + others.length > 0) return [...new Set([...first, ...others])].slice(0, mostCharts);
  // Nothing has been read, or nothing of what is shown: an empty chart of what this group will probably write.
  const expected = metric === null || (show.length > 0 && !show.includes(metric)) ? show[0] : metric;
  return expected === undefined ? [] : [expected];
}

type Drawing = {
  readonly axis: XAxis;
  readonly metric: string;
  readonly place: number | undefined;
  readonly lasts: ReadonlyMap<string, readonly number[]>;
};

function curve(source: Source, { axis, metric, place, lasts }: Drawing): Curve {
  const { run, reader, label, tone, family, setting } = source;
  const shared = { label, tone, family, setting, together: lasts.get(label) };
  return { ...shared, ...knownOf(run, metric, place), series: seriesOver(axis, reader, metric) };
}

/** One drawn run. An empty label is left out of the legend. `setting`: shared by the seeds of one setting. `family`: as in `Curve`. */
type Subject = {
  readonly run: RunSummary;
  readonly label: string;
  readonly tone: Tone;
  readonly family?: string;
  readonly setting?: string;
};

/** The runs that are drawn, chosen from the runs that have begun. */
type Subjects = { readonly drawn: readonly Subject[]; readonly begun: readonly Subject[] };

/** Maximum number of curves: more cannot be told apart and cost memory. */
const mostCurves = 32;

/**
 * Colours of the list rows whose curves are drawn while `node` is selected, by row key: `node` itself if it is a run, otherwise its
 * children.
 */
export function colouredRows(node: TreeNode | undefined, listModel: ListModel): ReadonlyMap<string, Tone> {
  const rows = node === undefined ? [] : node.kind === 'run' ? [node] : node.children;
  const tones = new Map(subjectsOf(node, listModel).drawn.map(({ run, tone }) => [run, tone]));
  return new Map(
    rows.flatMap((row) => {
      const drawn = (row.kind === 'run' ? [row.run] : row.runs).find((run) => tones.has(run));
      return drawn === undefined ? [] : [[row.key, tones.get(drawn)!] as const];
    }),
  );
}

/**
 * The runs to draw: a run over its siblings in the background; the runs of a subgroup, each in its own colour; the runs of a group,
 * coloured by subgroup, or where there are none and many runs by setting or parameter.
 */
export function subjectsOf(node: TreeNode | undefined, { tree, colours }: ListModel): Subjects {
  if (node === undefined) return { drawn: [], begun: [] };
  if (node.kind === 'run') {
    const drawn = [
      ...siblings(tree.branches.get(node.parent), node.run),
      { run: node.run, label: '', tone: colours.of(node.key) },
    ];
    return { drawn, begun: drawn };
  }
  return ofBranch.value(node, '', () => subjectsOfBranch(node, colours));
}

/**
 * Subjects with the row under the pointer highlighted and the others in the background; unchanged if that row holds none or all of
 * them.
 */
function withHighlight(
  subjects: readonly Subject[],
  row: TreeNode | undefined,
  colours: CurveColours,
): readonly Subject[] {
  if (row === undefined) return subjects;
  const runs = new Set(row.kind === 'run' ? [row.run] : row.runs);
  const count = subjects.filter(({ run }) => runs.has(run)).length;
  if (count === 0 || count === subjects.length) return subjects;
  return subjects.map((subject): Subject => {
    if (!runs.has(subject.run)) return { ...subject, tone: 'faint' };
    return subject.tone === 'faint' ? { ...subject, tone: colours.of(row.key) } : subject;
  });
}

/** Caches the last branch, because every frame asks and a group of thousands is expensive. A changed branch is a new object. */
const ofBranch = new Memo<Branch, Subjects>(1);

function subjectsOfBranch(node: Branch, colours: CurveColours): Subjects {
  const hasBranches = node.children.some(({ kind }) => kind !== 'run');
  const subjects = (
    hasBranches ? node.children.flatMap((child) => childSubjects(child, colours)) : eachRun(node, colours)
  ).filter(({ run }) => hasBegun(run));
  return { drawn: evenly(subjects, mostCurves), begun: subjects };
}

/** The last values of the runs of each label that several have, but for those that broke where others did not, as in the list. */
function lastValues(subjects: readonly Subject[], metric: string): ReadonlyMap<string, number[]> {
  const shared = [...groupBy(subjects, ({ label }) => label)].filter(([, { length }]) => length > 1);
  const valuesOf = ({ metrics }: RunSummary) => (Object.hasOwn(metrics, metric) ? [metrics[metric] ?? Number.NaN] : []);
  return new Map(shared.map(([label, members]) => [label, soundRuns(members.map(({ run }) => run)).flatMap(valuesOf)]));
}

/** Whether a run may have metrics. A run taken over from an earlier sweep has some although it never started here. */
function hasBegun({ state, attempt }: RunSummary): boolean {
  return attempt > 0 || (state !== 'queued' && state !== 'held');
}

function siblings(parent: Branch | undefined, run: RunSummary): Subject[] {
  if (parent?.kind !== 'subgroup' || parent.runs.length > 8) return [];
  return parent.runs
    .filter(({ id }) => id !== run.id)
    .map((other) => ({ run: other, label: '', tone: 'faint', setting: 'siblings' }));
}

function eachRun(branch: Branch, colours: CurveColours): Subject[] {
  const settingOf = branch.kind === 'subgroup' ? () => branch.label : settingsAmong(branch.runs);
  const familyOf = familiesAmong(branch.runs, settingOf);
  return branch.children.flatMap((child): Subject[] => {
    if (child.kind !== 'run') return [];
    const { run, key } = child;
    const setting = settingOf(run) || branch.label;
    if (familyOf === null) return [{ run, label: child.label, tone: colours.of(key), setting }];
    const family = familyOf(run);
    return [{ run, label: family, tone: colours.of(`${branch.key}\n${family}`), family, setting }];
  });
}

/**
 * What the curves of many runs are named and coloured by: their settings, or if these are too many the first parameter with few
 * values. Null: there are few runs, or nothing tells them apart.
 */
function familiesAmong(
  runs: readonly RunSummary[],
  settingOf: (run: RunSummary) => string,
): ((run: RunSummary) => string) | null {
  if (runs.length <= mostColours) return null;
  const { size } = new Set(runs.map(settingOf));
  if (size < 2) return null;
  if (size <= mostColours) return settingOf;
  const all = runs.map(({ parameters }) => parameters);
  // The first parameter of a sweep file is usually what it is about.
  const parameter = tellingParameter(varyingKeys(runs), all, mostColours);
  if (parameter === null) return null;
  return ({ parameters }) => `${parameter} ${parameterText(parameterOf(parameters, parameter))}`;
}

function childSubjects(child: TreeNode, colours: CurveColours): Subject[] {
  const tone = colours.of(child.key);
  if (child.kind === 'run') return [{ run: child.run, label: child.label, tone }];
  return child.runs.map((run) => ({ run, label: child.label, tone, setting: child.label }));
}

/** Returns a function that names a run's setting by the parameters that differ among these runs, except the seed: `lr 0.1 N 64`. */
function settingsAmong(runs: readonly RunSummary[]): (run: RunSummary) => string {
  const keys = [...varyingKeys(runs)].filter((key) => !/(^|[._-])seed$/i.test(key));
  const settingOf = ({ parameters }: RunSummary): string =>
    keys
      .flatMap((key) => {
        const value = parameterOf(parameters, key);
        return value === undefined ? [] : [`${key} ${parameterText(value)}`];
      })
      .join(' ');
  const settings = [...new Set(runs.map(settingOf))];
  const names = distinctNames(settings);
  const nameOf = new Map(settings.map((setting, index) => [setting, names[index]!]));
  return (run) => nameOf.get(settingOf(run)) ?? '';
}

/** At most `most` items at even distances, so that every subgroup is represented. */
function evenly<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}

/** Number of runs whose curves decide which metrics are alike and which are counters. */
const mostRuns = 3;

/** The readers of a selection. `of`: identifies the selection. */
type Written = { readonly history: History; readonly of: string; readonly readers: readonly MetricReader[] };

/** Cached because it reads every metric: recomputed only when the points have doubled, which also keeps charts in place. */
const known = new Memo<History, WallMetrics>(8);

/** The metrics of a selection in the order of the wall, and which of them are alike. */
export function wallMetrics({ history, of, readers }: Written, choice: MetricsToShow): WallMetrics {
  const keys = [...new Set(readers.flatMap((reader) => reader.keys()))];
  const few = spread(readers);
  const points = few.map((reader) => Math.max(0, ...keys.slice(0, 3).map((key) => reader.series(key).y.length)));
  const question = JSON.stringify([of, readers.length, points.map((count) => Math.ceil(Math.log2(count + 1))), keys]);
  return known.value(history, question, () => {
    const counting = new Set(
      keys.filter((key) => few.some((reader) => isCountingOne(key, choice, (one) => reader.series(one).y))),
    );
    const metrics = wallOrder(keys, choice, counting);
    const isLast = (metric: string): boolean => isCounter(metric, choice, counting);
    return { metrics, firstOf: alikeMetrics(metrics, (metric) => few.map((reader) => reader.series(metric)), isLast) };
  });
}

/** The first, the middle and the last reader. */
function spread(readers: readonly MetricReader[]): MetricReader[] {
  const last = readers.length - 1;
  return [...new Set([0, Math.floor(last / 2), last])].slice(0, mostRuns).flatMap((index) => readers[index] ?? []);
}

/**
 * Orders metrics so that those with one prefix (`train/…`) stand together, prefixes in the order of their best metric, results
 * first within each. Counters, times and settings come last. The x axis is left out.
 */
export function wallOrder(keys: Iterable<string>, choice: MetricsToShow, counting?: ReadonlySet<string>): string[] {
  const inOrder = inMetricOrder(keys, choice, counting).filter((key) => key !== choice.x);
  const byPrefix = (some: readonly string[]): string[] =>
    [...groupBy(some, (key) => key.slice(0, Math.max(0, key.indexOf('/')))).values()].flat();
  const isLast = (key: string): boolean => isCounter(key, choice, counting);
  return [...byPrefix(inOrder.filter((key) => !isLast(key))), ...byPrefix(inOrder.filter(isLast))];
}
