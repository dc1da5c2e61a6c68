import { bestFirst } from '../../../analysis/best-first.js';
import { goalOf } from '../../../analysis/metric-order.js';
import type { HeatmapAxes } from '../../state/compare-choice.js';
import type { History, Wanted } from '../../model/history.js';
import type { ScreenData, ScreenEntry, ScreenSource } from '../screen.js';
import { type CompareContext, compareKeys } from './keys.js';
import type { ListModel } from '../../model/list-model.js';
import { shownFor } from '../../model/selection.js';
import { withLazy } from '../../../base/lazy.js';
import { Memoized } from '../../../base/memo.js';
import type { FleetPort, MetricReader, RunSummary } from '../../state/port.js';
import type { ScreenOf, UiState } from '../../state/ui-state.js';
import { cursorX } from '../../widgets/chart/chart.js';
import {
  type ChartData,
  type CurveColours,
  distinctColours,
  knownOf,
  referenceLines,
  seriesOver,
  type XAxis,
  xAxisOf,
  type XChoice,
  xChoicesOf,
} from '../../model/chart-data.js';
import { countBehind, placesOf, soundRuns } from '../../model/tally.js';
import {
  type CurveValue,
  curveValue,
  type Direction,
  type Question,
  rankedSamples,
  sampleOf,
} from './compare-value.js';
import {
  type ComparedMetric,
  type ComparedSubject,
  type Comparison,
  differingAnnotations,
  type DifferingParameter,
  differingParameters,
  extentOf,
} from './comparison.js';
import { defaultAxes, heatmapParameters, heatmapsOf } from './heatmap.js';

/** Several runs or groups beside each other. */
export const compare: ScreenEntry<'compare', Comparison> = {
  ...{ name: 'compare', keys: compareKeys, data: () => new ComparisonReader() },
  component: () => import('./compare-screen.js').then(({ CompareScreen }) => CompareScreen),
};

/** Maximum number of runs whose curves are read: more cannot be distinguished and cost memory. */
const mostCurves = 96;
const mostMetrics = 6;

type Source = ScreenSource<'compare'>;
type Subjects = { subjects: readonly ComparedSubject[]; runs: readonly RunSummary[] };
type Parameters = Pick<Comparison, 'parameters' | 'axes'> & { defaultAxes: HeatmapAxes | null };
type Shown = { keys: readonly string[]; usual: string };
type Readers = ReadonlyMap<RunSummary['id'], MetricReader>;
/** The value of one run's curve of a metric. */
type ValueOf = (run: RunSummary, metric: string) => CurveValue | null;

/** Computes what the compare screen shows, and only what has changed since the last time. */
class ComparisonReader implements ScreenData<'compare', Comparison> {
  readonly #subjects = new Memoized<Subjects>();
  readonly #parameters = new Memoized<Parameters>();
  /** Annotations, which may change while they are shown. */
  readonly #annotations = new Memoized<readonly DifferingParameter[]>();
  readonly #charts = new Memoized<readonly ChartData[]>();
  readonly #whole = new Memoized<Comparison>();

  read(source: Source): Comparison {
    const { ui, listModel, history } = source;
    const who = this.#who(source);
    const seen = [who, ui.compare, ui.chart, listModel.metric, listModel.sweeps, history.version];
    return this.#whole.value(seen, () => this.#compare(who, source));
  }

  /** Possible x axes of the overlay. */
  #xChoices(source: Source): readonly XChoice[] {
    const { ui, listModel, history } = source;
    const who = this.#who(source);
    return xChoicesOf(shownMetrics(who.runs, listModel).usual, [...readersOf(curvesWanted(who, ui), history).values()]);
  }

  /** The curves to read; none if the last values, which every summary has, suffice. */
  wanted(source: Source): Wanted {
    return {
      metrics: curvesWanted(this.#who(source), source.ui).map(({ directory }) => directory),
      log: null,
      logLines: 0,
    };
  }

  context(source: Source): ReturnType<ScreenData<'compare', Comparison>['context']> {
    const comparison = this.read(source);
    const { axes, chosenAxes, charts } = comparison;
    const { length, columns, page } = extentOf(comparison, source.ui.compare.view, source.body.height);
    const own: CompareContext = { length, columns, axes, usualAxes: chosenAxes, ranking: rankingOf(comparison) };
    return withLazy({ page, own, charts: charts.length }, { xChoices: () => this.#xChoices(source) });
  }

  #who({ screen, fleet }: Source): Subjects {
    return this.#subjects.value([screen.subjects, fleet.version()], () => subjectsNow(screen, fleet));
  }

  #compare(who: Subjects, source: Source): Comparison {
    const { ui, listModel, history, screen } = source;
    const shown = shownMetrics(who.runs, listModel);
    const wanted = curvesWanted(who, ui);
    const readers = readersOf(wanted, history);
    const axis = xAxisOf(ui.chart.xKey, shown.usual);
    const inputs = [who, shown.keys.join('\n'), axis.key, history.version, readers.size];
    const charts = this.#charts.value(inputs, () =>
      chartsOf(who.subjects, shown, axis, { readers, colours: listModel.colours }),
    );
    const cursor = cursorX(charts[0]?.curves ?? [], ui.chart);
    const unread =
      ui.compare.summary === 'last' ? nothing : new Set(wanted.filter(isUnread(readers)).map(({ id }) => id));
    const answer = answerer(readers, axis, { ...ui.compare, cursor }, listModel);
    const found = this.#parameters.value([screen.subjects, who.runs.length], () => parametersOf(who));
    return {
      subjects: who.subjects,
      baseline: positionOf(ui.compare.baseline, who.subjects),
      parameters: [...found.parameters, ...this.#annotations.value([who], () => annotationsOf(who))],
      metrics: shown.keys.map((key) => metricOf(key, shown.usual, who.subjects, { answer, unread, listModel })),
      summary: ui.compare.summary,
      cursor,
      charts,
      setting: settingOf(ui, axis, readers.size === wanted.length),
      ...mapOf(who.runs, shown, found, { ui, answer }),
      curves: { wanted: wanted.length, read: wholeReaders(readers), of: who.runs.length },
    };
  }
}

/** The subjects as they are now. Runs that no longer exist are left out. */
function subjectsNow({ subjects }: ScreenOf<'compare'>, { runs }: FleetPort): Subjects {
  const now = subjects
    .map(({ key, label, ids }) => ({ key, label, runs: ids.flatMap((id) => runs.get(id) ?? []) }))
    .filter((subject) => subject.runs.length > 0);
  return { subjects: now, runs: uniqueRuns(now) };
}

/** All runs once, since a baseline may contain runs of the others. */
function uniqueRuns(subjects: readonly ComparedSubject[]): RunSummary[] {
  return [...new Map(subjects.flatMap(({ runs }) => runs.map((run) => [run.id, run] as const))).values()];
}

/** The chosen metric, then those that the group or the sweep shows, limited to metrics that some run has. */
function shownMetrics(runs: readonly RunSummary[], listModel: ListModel): Shown {
  const { show, x } = shownFor(runs[0], listModel);
  const wanted = [...new Set([...(listModel.metric === null ? [] : [listModel.metric]), ...show])];
  const keys = wanted.filter((key) => runs.some(({ metrics }) => key in metrics)).slice(0, mostMetrics);
  return { keys: keys.length > 0 ? keys : wanted.slice(0, 1), usual: x };
}

/** A heatmap of last values, which the supervisor sends, needs no curves. */
function curvesWanted({ subjects }: Subjects, { compare }: UiState): RunSummary[] {
  if (compare.summary === 'last' && compare.view === 'heatmap') return [];
  const share = Math.max(1, Math.floor(mostCurves / Math.max(1, subjects.length)));
  return uniqueRuns(spread(subjects, mostCurves).map((subject) => ({ ...subject, runs: spread(subject.runs, share) })));
}

function readersOf(runs: readonly RunSummary[], history: History): Readers {
  const known = runs.map(({ id, directory }) => [id, history.reader(directory)] as const);
  return new Map(known.filter((entry): entry is [RunSummary['id'], MetricReader] => entry[1] !== undefined));
}

/** Number of completely read curves. A part of a long file is shown while the rest is read. */
function wholeReaders(readers: Readers): number {
  return [...readers.values()].filter(({ more }) => more !== true).length;
}

function parametersOf({ subjects, runs }: Subjects): Parameters {
  return {
    parameters: differingParameters(subjects.map((subject) => subject.runs)),
    axes: heatmapParameters(runs),
    defaultAxes: defaultAxes(runs),
  };
}

function annotationsOf({ subjects, runs }: Subjects): readonly DifferingParameter[] {
  const isThere = runs.some(({ annotation }) => annotation !== null && annotation !== undefined);
  return isThere ? differingAnnotations(subjects.map((subject) => subject.runs)) : [];
}

/** The charts. The runs of one subject are drawn as one line if seeds are. */
function chartsOf(
  subjects: readonly ComparedSubject[],
  { keys, usual }: Shown,
  axis: XAxis,
  { readers, colours }: { readers: Readers; colours: CurveColours },
): readonly ChartData[] {
  const own = distinctColours(
    subjects.map(({ key }) => key),
    colours,
  );
  const sources = subjects.flatMap(({ label, runs }, index) => {
    const places = placesOf(runs, usual);
    return runs.flatMap((run, at) => {
      const reader = readers.get(run.id);
      const tone = own[index]!;
      return reader === undefined ? [] : [{ run, reader, label, tone, place: places[at] }];
    });
  });
  return keys.map((metric) => ({
    metric,
    curves: sources.map(({ run, reader, label, tone, place }) => ({
      label,
      tone,
      setting: label,
      ...knownOf(run, metric, place),
      series: seriesOver(axis, reader, metric),
    })),
    references: referenceLines(metric, axis.key, sources),
  }));
}

function settingOf({ chart, compare }: UiState, { key, unit }: XAxis, isLoaded: boolean): Comparison['setting'] {
  return { xKey: key, xUnit: unit, choice: { ...chart, spread: compare.spread }, isLoaded, note: null };
}

function answerer(
  readers: Readers,
  axis: XAxis,
  { summary, cursor }: { summary: Question['summary']; cursor: number | null },
  listModel: ListModel,
): ValueOf {
  return (run, metric) => {
    const reader = readers.get(run.id);
    const last = summary === 'last' ? lastValue(run, metric) : null;
    if (summary === 'last') return last;
    // The values of a curve of which a part is read are not those of the run.
    if (reader === undefined || reader.more === true) return null;
    const direction = directionOf(metric, run.sweep, listModel);
    return curveValue(seriesOver(axis, reader, metric), { summary, direction, x: cursor });
  };
}

/** The last value as sent by the supervisor, which needs no file. */
function lastValue({ metrics }: RunSummary, metric: string): CurveValue | null {
  const value = metrics[metric];
  if (value === undefined) return null;
  const known = value ?? Number.NaN;
  return { low: known, high: known };
}

/** The direction, shown as an arrow beside the metric. */
function directionOf(metric: string, sweep: string, { sweeps }: ListModel): Direction {
  return goalOf(metric, sweeps.find(({ name }) => name === sweep)?.objective);
}

const nothing: ReadonlySet<RunSummary['id']> = new Set();

function isUnread(readers: Readers): (run: RunSummary) => boolean {
  return ({ id }) => readers.get(id)?.more ?? !readers.has(id);
}

type CellSource = { answer: ValueOf; unread: ReadonlySet<RunSummary['id']>; listModel: ListModel };

function metricOf(
  key: string,
  xKey: string,
  subjects: readonly ComparedSubject[],
  { answer, unread, listModel }: CellSource,
): ComparedMetric {
  return {
    key,
    direction: directionOf(key, subjects[0]?.runs[0]?.sweep ?? '', listModel),
    cells: subjects.map(({ runs }) => sampleOf(soundRuns(runs).map((run) => answer(run, key)))),
    unread: subjects.map(({ runs }) => runs.filter(({ id }) => unread.has(id)).length),
    behind: subjects.map(({ runs }) => {
      const having = soundRuns(runs).filter((run) => answer(run, key) !== null);
      return countBehind(placesOf(having, xKey));
    }),
  };
}

/** A heatmap of every metric. Axes chosen for other runs may not exist here. */
function mapOf(
  runs: readonly RunSummary[],
  { keys }: Shown,
  { axes, defaultAxes: usual }: Parameters,
  { ui, answer }: { ui: UiState; answer: ValueOf },
): Pick<Comparison, 'heatmaps' | 'axes' | 'chosenAxes'> {
  const wanted = ui.compare.axes;
  const isKnown =
    wanted !== null && axes.includes(wanted.across) && (wanted.down === null || axes.includes(wanted.down));
  const chosenAxes = isKnown ? wanted : usual;
  const isShown = ui.compare.view === 'heatmap' && chosenAxes !== null;
  const heatmaps = isShown ? keys.flatMap((key) => heatmapsOf(runs, key, chosenAxes, (run) => answer(run, key))) : [];
  return { heatmaps, axes, chosenAxes };
}

/** The subjects ranked from best to worst by the first metric; null: none has a value. */
function rankingOf({ subjects, metrics: [metric] }: Comparison): CompareContext['ranking'] {
  const order = bestFirst(rankedSamples(metric?.cells ?? []), metric?.direction ?? null).filter(
    (index) => metric!.cells[index] !== null,
  );
  if (metric === undefined || order.length === 0) return null;
  return { keys: order.map((index) => subjects[index]!.key), metric: metric.key, direction: metric.direction };
}

function positionOf(key: string | null, subjects: readonly ComparedSubject[]): number | null {
  const index = key === null ? -1 : subjects.findIndex((subject) => subject.key === key);
  return index < 0 ? null : index;
}

/** At most `most` items at even distances. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
