import { type Factor, factorSteps } from '../../../analysis/parameters/factors.js';
import {
  type Importance,
  type ImportanceQuestion,
  importanceSteps,
} from '../../../analysis/parameters/parameter-importance.js';
import { repetitionNames } from '../../../analysis/parameters/settings.js';
import { seededRandom } from '../../../analysis/parameters/seeded-random.js';
import { groupBy } from '../../../base/group-by.js';
import { isBroken } from '../../../base/run-words.js';
import { parameterOf } from '../../../base/scalar.js';
import type { RunSummary } from '../../state/port.js';
import type { ScreenOf } from '../../state/ui-state.js';
import type { Direction } from '../compare/compare-value.js';
import { axisOf, type Column } from './axis.js';

/** The question that a study of a sweep answers. */
export type StudyQuestion = {
  readonly sweep: string;
  /** Only runs that match it are examined. */
  readonly filter: string;
  readonly metric: string;
  readonly goal: Direction;
  /** null: chosen according to the values. */
  readonly scale: NonNullable<ImportanceQuestion['scale']> | null;
  /** Parameters that the sweep computes from seeds. */
  readonly fromSeeds: readonly string[];
  /** Further metrics to include. */
  readonly others: readonly string[];
  /** The completed runs. */
  readonly runs: readonly RunSummary[];
};

/** The finished runs of a sweep, and the effects of its parameters. Its columns stay the same objects. */
export type Study = {
  readonly of: StudyQuestion;
  /** The examined runs, which all indexes refer to; if there are very many, an even sample. */
  readonly runs: readonly RunSummary[];
  readonly importance: Importance;
  /** Parameters that vary, except seeds; most important first. */
  readonly parameters: readonly Column[];
  /** Parameters that deserve an axis beside all others. */
  readonly parallel: readonly Column[];
  readonly objective: Column;
  /** The other metrics. */
  readonly metrics: readonly Column[];
  /** Columns with few enough values to distinguish runs by. */
  readonly groupings: readonly Column[];
  /** Indexes of runs with a finite value, best first, or highest first if it is not known which end is best. */
  readonly ranking: readonly number[];
  /** Parameters that differ between the seeds of one setting. */
  readonly seeds: ReadonlySet<string>;
};

/** Maximum number of examined runs: more make neither shares more certain nor pictures readable. */
const MOST_RUNS = 5000;
/** Maximum number of values that can be distinguished by their signs. */
const MOST_GROUPS = 8;

/** Computes a study in steps of a few milliseconds. Yields progress from 0 to 1. The same runs always give the same study. */
export function* studySteps(question: StudyQuestion): Generator<number, Study> {
  const { goal, scale, metric, fromSeeds } = question;
  const runs = someOf(question.runs);
  const measured = runs.map((run) => ({ ...run, objective: lastValue(run, metric), isBroken: isBroken(run) }));
  const asked = { runs: measured, goal, fromSeeds, ...(scale === null ? {} : { scale }) };
  const importance = yield* importanceSteps(asked, seededRandom(1));
  const seeds = repetitionNames(runs, fromSeeds);
  // Uses all runs, because a parameter that makes every run diverge has only one value among those that did not.
  const { factors } = yield* factorSteps(
    runs.map(({ parameters }) => parameters),
    seeds,
  );
  const objective = metricColumn(runs, metric);
  const parameters: Column[] = [];
  for (const { name } of inOrder(factors, importance)) {
    yield 1;
    parameters.push(drawable({ name, values: runs.map((run) => parameterOf(run.parameters, name)) }));
  }
  const metrics = question.others.map((name) => metricColumn(runs, name));
  const few = new Set(factors.filter(({ levels }) => levels.length <= MOST_GROUPS).map(({ name }) => name));
  return {
    ...{ of: question, runs, importance, parameters, objective, metrics, seeds },
    parallel: axesAmong(parameters, objective, runs),
    groupings: [...groupColumn(runs), ...parameters.filter(({ name }) => few.has(name))],
    ranking: rankingOf(objective, goal),
  };
}

function someOf<T>(items: readonly T[]): readonly T[] {
  if (items.length <= MOST_RUNS) return items;
  return Array.from({ length: MOST_RUNS }, (_, index) => items[Math.floor((index * items.length) / MOST_RUNS)]!);
}

/** Null: the run has not written the metric. */
export function lastValue({ metrics }: RunSummary, metric: string): number | null {
  const value = metrics[metric];
  return value === undefined ? null : (value ?? Number.NaN);
}

/** Most important parameters first, those without an estimate last. */
function inOrder(factors: readonly Factor[], importance: Importance): Factor[] {
  const effects = importance.kind === 'measured' ? importance.parameters : [];
  const places = new Map(effects.map(({ name }, place) => [name, place]));
  const placeOf = ({ name }: Factor) => places.get(name) ?? effects.length;
  return [...factors].sort((a, b) => placeOf(a) - placeOf(b));
}

function metricColumn(runs: readonly RunSummary[], name: string): Column {
  return drawable({ name, values: runs.map((run) => lastValue(run, name) ?? undefined), isResult: true });
}

/** Computes the positions of a column's values in advance, so that its first picture is as quick as later ones. */
function drawable(column: Column): Column {
  axisOf(column);
  return column;
}

/**
 * Parameters that vary over the runs with a result and are passed to at least half of these. A parameter of a single group would be
 * an axis with nearly all runs at `not set`. Parameters that are constant within each group only identify the group, so the axis of
 * groups replaces them. If none is left, all parameters.
 */
function axesAmong(parameters: readonly Column[], { values }: Column, all: readonly RunSummary[]): readonly Column[] {
  const runs = [...values.keys()].filter((run) => values[run] !== undefined);
  const textsOf = ({ values: own }: Column, of: readonly number[]) =>
    new Set(of.map((run) => JSON.stringify(own[run])));
  const found = parameters.filter((column) => {
    const passed = runs.filter((run) => column.values[run] !== undefined);
    return 2 * passed.length >= runs.length && textsOf(column, passed).size > 1;
  });
  const groups = [...groupBy(runs, (run) => all[run]!.group).values()];
  const within = found.filter((column) => groups.some((group) => textsOf(column, group).size > 1));
  const isWorthOne = within.length > 0 && within.length + 1 < found.length;
  const axes = isWorthOne ? [...within, ...groupColumn(all).map(drawable)] : found;
  return axes.length > 0 ? axes : parameters;
}

/** The groups of the sweep file as a column, if there are several. */
function groupColumn(runs: readonly RunSummary[]): Column[] {
  const count = new Set(runs.map(({ group }) => group)).size;
  return count > 1 && count <= MOST_GROUPS ? [{ name: 'group', values: runs.map(({ group }) => group) }] : [];
}

function rankingOf({ values }: Column, goal: Direction): number[] {
  const sign = goal === 'minimize' ? 1 : -1;
  const valueOf = (run: number) => values[run] as number;
  return [...values.keys()]
    .filter((run) => Number.isFinite(values[run]))
    .sort((a, b) => sign * (valueOf(a) - valueOf(b)));
}

/** Whether the values or the ranks of the runs were explained. */
export function scaleOf({ importance, of }: Study): 'value' | 'rank' {
  return importance.kind === 'measured' ? importance.scale : (of.scale ?? 'value');
}

/** Position of the parameter under the cursor; null: none varies. */
export function chosenIndex(
  { parameters }: Study,
  { parameter }: Pick<ScreenOf<'parameters'>, 'parameter'>,
): number | null {
  const found = parameters.findIndex(({ name }) => name === parameter);
  return parameters.length === 0 ? null : Math.max(0, found);
}

/** Position of the parameter under the cursor among the axes of the parallel coordinates. */
export function chosenAxis(
  { parallel }: Study,
  { parameter }: Pick<ScreenOf<'parameters'>, 'parameter'>,
): number | null {
  const found = parallel.findIndex(({ name }) => name === parameter);
  return parallel.length === 0 ? null : Math.max(0, found);
}

/** Possible y axes for the parameter under the cursor: metrics, the explained one first, then the other parameters. */
export function uprightsOf(study: Study, screen: Pick<ScreenOf<'parameters'>, 'parameter'>): readonly Column[] {
  const at = chosenIndex(study, screen);
  return [study.objective, ...study.metrics, ...study.parameters.filter((_, index) => index !== at)];
}

/** The rank of the run beside the baseline, limited to the present number of runs. */
export function shownRank({ ranking }: Study, { rank }: Pick<ScreenOf<'parameters'>, 'rank'>): number {
  return Math.max(0, Math.min(rank, ranking.length - 1));
}

/** The run that the best run is compared with. `word`: its role. */
export type Baseline = { readonly run: RunSummary; readonly word: string; readonly isPinned: boolean };

/** The run in the middle of the ranking; null: none has a value. */
export function medianBaseline(study: Study): Baseline | null {
  const run = middleRun(study, null);
  return run === null ? null : { run, word: 'median run', isPinned: false };
}

/** The middle run of the ranking, among these runs or among all. */
export function middleRun({ runs, ranking }: Study, of: ReadonlySet<RunSummary['id']> | null): RunSummary | null {
  const ranked = of === null ? ranking : ranking.filter((index) => of.has(runs[index]!.id));
  return runs[ranked[ranked.length >> 1] ?? -1] ?? null;
}

/** Values of the metric in the runs that have all parameters of a run except the seeds, including its own. */
export function valuesOverSeeds({ runs, of: { metric }, seeds }: Study, { parameters, group }: RunSummary): number[] {
  const texts = Object.entries(parameters).filter(([name]) => !seeds.has(name));
  const isSame = (run: RunSummary) =>
    run.group === group &&
    Object.keys(run.parameters).filter((name) => !seeds.has(name)).length === texts.length &&
    texts.every(([name, value]) => isEqual(parameterOf(run.parameters, name), value));
  return runs.filter(isSame).flatMap((run) => lastValue(run, metric) ?? []);
}

function isEqual(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || (typeof a === 'object' && a !== null && JSON.stringify(a) === JSON.stringify(b));
}

/** Everything the screen is drawn from except the choices made on it. */
export type ParametersFacts = {
  /** Null: not computed yet. `progress`: progress of the first one, 0 to 1. */
  readonly study: Study | null;
  readonly progress: number;
  /** Null: no run has written any. */
  readonly metric: string | null;
  readonly filter: string;
  /** Number of runs of the sweep that match the filter; then how many of them are done and how many have not ended. */
  readonly total: number;
  readonly done: number;
  readonly pending: number;
  /** Ended runs of all sweeps whose metrics are still being read. */
  readonly unread: number;
  /** Index of the run selected in the list; null: it is not among the examined runs. */
  readonly selected: number | null;
  /** Null: no run has a value. */
  readonly baseline: Baseline | null;
};
