import type { Value } from '../expand/expression/cel-environment.js';
import type { Objective } from '../planned-run.js';
import type { Observations } from './expected-improvement.js';
import type { Point } from './gaussian-process.js';

/** The finite values of its objective that a run has written so far. */
export type ObjectiveValues = { readonly min: number; readonly max: number; readonly last: number };

/**
 * A run of a search. `waiting`: not started, or to be retried. `stopped`: a rule ended it early. `broken`: it failed, was killed or
 * was lost.
 */
export type Trial = {
  readonly parameters: Readonly<Record<string, Value>>;
  readonly state: 'waiting' | 'running' | 'done' | 'stopped' | 'broken';
  /** Null: it has written none. */
  readonly values: ObjectiveValues | null;
};

/** The imputed value where no run has a value yet. */
const noValue = 0;

/**
 * The observations that the trials amount to, by W&B's rules. A done run counts with its best value, one that was stopped early
 * with its last; a broken one, or one without values, by `impute`: the worst value of all ended runs (the default), or its own best
 * or latest. A running run counts as pending, unless `impute_while_running` gives it a value.
 *
 * @param pointOf The place of a trial in the unit cube.
 */
export function observationsOf(
  trials: readonly Trial[],
  objective: Objective,
  pointOf: (trial: Trial) => Point,
): Observations {
  const sign = objective.goal === 'maximize' ? -1 : 1;
  const worst = worstOf(trials, objective);
  const observed: { point: Point; value: number }[] = [];
  const pending: Point[] = [];
  for (const trial of trials) {
    const value = valueOf(trial, objective, worst);
    if (value === null) pending.push(pointOf(trial));
    else observed.push({ point: pointOf(trial), value: sign * value });
  }
  return { points: observed.map(({ point }) => point), values: observed.map(({ value }) => value), pending };
}

/** The value of a trial; null: it is pending. */
function valueOf(trial: Trial, objective: Objective, worst: number): number | null {
  const isUncounted = trial.state === 'running' && !objective.impute_while_running;
  if (trial.state === 'waiting' || isUncounted) return null;
  const how = countsBy(trial, objective);
  return how === 'worst' ? worst : ownValue(trial.values, how, objective);
}

function countsBy({ state, values }: Trial, { impute, impute_while_running: meanwhile }: Objective) {
  if (values === null || state === 'broken') return (state === 'running' ? meanwhile || impute : impute) ?? 'worst';
  return state === 'stopped' ? 'latest' : 'best';
}

function ownValue(values: ObjectiveValues | null, how: 'best' | 'latest', { goal }: Objective): number {
  if (values === null) return noValue;
  if (how === 'latest') return values.last;
  return goal === 'maximize' ? values.max : values.min;
}

/** The worst value that any ended run has written. */
function worstOf(trials: readonly Trial[], { goal }: Objective): number {
  const ended = trials.flatMap(({ state, values }) =>
    state === 'waiting' || state === 'running' || values === null ? [] : values,
  );
  if (ended.length === 0) return noValue;
  return goal === 'maximize' ? Math.min(...ended.map(({ min }) => min)) : Math.max(...ended.map(({ max }) => max));
}
