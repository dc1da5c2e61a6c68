import { resolve } from 'node:path';
import type { ReportedRun, ReportedState } from '../../analysis/analysed-run.js';
import { conditionName, memoryTask } from '../../analysis/memory-task.js';
import { isLossName, shownMetrics } from '../../analysis/metric-order.js';
import { type Importance, importanceSteps } from '../../analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../analysis/parameters/seeded-random.js';
import { bestPlace, runValue, type RunValue } from '../../analysis/run-value.js';
import { addTo } from '../../base/group-by.js';
import { failureReason, type Outcome } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import type { MachineRecord, RunRecord } from '../../contract/run-record.js';
import { readRunRecord } from '../../files/run-record-file.js';
import { downsample, type Line } from '../../metrics/downsample.js';
import { openMetrics, type RunMetrics } from '../../metrics/run-metrics.js';
import type { Objective } from '../../spec/planned-run.js';
import { shellQuote } from '../../text/shell-words.js';
import { cellsOf } from '../metric-summary.js';
import { readRuns } from '../read-runs.js';
import { parameterText } from '../report-tables.js';
import { keptFor } from '../run-values.js';
import type { Report, Section } from '../report.js';
import { metricsToShow, readOutline, type SweepOutline } from '../sweep-outline.js';

/** A run as the page tells of it. `setting`: what tells it from the others of its group, its seed left out; `value`: of `metric`, by which its group is ranked. */
export type PageRun = {
  readonly name: string;
  readonly group: string;
  readonly setting: string;
  readonly state: ReportedState;
  readonly parameters: Parameters;
  /** As a shell takes it; null: it was never started. */
  readonly command: string | null;
  /** Its attempts together, s; null: none has ended. */
  readonly seconds: number | null;
  readonly attempts: number;
  /** Why it did not end well, in words; null: it did, or has not ended. */
  readonly failure: string | null;
  readonly metric: string | null;
  readonly value: number | null;
};

/** One run's curve of a metric, with no more points than a figure shows. `run`: its place among the runs. */
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
  readonly kind: Section['kind'];
  readonly xKey: string;
  /** In the order of the runs, or of the rows of their table. */
  readonly settings: readonly string[];
  readonly figures: readonly { readonly metric: string; readonly curves: readonly PageCurve[] }[];
};

/** What runs are ranked by. `goal` null: nobody says which end is best. */
export type Ranking = { readonly metric: string; readonly goal: 'minimize' | 'maximize' | null };

/** Where and when it was computed. Times: Unix ms. */
export type Origin = {
  readonly hosts: readonly string[];
  readonly machine: MachineRecord | null;
  readonly commits: readonly string[];
  readonly isDirty: boolean;
  readonly firstStart: number | null;
  readonly lastEnd: number | null;
  /** Of all attempts, s. */
  readonly busySeconds: number;
};

/** All that a page says of a sweep. */
export type PageData = {
  readonly report: Report;
  readonly runs: readonly PageRun[];
  readonly groups: readonly PageGroup[];
  readonly ranking: Ranking | null;
  /** Of the group that is ranked; null: there is nothing to rank by. */
  readonly importance: Importance | null;
  readonly rankedGroup: string | null;
  readonly origin: Origin;
};

/** Points of all curves of a figure together, and of one at least: so that a page of many runs stays small. */
const POINTS = 24_000;
const LEAST_POINTS = 16;
const MOST_POINTS = 120;

/**
 * Reads what a page shows, beside the tables of its report.
 *
 * @param objective What the sweep file tries to make large or small; null: it does not say.
 */
export function readPageData(sweepDirectory: string, report: Report, objective: Objective | null): PageData {
  const directory = resolve(sweepDirectory);
  const outline = readOutline(directory);
  const known = readRuns(directory);
  const reading: Reading = { outline, objective, value: report.value, all: known };
  const read = report.sections.map((section) => {
    const runs = known.filter(({ group }) => group === section.group);
    return readGroup(runs, section, reading);
  });
  const records = known.map((run) => readRunRecord(run.directory));
  const places = new Map(read.flatMap(({ places: ofGroup }) => [...ofGroup]));
  const runs = known.map((run, index) => pageRun(run, records[index] ?? null, places.get(index)));
  const ranked = rankedFirst(read, objective);
  return {
    ...{ report, runs, groups: read.map(({ group }) => group) },
    ranking: ranked?.ranking ?? null,
    rankedGroup: ranked?.group.name ?? null,
    importance: ranked === null ? null : importanceOf(runs, ranked.group.name, ranked.ranking!),
    origin: originOf(records.filter((record) => record !== null)),
  };
}

type Reading = {
  readonly outline: SweepOutline;
  readonly objective: Objective | null;
  readonly value: RunValue;
  readonly all: readonly ReportedRun[];
};

/** What is known of a run only when its group has been read. */
type Place = Pick<PageRun, 'setting' | 'metric' | 'value'>;
type ReadGroup = { group: PageGroup; ranking: Ranking | null; places: Map<number, Place> };

function readGroup(runs: readonly ReportedRun[], section: Section, reading: Reading): ReadGroup {
  const { outline, objective, value, all } = reading;
  const choice = metricsToShow(outline, section.group);
  const settings = new Map(
    cellsOf(runs).flatMap(({ varies, runs: ofCell }) => ofCell.map((run) => [run, parameterText(varies)])),
  );
  const points = Math.max(LEAST_POINTS, Math.min(MOST_POINTS, Math.floor(POINTS / Math.max(1, runs.length))));
  const figures = new Map<string, PageCurve[]>();
  const places = new Map<number, Place>();
  let ranking: Ranking | null = null;
  // One after the other: all of them at once may be more than fits into memory.
  for (const run of runs) {
    const metrics = openMetrics(run.directory, keptFor(value)).readNow();
    const written = new Set(metrics.keys());
    const keys = section.kind === 'metrics' ? section.keys : shownMetrics(written, choice);
    ranking ??= rankingOf(written, keys, objective);
    const place = { run: all.indexOf(run), setting: settings.get(run)! };
    const curve = { ...place, isOver: run.state !== 'running' && run.state !== 'queued' };
    for (const metric of keys) {
      const line = thinned(finiteOf(metrics, metric, choice.x), points, section.kind === 'memory');
      if (line.x.length > 0) addTo(figures, metric, { ...curve, ...line });
    }
    places.set(place.run, { setting: place.setting, ...resultOf(metrics, ranking, { x: choice.x, value }) });
  }
  const group = {
    ...{ name: section.group, kind: section.kind, xKey: choice.x, settings: settingsInOrder(settings, section) },
    figures: [...figures].map(([metric, curves]) => ({ metric, curves })),
  };
  return { group, ranking, places };
}

/** As the rows of the table above the figures, where it has rows: then a setting has one colour in all of them. */
function settingsInOrder(settings: ReadonlyMap<ReportedRun, string>, section: Section): string[] {
  const runs = [...settings.keys()];
  const inOrder = section.kind === 'memory' ? runs.toSorted((a, b) => rowOf(a, section) - rowOf(b, section)) : runs;
  return [...new Set(inOrder.map((run) => settings.get(run)!))];
}

function rowOf({ parameters }: ReportedRun, { rows }: Extract<Section, { kind: 'memory' }>): number {
  const task = memoryTask(parameters);
  if (task === null) return rows.length;
  const bins = task.condition.kind === 'binned' ? task.condition.bins : null;
  const name = conditionName(task.condition);
  return rows.findIndex((row) => row.condition === name && row.N === task.N && row.bins === bins);
}

/** @param isLog Whether it is looked at over log x, where the first steps take as much room as the many last ones. */
function thinned(line: Line, points: number, isLog: boolean): Line {
  if (!isLog) return downsample(line, points / 2);
  const first = line.x.findIndex((x) => x > 0);
  if (first < 0) return { x: new Float64Array(), y: new Float64Array() };
  const { x, y } = downsample({ x: line.x.subarray(first).map(Math.log), y: line.y.subarray(first) }, points / 2);
  return { x: x.map(Math.exp), y };
}

/**
 * The group whose runs are ranked: the first that writes what the sweep tries to make large or small, or else one of which it is
 * known which end is best. Others are there to prepare for it. Null: nothing was written.
 */
function rankedFirst(read: readonly ReadGroup[], objective: Objective | null): ReadGroup | null {
  const worth = ({ ranking }: ReadGroup) =>
    ranking === null ? 0 : ranking.metric === objective?.name ? 3 : ranking.goal === null ? 1 : 2;
  const most = Math.max(0, ...read.map(worth));
  return most === 0 ? null : read.find((each) => worth(each) === most)!;
}

/** Over the x axis of the sweep; over the steps where a run does not know it. */
function finiteOf(metrics: RunMetrics, metric: string, x: string): { x: Float64Array; y: Float64Array } {
  const wanted = metrics.series(metric, x);
  const line = wanted.y.length === 0 ? metrics.series(metric) : wanted;
  const kept = Array.from(line.y.keys()).filter((at) => Number.isFinite(line.y[at]) && Number.isFinite(line.x[at]));
  return { x: Float64Array.from(kept, (at) => line.x[at]!), y: Float64Array.from(kept, (at) => line.y[at]!) };
}

/** The objective of the sweep where the group writes it; else the first metric, a loss downwards. */
function rankingOf(written: ReadonlySet<string>, keys: readonly string[], objective: Objective | null): Ranking | null {
  if (objective !== null && written.has(objective.name)) return { metric: objective.name, goal: objective.goal };
  const [first] = keys;
  return first === undefined ? null : { metric: first, goal: isLossName(first) ? 'minimize' : null };
}

function resultOf(
  metrics: RunMetrics,
  ranking: Ranking | null,
  { x, value }: { x: string; value: RunValue },
): Pick<PageRun, 'metric' | 'value'> {
  if (ranking === null) return { metric: null, value: null };
  const { metric } = ranking;
  const best = value.kind === 'best' ? bestPlace(metrics.series(value.objective, x), value.goal) : null;
  return { metric, value: runValue(metrics.series(metric, x), value, best) };
}

function pageRun(run: ReportedRun, record: RunRecord | null, place: Place | undefined): PageRun {
  const { attempts, argv } = record ?? { attempts: [], argv: null };
  return {
    ...{ name: run.name, group: run.group, state: run.state, parameters: run.parameters },
    ...(place ?? { setting: '', metric: null, value: null }),
    command: argv === null ? null : shellQuote(argv),
    seconds: attempts.some(({ endedAt }) => endedAt !== null) ? secondsOf(attempts) : null,
    attempts: attempts.length,
    failure: failureOf(attempts.at(-1)?.outcome ?? null),
  };
}

function secondsOf(attempts: RunRecord['attempts']): number {
  return attempts.reduce((sum, { startedAt, endedAt }) => sum + ((endedAt ?? startedAt) - startedAt) / 1000, 0);
}

function failureOf(outcome: Outcome | null): string | null {
  return outcome === null || outcome.kind === 'done' || outcome.kind === 'killed' ? null : failureReason(outcome);
}

/** Of the parameters of a group on what its runs are ranked by. */
function importanceOf(runs: readonly PageRun[], group: string, { goal }: Ranking): Importance {
  const measured = runs
    .filter((run) => run.group === group)
    .map(({ parameters, value }) => ({ parameters, objective: value }));
  const work = importanceSteps({ runs: measured, goal }, seededRandom(1));
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
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
