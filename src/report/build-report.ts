import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { ReportedRun } from '../analysis/analysed-run.js';
import { type AnsweredRun, answerOf, answerSentences } from '../analysis/answer/best-answer.js';
import { goalOf, type MetricsToShow, shownMetrics } from '../analysis/metric-order.js';
import type { Finding } from '../analysis/health/finding.js';
import { type GpuHours, gpuHours } from '../analysis/health/resources.js';
import { grouped } from '../base/group-by.js';
import { countStates, hasEnded } from '../base/run-words.js';
import { noSuchSweep, UserError } from '../base/user-error.js';
import { isGpuUtilization } from '../contract/metric-names.js';
import { readAnnotation } from '../files/run-directory/supervisor-notes.js';
import { computedFromSeeds } from '../files/sweep-folder.js';
import { openMetrics, type Pause, type RunMetrics, wallTime } from '../metrics/run-metrics.js';
import { declaredPlaces, hasNoMetrics } from '../metrics/run-places.js';
import type { RunValue } from '../analysis/run-value.js';
import { type Cell, cellsOf } from '../analysis/cells.js';
import { summariseMetrics } from './metric-summary.js';
import { eachRun, statesOf, withUnstarted } from '../runs/read-runs.js';
import { ReportCache } from './report-cache.js';
import { keptFor, valuesOf } from './run-values.js';
import { failuresOf, type Report, type RunMark, type Section } from './report.js';
import { countWords, RunMarks } from '../runs/run-marks.js';
import { type Declared, declaredIn, declaredOf, settingsOf } from './settings.js';
import { readStudies, studyFiles } from './studies/found-studies.js';
import {
  countingIn,
  metricsToShow,
  objectiveOf,
  type OutlinedObjective,
  readOutline,
  type SweepOutline,
} from '../runs/sweep-outline.js';

/** A value to compute from the metrics of a run. `by`: everything it depends on besides these and the sweep file. */
type Question<Answer> = {
  readonly keep: Parameters<typeof openMetrics>[1];
  readonly by: unknown;
  readonly take: (metrics: RunMetrics) => Answer;
};

/** Computes a value from the metrics of a run, unless an earlier report has stored it. */
type Ask = <Answer>(run: ReportedRun, question: Question<Answer>) => Promise<Answer>;

type ReportOptions = {
  /** Awaited between parts of the work, so that a window stays responsive. */
  readonly pause?: Pause | undefined;
  /** Runs as the supervisor knows them, including those without files. */
  readonly known?: readonly ReportedRun[];
  /** The runs to report, in place of those of a sweep: they were found in a folder, beside which nothing is written. */
  readonly found?: readonly ReportedRun[] | undefined;
  /** Which value of a metric stands for a run in the tables. */
  readonly value?: RunValue | undefined;
  /** Receives the metrics of each run once, before they are freed; makes all of them be read. */
  readonly seen?: (run: ReportedRun, metrics: RunMetrics) => void;
};

/**
 * Reads every run of a sweep, finished or not, and summarises them. Takes about 15 ms per megabyte of metrics that no earlier
 * report has read; writes nothing but its cache.
 *
 * @throws UserError when the directory does not exist or contains no runs.
 */
export async function buildReport(
  sweepDirectory: string,
  { pause, known = [], found, value = { kind: 'last' }, seen }: ReportOptions = {},
): Promise<Report> {
  const directory = resolve(sweepDirectory);
  const runs = found === undefined ? await runsOf(directory, known, pause) : [...found];
  if (runs.length === 0)
    throw new UserError(`${directory} holds no runs.`, 'Name a folder in which programs have written metrics.');
  const outline = readOutline(directory);
  const groups = inFileOrder(
    grouped(runs, ({ group }) => group),
    outline,
  );
  const sections: Section[] = [];
  const marks = new RunMarks(outline);
  const cache = found === undefined ? new ReportCache(directory) : null;
  const hours = new Map<string, GpuHours>();
  const declared: Declared = new Map();
  const ask = asking({ outline, marks, cache, hours, declared }, { pause, seen });
  const fromSeeds = computedFromSeeds(directory);
  for (const members of groups)
    sections.push(await sectionOf(members, { outline, value, marks, declared, fromSeeds }, ask));
  cache?.save();
  return {
    ...{ sweep: basename(directory), counts: countStates(runs), value, sections },
    ...{ marks: groups.flatMap(([run]) => marksIn(run!.group, marks)), annotations: annotationsOf(runs) },
    ...gpuHoursOf([...hours.values()]),
    failures: failuresOf(runs),
    ...(await readStudies(await studyFiles(directory, runs, pause), pause)),
  };
}

function gpuHoursOf(hours: readonly GpuHours[]): Pick<Report, 'gpuHours'> {
  const sum = (what: keyof GpuHours) => hours.reduce((all, each) => all + each[what], 0);
  return sum('seen') > 0 ? { gpuHours: { seen: sum('seen'), idle: sum('idle') } } : {};
}

/** Computes values of runs, and records how they ended. */
function asking(
  {
    outline,
    marks,
    cache,
    hours,
    declared,
  }: Pick<Asked, 'outline' | 'marks' | 'declared'> & {
    readonly cache: ReportCache | null;
    readonly hours: Map<string, GpuHours>;
  },
  { pause, seen }: { pause: ReportOptions['pause']; seen: ReportOptions['seen'] | undefined },
): Ask {
  // All runs without metrics share one object: most runs of short programs have none, and each search for them takes a while.
  let empty: RunMetrics | null = null;
  return async (run, { keep, by, take }) => {
    await pause?.();
    const places = declaredPlaces(run.directory, run.metrics);
    const isEmpty = hasEnded(run.state) && hasNoMetrics(run.directory, places.folders);
    if (isEmpty) empty ??= openMetrics(run.directory, { places }).readNow();
    const metrics = isEmpty ? empty! : openMetrics(run.directory, { ...keep, places });
    const read = async () => {
      if (!isEmpty) await metrics.readToEnd(pause);
      seen?.(run, metrics);
      const gpus = metrics.keys().filter(isGpuUtilization);
      const gpu = gpuHours(gpus.map((key) => metrics.series(key, wallTime)));
      const said = isEmpty ? {} : declaredOf(run, metrics).parameters;
      return { ended: marks.look(run, metrics), gpu, said, taken: take(metrics) };
    };
    const said = [metricsToShow(outline, run.group), objectiveOf(outline, run.group)];
    const asked = { metrics, question: [run.state, said, by] };
    const isKept = cache !== null && hasEnded(run.state) && seen === undefined && !isEmpty;
    const { ended, gpu, said: own, taken } = isKept ? await cache.answer(run.name, asked, read) : await read();
    marks.note(run, ended);
    hours.set(run.name, gpu);
    declared.set(run.name, own);
    return taken;
  };
}

function marksIn(group: string, marks: RunMarks): RunMark[] {
  return [...marks.in(group)].map(([run, finding]) => ({ run, ...finding }));
}

/**
 * The started runs, and the known ones that were not started; with the supervisor's states.
 *
 * @throws UserError when there are none.
 */
async function runsOf(directory: string, known: readonly ReportedRun[], pause?: Pause): Promise<ReportedRun[]> {
  if (!existsSync(directory)) {
    throw new UserError(
      `There is no sweep at ${directory}.`,
      'Name a sweep that was launched: `memrl-tui ls` lists them.',
      noSuchSweep,
    );
  }
  const runs: ReportedRun[] = [];
  for (const run of eachRun(directory, statesOf(known))) {
    await pause?.();
    runs.push(run);
  }
  const all = withUnstarted(runs, known);
  if (all.length > 0) return all;
  throw new UserError(`${directory} holds no runs.`, 'Launch the sweep first, or give its runs directory with --runs.');
}

function annotationsOf(runs: readonly ReportedRun[]): Report['annotations'] {
  return runs.flatMap(({ name, directory }) => {
    const annotation = readAnnotation(directory);
    return annotation === null ? [] : [{ run: name, ...annotation }];
  });
}

/** Groups in the order of the sweep file; unknown ones come last. */
function inFileOrder(groups: ReportedRun[][], { groups: known }: SweepOutline): ReportedRun[][] {
  const place = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ([run]: ReportedRun[]) => place.get(run!.group) ?? known.length;
  return groups.sort((a, b) => placeOf(a) - placeOf(b));
}

/** The settings of a table of metrics. */
type Asked = {
  readonly outline: SweepOutline;
  readonly value: RunValue;
  readonly marks: RunMarks;
  readonly declared: Declared;
  readonly fromSeeds: readonly string[];
};

async function sectionOf(
  runs: ReportedRun[],
  { outline, value, marks, declared, fromSeeds }: Asked,
  ask: Ask,
): Promise<Section> {
  const { group } = runs[0]!;
  const inFile = outline.groups.find(({ name }) => name === group);
  const head = { group, title: inFile?.title ?? null, settings: settingsOf(runs) };
  const cells = cellsOf(runs);
  const choice = { ...metricsToShow(outline, group), objective: objectiveOf(outline, group), value, fromSeeds };
  return {
    ...head,
    kind: 'metrics',
    ...(await metricTable(cells, { ...choice, marksIn: () => marks.in(group) }, ask)),
    declared: declaredIn(runs, declared),
  };
}

type MetricTable = Pick<Section & { kind: 'metrics' }, 'keys' | 'goals' | 'rows' | 'answer'>;

/** `marksIn`: the marks of a group, after its runs have been read. `fromSeeds`: parameters that the sweep computes from seeds. */
type Choice = MetricsToShow & {
  readonly fromSeeds: readonly string[];
  readonly value: RunValue;
  readonly objective: OutlinedObjective | null;
  readonly marksIn: () => ReadonlyMap<string, Finding>;
};

async function metricTable(cells: Cell[], choice: Choice, ask: Ask): Promise<MetricTable> {
  const values: Record<string, number | null>[][] = [];
  const counting = new Set<string>();
  const asked = [...choice.show, ...(choice.objective === null ? [] : [choice.objective.name])];
  const take = (metrics: RunMetrics) => ({
    values: valuesOf(metrics, { ...choice, keys: metrics.keys(asked) }),
    counting: countingIn(metrics, choice),
  });
  for (const { runs } of cells) {
    const ofCell: Record<string, number | null>[] = [];
    for (const run of runs) {
      const { value } = choice;
      const taken = await ask(run, { keep: keptFor(value), by: value, take });
      ofCell.push(taken.values);
      for (const key of taken.counting) counting.add(key);
    }
    values.push(ofCell);
  }
  const written = new Set(values.flat().flatMap((ofRun) => Object.keys(ofRun)));
  const keys = shownMetrics(written, choice, counting);
  const marks = choice.marksIn();
  const rows = cells.map((cell, index) => ({
    ...summariseMetrics(cell, values[index]!, keys),
    marks: countWords(cell.runs.flatMap(({ name }) => marks.get(name) ?? [])),
  }));
  const goals = Object.fromEntries(
    keys.flatMap((key) => {
      const goal = goalOf(key, choice.objective);
      return goal === null ? [] : [[key, goal] as const];
    }),
  );
  const measured = cells.flatMap(({ runs }, index) =>
    runs.map((run, at) => {
      return { ...run, health: marks.get(run.name)?.word ?? ('ok' as const), metrics: values[index]![at]! };
    }),
  );
  return { keys, goals, rows, answer: answerOfTable(measured, { keys, goals, fromSeeds: choice.fromSeeds }) };
}

/** Which setting is best by the first metric with a known good end; none: there is none, or one setting alone. */
function answerOfTable(
  runs: readonly AnsweredRun[],
  { keys, goals, fromSeeds }: Pick<MetricTable, 'keys' | 'goals'> & Pick<Choice, 'fromSeeds'>,
): string[] {
  const metric = keys.find((key) => goals[key] !== undefined);
  if (metric === undefined) return [];
  const answer = answerOf(runs, { metric, goal: goals[metric]!, fromSeeds });
  return answer.candidates.length + answer.broken.length < 2 ? [] : answerSentences(answer);
}
