import { resolve } from 'node:path';
import type { ReportedRun, ReportedState } from '../../analysis/analysed-run.js';
import { cellsOf, settingText } from '../../analysis/cells.js';
import type { Finding } from '../../analysis/health/finding.js';
import { goalOf, inMetricOrder, type MetricsToShow } from '../../analysis/metric-order.js';
import { type Importance, importanceSteps } from '../../analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../analysis/parameters/seeded-random.js';
import type { RunValue } from '../../analysis/run-value.js';
import { addTo, groupBy } from '../../base/group-by.js';
import { hasEnded } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import { finished } from '../../base/steps.js';
import { isSystemMetric, shownSystemMetrics } from '../../contract/metric-names.js';
import type { MachineRecord, RunRecord } from '../../contract/run-record.js';
import type { ChartLine } from '../../contract/study.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { computedFromSeeds } from '../../files/sweep-folder.js';
import { downsample, type Line } from '../../metrics/line.js';
import { openMetrics, type RunMetrics } from '../../metrics/run-metrics.js';
import { readRuns, statesOf } from '../../runs/read-runs.js';
import { metricsToShow, readOutline, type SweepOutline } from '../../runs/sweep-outline.js';
import type { Objective } from '../../spec/planned-run.js';
import { shellQuote } from '../../text/shell-words.js';
import { buildReport } from '../build-report.js';
import type { Report, Section } from '../report.js';
import { keptFor, valuesOf } from '../run-values.js';
import { type CurveColours, curveColours } from './curve-colours.js';
import { readPageSamples, type RunSamples } from './page-samples.js';
import { asInfinite } from './value-axis.js';

/**
 * A run on the page. `setting`: what distinguishes it from others of its group, without its seed; `value`: of `metric`, by which
 * its group is ranked.
 */
export type PageRun = {
  readonly name: string;
  readonly group: string;
  readonly setting: string;
  readonly state: ReportedState;
  /** The problem of an ended run that its state does not show; null: none. */
  readonly mark: Finding | null;
  readonly parameters: Parameters;
  /** The command, quoted for a shell; null: the run was never started. */
  readonly command: string | null;
  /** Total duration of its attempts, s; null: none has ended. */
  readonly seconds: number | null;
  readonly attempts: number;
  /** Why it did not end well, in words; null: it did, or has not ended. */
  readonly failure: string | null;
  readonly metric: string | null;
  readonly value: number | null;
};

/** One run's curve of a metric, with no more points than a figure shows. `run`: its index among the runs. */
export type PageCurve = {
  readonly run: number;
  readonly setting: string;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly isOver: boolean;
};

/** The curves of a group, a figure for each metric that is worth one. */
export type PageGroup = {
  readonly name: string;
  readonly xKey: string;
  /** Settings in the order of the runs. */
  readonly settings: readonly string[];
  readonly colours: CurveColours;
  readonly figures: readonly PageFigure[];
};

/** `lines`: those that studies declare for the metric, of any run that is drawn. */
export type PageFigure = {
  readonly metric: string;
  readonly curves: readonly PageCurve[];
  readonly lines: readonly ChartLine[];
};

/** The metric that runs are ranked by. `goal` null: unknown. */
export type Ranking = { readonly metric: string; readonly goal: 'minimize' | 'maximize' | null };

/** Where and when the runs were executed. Times: Unix ms. */
export type Origin = {
  readonly hosts: readonly string[];
  readonly machine: MachineRecord | null;
  readonly commits: readonly string[];
  readonly isDirty: boolean;
  readonly firstStart: number | null;
  readonly lastEnd: number | null;
  /** Total duration of all attempts, s. */
  readonly busySeconds: number;
};

/** All data of a page. */
export type PageData = {
  readonly report: Report;
  readonly runs: readonly PageRun[];
  readonly groups: readonly PageGroup[];
  readonly ranking: Ranking | null;
  /** The parameters' importance in the ranked group; null: there is nothing to rank by. */
  readonly importance: Importance | null;
  readonly rankedGroup: string | null;
  readonly samples: readonly RunSamples[];
  readonly origin: Origin;
};

/** Limits on the points of all curves of a figure together, and least number for each, so that a page of many runs stays small. */
const POINTS = 24_000;
const LEAST_POINTS = 16;
const MOST_POINTS = 120;

const MOST_LINES = 6;

type PageOptions = {
  /** The objective of the sweep file; null: it has none. */
  readonly objective: Objective | null;
  /** As in `buildReport`. */
  readonly known?: readonly ReportedRun[];
  readonly found?: readonly ReportedRun[] | undefined;
  readonly value?: RunValue;
};

/** Reads the data of a page and its report; the metrics of each run are read once. */
export async function readPageData(
  sweepDirectory: string,
  { objective, known: supervised = [], found, value = { kind: 'last' } }: PageOptions,
): Promise<PageData> {
  const directory = resolve(sweepDirectory);
  const known = found ?? readRuns(directory, statesOf(supervised));
  const reading = new Reading(known, readOutline(directory), { objective, value });
  const seen: Seen = (run, metrics) => reading.take(run, metrics);
  const report = await buildReport(directory, { known: supervised, found, value, seen });
  const read = report.sections.map((section) => readGroup(section, reading));
  const records = known.map((run) => readRunRecord(run.directory));
  const places = new Map(read.flatMap(({ places: ofGroup }) => [...ofGroup]));
  const marks = new Map(report.marks.map((mark) => [mark.run, mark]));
  const runs = known.map((run, index) => ({
    ...pageRun(run, records[index] ?? null, places.get(index)),
    mark: marks.get(run.name) ?? null,
  }));
  const ranked = rankedFirst(read, objective);
  const importance =
    ranked === null ? null : importanceOf(runs, ranked.group.name, ranked.ranking!, computedFromSeeds(directory));
  const coloured = ({ group }: ReadGroup): PageGroup => {
    const members = runs.filter((run) => run.group === group.name);
    const figures = group.figures.map((figure) => {
      const drawn = new Set(figure.curves.map(({ run }) => runs[run]!.name));
      return { ...figure, lines: linesFor(figure.metric, group.xKey, report.chartLines, drawn) };
    });
    return { ...group, figures, colours: curveColours(group.settings, members, namesByImportance(importance)) };
  };
  return {
    ...{ report, runs, groups: read.map(coloured), importance },
    ranking: ranked?.ranking ?? null,
    rankedGroup: ranked?.group.name ?? null,
    samples: await readPageSamples(known),
    origin: originOf(records.filter((record) => record !== null)),
  };
}

/** The lines for a metric over an axis, each once. */
function linesFor(metric: string, xKey: string, lines: Report['chartLines'], runs: ReadonlySet<string>): ChartLine[] {
  const own = lines.filter(({ run, metrics, per }) => {
    return (run === null || runs.has(run)) && metrics.includes(metric) && (per ?? xKey) === xKey;
  });
  return [...new Map(own.map((line) => [JSON.stringify([line.text, line.y, line.per]), line])).values()].slice(
    0,
    MOST_LINES,
  );
}

function namesByImportance(importance: Importance | null): string[] {
  return importance?.kind === 'measured' && !importance.isNoise ? importance.parameters.map(({ name }) => name) : [];
}

type Seen = (run: ReportedRun, metrics: RunMetrics) => void;

/** The data that have been read from the runs of a sweep. */
class Reading {
  readonly all: readonly ReportedRun[];
  readonly outline: SweepOutline;
  readonly objective: Objective | null;
  readonly #value: RunValue;
  readonly #groups: ReadonlyMap<string, readonly ReportedRun[]>;
  /** Curves by directory of the run. */
  readonly #taken = new Map<string, RunCurves>();

  constructor(
    all: readonly ReportedRun[],
    outline: SweepOutline,
    { objective, value }: { objective: Objective | null; value: RunValue },
  ) {
    this.all = all;
    this.outline = outline;
    this.objective = objective;
    this.#value = value;
    this.#groups = groupBy(all, ({ group }) => group);
  }

  runsOf(group: string): readonly ReportedRun[] {
    return this.#groups.get(group) ?? [];
  }

  take(run: ReportedRun, metrics: RunMetrics, shown: readonly string[] = []): RunCurves {
    const choice = metricsToShow(this.outline, run.group);
    const points = Math.floor(POINTS / Math.max(1, this.runsOf(run.group).length));
    const taken = curvesOf(metrics, {
      ...{ choice, value: this.#value },
      points: Math.max(LEAST_POINTS, Math.min(MOST_POINTS, points)),
      besides: [
        ...choice.show,
        ...shownSystemMetrics(metrics.keys()),
        ...(this.objective === null ? [] : [this.objective.name]),
        ...shown,
      ],
    });
    this.#taken.set(run.directory, taken);
    return taken;
  }

  /** The curves of a run; one that appeared meanwhile, or of which other metrics are shown than expected, is read here. */
  of(run: ReportedRun, shown: readonly string[]): RunCurves {
    const taken = this.#taken.get(run.directory);
    if (taken !== undefined && hasAll(taken, shown)) return taken;
    return this.take(run, openMetrics(run.directory, keptFor(this.#value)).readNow(), shown);
  }
}

/** The properties of a run that are known only after its group was read. */
type Place = Pick<PageRun, 'setting' | 'metric' | 'value'>;
type ReadGroup = {
  group: Omit<PageGroup, 'colours' | 'figures'> & { figures: readonly Omit<PageFigure, 'lines'>[] };
  ranking: Ranking | null;
  places: Map<number, Place>;
};

function readGroup(section: Section, reading: Reading): ReadGroup {
  const runs = reading.runsOf(section.group);
  const choice = metricsToShow(reading.outline, section.group);
  const settings = new Map(cellsOf(runs).flatMap((cell) => cell.runs.map((run) => [run, settingText(cell)])));
  const figures = new Map<string, PageCurve[]>();
  const resources = new Map<string, PageCurve[]>();
  const places = new Map<number, Place>();
  let ranking: Ranking | null = null;
  for (const run of runs) {
    const { written, keys, lines, values } = curvesShown(run, section, ranking, reading);
    ranking ??= rankingOf(written, keys, reading.objective);
    const place = { run: reading.all.indexOf(run), setting: settings.get(run)! };
    const curve = { ...place, isOver: hasEnded(run.state) || run.state === 'held' };
    const ofMachine = [...lines.keys()].filter((key) => isSystemMetric(key) && !keys.includes(key));
    for (const metric of [...keys, ...ofMachine]) {
      const line = lines.get(metric);
      if (line === undefined || line.x.length === 0) continue;
      addTo(keys.includes(metric) ? figures : resources, metric, { ...curve, ...line });
    }
    places.set(place.run, { setting: place.setting, ...resultOf(values, ranking) });
  }
  const group = {
    ...{ name: section.group, xKey: choice.x, settings: [...new Set(settings.values())] },
    figures: [...figures, ...resources].map(([metric, curves]) => ({ metric, curves })),
  };
  return { group, ranking, places };
}

/** `keys`: the metrics with figures. */
function curvesShown(
  run: ReportedRun,
  { keys }: Section,
  ranking: Ranking | null,
  reading: Reading,
): RunCurves & { keys: readonly string[] } {
  return { ...reading.of(run, [...keys, ...(ranking === null ? [] : [ranking.metric])]), keys };
}

function resultOf(values: RunCurves['values'], ranking: Ranking | null): Pick<PageRun, 'metric' | 'value'> {
  if (ranking === null) return { metric: null, value: null };
  return { metric: ranking.metric, value: values[ranking.metric] ?? null };
}

/**
 * The group whose runs are ranked: the first that writes the objective of the sweep, or else one with a known goal, as other groups
 * may only prepare for it. Null: no group has metrics.
 */
function rankedFirst(read: readonly ReadGroup[], objective: Objective | null): ReadGroup | null {
  const worth = ({ ranking }: ReadGroup) =>
    ranking === null ? 0 : ranking.metric === objective?.name ? 3 : ranking.goal === null ? 1 : 2;
  const most = Math.max(0, ...read.map(worth));
  return most === 0 ? null : read.find((each) => worth(each) === most)!;
}

/** The objective of the sweep if the group writes it; else the first metric. */
function rankingOf(written: ReadonlySet<string>, keys: readonly string[], objective: Objective | null): Ranking | null {
  if (objective !== null && written.has(objective.name)) return { metric: objective.name, goal: objective.goal };
  const [first] = keys;
  return first === undefined ? null : { metric: first, goal: goalOf(first, objective) };
}

function pageRun(run: ReportedRun, record: RunRecord | null, place: Place | undefined): Omit<PageRun, 'mark'> {
  const { attempts, argv } = record ?? { attempts: [], argv: null };
  return {
    ...{ name: run.name, group: run.group, state: run.state, parameters: run.parameters },
    ...(place ?? { setting: '', metric: null, value: null }),
    command: argv === null ? null : shellQuote(argv),
    seconds: attempts.some(({ endedAt }) => endedAt !== null) ? secondsOf(attempts) : null,
    attempts: attempts.length,
    failure: run.failure ?? null,
  };
}

function secondsOf(attempts: RunRecord['attempts']): number {
  return attempts.reduce((sum, { startedAt, endedAt }) => sum + ((endedAt ?? startedAt) - startedAt) / 1000, 0);
}

/** The importance of a group's parameters for the metric that its runs are ranked by. */
function importanceOf(
  runs: readonly PageRun[],
  group: string,
  { goal }: Ranking,
  fromSeeds: readonly string[],
): Importance {
  const measured = runs
    .filter((run) => run.group === group)
    .map(({ parameters, value }) => ({ parameters, objective: value }));
  return finished(importanceSteps({ runs: measured, goal, fromSeeds }, seededRandom(1)));
}

function originOf(records: readonly RunRecord[]): Origin {
  const starts = records.flatMap(({ attempts }) => attempts.map(({ startedAt }) => startedAt));
  const ends = records.flatMap(({ attempts }) => attempts.flatMap(({ endedAt }) => endedAt ?? []));
  return {
    hosts: [...new Set(records.map(({ host }) => host))],
    machine: records.at(-1)?.machine ?? null,
    commits: [...new Set(records.flatMap(({ git }) => (git === null ? [] : [git.commit])))],
    isDirty: records.some(({ git }) => git?.dirty === true),
    firstStart: starts.length === 0 ? null : Math.min(...starts),
    lastEnd: ends.length === 0 ? null : Math.max(...ends),
    busySeconds: records.reduce((sum, record) => sum + secondsOf(record.attempts), 0),
  };
}

/**
 * Limit on the metrics of a run that are kept for figures: which ones are shown is known only later, but tables show four by
 * default.
 */
const MOST_LIKELY = 12;

/** The data that a page keeps from a run's metrics. */
type RunCurves = {
  readonly written: ReadonlySet<string>;
  /** Curves of the metrics that may be shown, with no more points than a figure shows, and the run's values. */
  readonly lines: ReadonlyMap<string, Line>;
  readonly values: Readonly<Record<string, number | null>>;
};

/** What is kept of a run. `points`: limit for each curve. */
type Taking = {
  readonly choice: MetricsToShow;
  readonly points: number;
  readonly value: RunValue;
  /** Further metrics to keep. */
  readonly besides: readonly string[];
};

/** Extracts the reduced curves from a run's metrics, which can then be freed. */
function curvesOf(metrics: RunMetrics, { choice, points, value, besides }: Taking): RunCurves {
  const written = new Set(metrics.keys());
  const likely = inMetricOrder(written, choice).slice(0, MOST_LIKELY);
  const keys = new Set([...likely, ...besides.filter((key) => written.has(key))]);
  const lines = [...keys].map((key) => {
    return [key, downsample(numbersOf(metrics, key, choice.x), points / 2)] as const;
  });
  return { written, lines: new Map(lines), values: valuesOf(metrics, { x: choice.x, value, keys }) };
}

/** Whether the curves of these metrics were kept. */
function hasAll({ written, lines }: RunCurves, keys: readonly string[]): boolean {
  return keys.every((key) => lines.has(key) || !written.has(key));
}

/** A curve over the x axis of the sweep; over the steps if the run does not have that. An infinite value leaves the figure. */
function numbersOf(metrics: RunMetrics, metric: string, x: string): Line {
  const wanted = metrics.series(metric, x);
  const line = wanted.y.length === 0 ? metrics.series(metric) : wanted;
  const kept = Array.from(line.y.keys()).filter((at) => !Number.isNaN(line.y[at]) && Number.isFinite(line.x[at]));
  const drawable = (value: number) => Math.min(asInfinite, Math.max(-asInfinite, value));
  return { x: Float64Array.from(kept, (at) => line.x[at]!), y: Float64Array.from(kept, (at) => drawable(line.y[at]!)) };
}
