import type { MetricsToShow } from '../../analysis/metric-order.js';
import { lazy } from '../../base/lazy.js';
import { hasEnded } from '../../base/run-words.js';
import { type Subject, subjectsOf, withHighlight } from './chart-subjects.js';
import type { History, Wanted } from './history.js';
import type { ListModel } from './list-model.js';
import type { MetricReader } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';
import { theoryLines } from '../widgets/chart/theory-lines.js';
import type { TreeNode } from './tree/branch-index.js';
import { wallMetrics } from './wall-metrics.js';
import type { Curve } from '../widgets/chart/chart-look.js';
import type { ChartData, Detail } from '../widgets/chart/chart-section.js';
import { seriesOver, type XAxis, xAxisOf, type XChoice, xChoicesOf } from '../widgets/chart/x-axis.js';

/** Maximum number of charts; a large terminal fits this many. */
const mostCharts = 9;

/** The files to read for showing a node. `logLines`: number of lines from the end of a run's log. */
export function wantedFor(node: TreeNode | undefined, scene: ListModel, logLines: number): Wanted {
  const isRun = node?.kind === 'run';
  return {
    metrics: subjectsOf(node, scene).drawn.map(({ run }) => run.directory),
    log: isRun ? node.run.directory : null,
    logLines: isRun ? logLines : 0,
  };
}

/** What has been read of a node. Curves of the chosen metric come first, then those that its group or the sweep shows. */
export function detailOf(
  node: TreeNode | undefined,
  scene: ListModel,
  history: History,
  { chart: { xKey }, hovered }: Pick<UiState, 'chart' | 'hovered'>,
): ReadDetail {
  const { drawn: all, begun } = subjectsOf(node, scene);
  const pointed = hovered === null ? undefined : scene.rows.find(({ key }) => key === hovered);
  const drawn = withHighlight(all, pointed, scene.colours);
  const sources = sourcesOf(drawn, history);
  const readers = sources.map(({ reader }) => reader);
  const shown = shownFor(drawn[0], scene);
  const axis = xAxisOf(xKey, shown.x);
  // Only the metrics on the screen are read, even if there are a hundred.
  const known = new Map<string, ChartData>();
  const chartOf = (metric: string): ChartData => {
    let chart = known.get(metric);
    if (chart === undefined) {
      const curves = sources.map(({ reader, ...subject }) => curve(subject, axis, reader, metric));
      known.set(metric, (chart = { metric, curves, references: theoryLines(metric, axis.key, sources) }));
    }
    return chart;
  };
  return {
    charts: chartKeys(scene.metric, shown.show, readers).map(chartOf),
    wall: lazy(() => wallMetrics({ history, of: node?.key ?? '', readers }, shown)),
    chartOf,
    stepAt: (metric, x) => stepAt(readers[0], axis, metric, x),
    xKey: axis.key,
    xUnit: axis.unit,
    note: begun > drawn.length ? `${drawn.length} of ${begun} runs` : null,
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
export function xChoicesFor(node: TreeNode | undefined, scene: ListModel, history: History): XChoice[] {
  const { drawn } = subjectsOf(node, scene);
  const readers = sourcesOf(drawn, history).map(({ reader }) => reader);
  return xChoicesOf(shownFor(drawn[0], scene).x, readers);
}

type Source = Subject & { readonly reader: MetricReader };

/** The subjects whose metrics have been read. */
function sourcesOf(subjects: readonly Subject[], history: History): Source[] {
  return subjects.flatMap((subject) => {
    const reader = history.reader(subject.run.directory);
    return reader === undefined ? [] : [{ ...subject, reader }];
  });
}

function shownFor(subject: Subject | undefined, { sweeps }: ListModel): MetricsToShow {
  const sweep = sweeps.find(({ name }) => name === subject?.run.sweep);
  const group = sweep?.groups.find(({ name }) => name === subject?.run.group);
  return group?.shown ?? sweep ?? { show: [], x: 'step' };
}

function chartKeys(metric: string | null, show: readonly string[], readers: readonly MetricReader[]): string[] {
  const known = new Set(readers.flatMap((reader) => reader.keys()));
  const others = show.filter((key) => known.has(key));
  // A warm-up may not write the metric of the sweep; an empty chart would then hide its own metrics.
  const first = metric !== null && (known.has(metric) || others.length === 0) ? [metric] : [];
  return [...new Set([...first, ...others])].slice(0, mostCharts);
}

function curve({ run, label, tone, setting }: Subject, axis: XAxis, reader: MetricReader, metric: string): Curve {
  return { label, tone, setting, isOver: hasEnded(run.state), series: seriesOver(axis, reader, metric) };
}
