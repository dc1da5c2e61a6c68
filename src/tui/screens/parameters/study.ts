import { type Factor, factorSteps } from '../../../analysis/parameters/factors.js';
import {
  type Importance,
  type ImportanceQuestion,
  importanceSteps,
} from '../../../analysis/parameters/parameter-importance.js';
import { repetitionNames } from '../../../analysis/parameters/settings.js';
import { seededRandom } from '../../../analysis/parameters/seeded-random.js';
import { groupBy } from '../../../base/group-by.js';
import { parameterOf } from '../../../base/scalar.js';
import type { RunSummary } from '../../state/port.js';
import type { ParametersScreen } from '../../state/ui-state.js';
import type { Direction } from '../compare/compare-value.js';
import { axisOf, type Column } from './axis.js';

/** What is asked of a sweep. */
export type StudyQuestion = {
  readonly sweep: string;
  /** Only the runs it lets through are looked at. */
  readonly filter: string;
  readonly metric: string;
  readonly goal: Direction;
  /** null: as the values need it. */
  readonly scale: NonNullable<ImportanceQuestion['scale']> | null;
  /** Parameters that the sweep computes from seeds. */
  readonly fromSeeds: readonly string[];
  /** Metrics to have beside it. */
  readonly others: readonly string[];
  /** Those that are done. */
  readonly runs: readonly RunSummary[];
};

/** The finished runs of a sweep, and what they say of its parameters. Its columns stay the same objects. */
export type Study = {
  readonly of: StudyQuestion;
  /** The runs looked at, by which all indexes are: of very many a part, evenly taken. */
  readonly runs: readonly RunSummary[];
  readonly importance: Importance;
  /** Those that vary, but for seeds; those that matter most first. */
  readonly parameters: readonly Column[];
  /** Those of the parameters that are worth an axis each beside all others. */
  readonly parallel: readonly Column[];
  readonly objective: Column;
  /** The other metrics. */
  readonly metrics: readonly Column[];
  /** What has so few values that runs can be told apart by them. */
  readonly groupings: readonly Column[];
  /** Indexes of the runs with a finite value, the best first, or the highest where nobody says which end is best. */
  readonly ranking: readonly number[];
  /** Parameters that differ between the seeds of one setting. */
  readonly seeds: ReadonlySet<string>;
};

/** More runs are not looked at: shares of the variance do not get surer, and a picture of more is a blot. */
const MOST_RUNS = 5000;
/** Values that can be told apart by their signs. */
const MOST_GROUPS = 8;

/** In steps of a few milliseconds. Yields how much is done, 0 … 1. The same runs always give the same study. */
export function* studySteps(question: StudyQuestion): Generator<number, Study> {
  const { goal, scale, metric, fromSeeds } = question;
  const runs = someOf(question.runs);
  const measured = runs.map((run) => ({ ...run, objective: lastValue(run, metric) }));
  const asked = { runs: measured, goal, fromSeeds, ...(scale === null ? {} : { scale }) };
  const importance = yield* importanceSteps(asked, seededRandom(1));
  const seeds = repetitionNames(runs, fromSeeds);
  // Of all runs: a parameter that makes every run diverge has one value among those that did not.
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

/** Null: it has written none. */
export function lastValue({ metrics }: RunSummary, metric: string): number | null {
  const value = metrics[metric];
  return value === undefined ? null : (value ?? Number.NaN);
}

/** Those that matter most first; those of which nothing can be said last. */
function inOrder(factors: readonly Factor[], importance: Importance): Factor[] {
  const effects = importance.kind === 'measured' ? importance.parameters : [];
  const places = new Map(effects.map(({ name }, place) => [name, place]));
  const placeOf = ({ name }: Factor) => places.get(name) ?? effects.length;
  return [...factors].sort((a, b) => placeOf(a) - placeOf(b));
}

function metricColumn(runs: readonly RunSummary[], name: string): Column {
  return drawable({ name, values: runs.map((run) => lastValue(run, name) ?? undefined), isResult: true });
}

/** With where its values lie worked out: the first picture of it is as quick as the next. */
function drawable(column: Column): Column {
  axisOf(column);
  return column;
}

/**
 * Parameters that vary over the runs with a result, and that half of these runs pass at least: one that belongs to a group of its
 * own would be an axis on which nearly all runs are `not set`. Several that are the same throughout each group say nothing but
 * which group it is, and have one axis, of the groups. All of them where none is left.
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

/** The groups of the sweep file, where there are several. */
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

/** Whether the values of the runs were explained, or their order. */
export function scaleOf({ importance, of }: Study): 'value' | 'rank' {
  return importance.kind === 'measured' ? importance.scale : (of.scale ?? 'value');
}

/** Position of the parameter under the cursor; null: none varies. */
export function chosenIndex({ parameters }: Study, { parameter }: Pick<ParametersScreen, 'parameter'>): number | null {
  const found = parameters.findIndex(({ name }) => name === parameter);
  return parameters.length === 0 ? null : Math.max(0, found);
}

/** The same among the axes of the parallel coordinates. */
export function chosenAxis({ parallel }: Study, { parameter }: Pick<ParametersScreen, 'parameter'>): number | null {
  const found = parallel.findIndex(({ name }) => name === parameter);
  return parallel.length === 0 ? null : Math.max(0, found);
}

/** What the parameter under the cursor can be drawn against: metrics, the one to explain first, then the other parameters. */
export function uprightsOf(study: Study, screen: Pick<ParametersScreen, 'parameter'>): readonly Column[] {
  const at = chosenIndex(study, screen);
  return [study.objective, ...study.metrics, ...study.parameters.filter((_, index) => index !== at)];
}

/** The rank of the run beside the baseline, where there may be fewer runs than when it was chosen. */
export function shownRank({ ranking }: Study, { rank }: Pick<ParametersScreen, 'rank'>): number {
  return Math.max(0, Math.min(rank, ranking.length - 1));
}

/** What the best run is measured against. `word`: what it is. */
export type Baseline = { readonly run: RunSummary; readonly word: string; readonly isPinned: boolean };

/** The run in the middle of the ranking; null: none has a value. */
export function medianBaseline(study: Study): Baseline | null {
  const run = middleRun(study, null);
  return run === null ? null : { run, word: 'median run', isPinned: false };
}

/** Of these runs, or of all of them, the one in the middle of the ranking. */
export function middleRun({ runs, ranking }: Study, of: ReadonlySet<RunSummary['id']> | null): RunSummary | null {
  const ranked = of === null ? ranking : ranking.filter((index) => of.has(runs[index]!.id));
  return runs[ranked[ranked.length >> 1] ?? -1] ?? null;
}

/** The metric of the runs that have all parameters of a run but the seeds, its own value included. */
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
