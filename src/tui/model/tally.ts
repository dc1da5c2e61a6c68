import type { Results } from '../../analysis/seed-statistics.js';
import { withoutNoise } from '../../analysis/statistics.js';
import { groupBy } from '../../base/group-by.js';
import { endStates, isBroken, isUnhealthy, progressOf, type RunHealth } from '../../base/run-words.js';
import type { FleetPort, RunSummary, RunWord } from '../state/port.js';
import { statesInOrder } from './state-look.js';

/** Summary of many runs. */
export type Tally = {
  readonly total: number;
  readonly counts: Readonly<Record<RunWord, number>>;
  /** Number of runs with each health problem: running ones, and ended ones that keep it. */
  readonly unhealthy: ReadonlyMap<RunHealth, number>;
  /** Mean progress of the runs, 0 to 1; a done run counts as 1. */
  readonly progress: number;
  /** Last values of the chosen metric; null: no run has one. */
  readonly metric: RunValues | null;
};

/**
 * Mean and sample standard deviation (0 for one value) of the `count` finite values; the mean is NaN if none is finite. `nan`,
 * `infinite`: number of runs with such a value.
 */
export type RunValues = {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
} & Pick<Results, 'nan' | 'infinite'>;

/** Copied for each tally, which is much cheaper than building it: ten thousand runs have some thousand groups. */
const none = Object.fromEntries(statesInOrder.map((state) => [state, 0])) as Record<RunWord, number>;

/** Shared by groups without problems; must not be modified. */
const allWell = new Map<RunHealth, number>();

export function tally(runs: readonly RunSummary[], metric: string | null): Tally {
  const counts = { ...none };
  let unhealthy = allWell;
  let progress = 0;
  const spread = new Spread();
  for (const run of runs) {
    counts[run.state]++;
    if (isUnhealthy(run)) {
      unhealthy = unhealthy === allWell ? new Map<RunHealth, number>() : unhealthy;
      unhealthy.set(run.health, (unhealthy.get(run.health) ?? 0) + 1);
    }
    progress += progressOf(run);
    const value = metric === null ? undefined : run.metrics[metric];
    if (value !== undefined) spread.add(value ?? Number.NaN);
  }
  return {
    total: runs.length,
    counts,
    unhealthy,
    progress: runs.length === 0 ? 0 : progress / runs.length,
    metric: spread.result(),
  };
}

/** Statistics of a value of each run; undefined: the run has none, null: it is not a number. Null: no run has one. */
export function valuesOf(
  runs: readonly RunSummary[],
  valueOf: (run: RunSummary) => number | null | undefined,
): RunValues | null {
  const spread = new Spread();
  for (const run of runs) {
    const value = valueOf(run);
    if (value !== undefined) spread.add(value ?? Number.NaN);
  }
  return spread.result();
}

/** Whether the best values of these runs are of one metric. */
export function hasOneObjective(runs: readonly RunSummary[]): boolean {
  let metric: string | null = null;
  for (const run of runs) {
    if (bestOf(run) === undefined) continue;
    metric ??= run.best!.metric;
    if (metric !== run.best!.metric) return false;
  }
  return true;
}

/** The best value of a run's objective, or the last if none is finite; undefined: it has written none. */
export function bestOf({ best, metrics }: RunSummary): number | undefined {
  if (best === undefined) return undefined;
  return best.value ?? (Object.hasOwn(metrics, best.metric) ? (metrics[best.metric] ?? Number.NaN) : undefined);
}

/**
 * How far runs have come, for comparison with each other.
 *
 * @param xKey The metric that counts the steps of these runs; where one of them has not written it, their progress stands for it.
 */
export function placesOf(runs: readonly RunSummary[], xKey: string): readonly number[] {
  const steps = runs.map(({ metrics }) => (Object.hasOwn(metrics, xKey) ? metrics[xKey] : null));
  return steps.every((step) => Number.isFinite(step)) ? (steps as number[]) : runs.map(progressOf);
}

/** Runs within this share of the furthest are as far as it: the last rows of equal runs need not be of the same step. */
const SAME_PLACE = 0.98;

/** The number of runs that have not come as far as the furthest of them, so that their values are of an earlier time. */
export function countBehind(places: readonly number[]): number {
  const furthest = places.reduce((most, place) => Math.max(most, place), 0);
  return places.reduce((count, place) => count + Number(place < furthest * SAME_PLACE), 0);
}

/** The runs whose values say something of their setting: those that did not break, or all if none is left. */
export function soundRuns(runs: readonly RunSummary[]): readonly RunSummary[] {
  const sound = runs.filter((run) => !isBroken(run));
  return sound.length === 0 ? runs : sound;
}

/** Whether there are runs and all have ended. */
export function isOver({ counts, total }: Tally): boolean {
  return total > 0 && endStates.reduce((sum, state) => sum + counts[state], 0) === total;
}

export { elapsedMs as elapsed } from '../../analysis/forecast/busy-time.js';

/** Running mean and variance by Welford's algorithm, which needs no array of values. */
class Spread {
  #count = 0;
  #mean = 0;
  #squares = 0;
  #nan = 0;
  #infinite = 0;

  add(value: number): void {
    if (!Number.isFinite(value)) {
      if (Number.isNaN(value)) this.#nan++;
      else this.#infinite++;
      return;
    }
    this.#count++;
    const before = value - this.#mean;
    this.#mean += before / this.#count;
    this.#squares += before * (value - this.#mean);
  }

  result(): Tally['metric'] {
    const counts = { count: this.#count, nan: this.#nan, infinite: this.#infinite };
    const { count, nan, infinite } = counts;
    if (count + nan + infinite === 0) return null;
    if (count === 0) return { mean: Number.NaN, deviation: 0, ...counts };
    const deviation = count > 1 ? withoutNoise(Math.sqrt(this.#squares / (count - 1)), this.#mean) : 0;
    return { mean: this.#mean, deviation, ...counts };
  }
}

/** A sweep that can be shown; `sweep` null: all sweeps together. */
export type SweepChoice = { readonly sweep: string | null; readonly tally: Tally };

/** The choices: all sweeps together if there are several, then each sweep, most recently submitted first. */
export function sweepChoices({ runs, sweeps }: Pick<FleetPort, 'runs' | 'sweeps'>): readonly SweepChoice[] {
  const all = [...runs.values()];
  const own = groupBy(all, ({ sweep }) => sweep);
  const each = [...sweeps.keys()]
    .reverse()
    .map((sweep): SweepChoice => ({ sweep, tally: tally(own.get(sweep) ?? [], null) }));
  return each.length > 1 ? [{ sweep: null, tally: tally(all, null) }, ...each] : each;
}

/** The title of a sweep in the menu of sweeps. */
export function sweepTitle(sweep: string | null): string {
  return sweep ?? 'all sweeps';
}
