import type { Results } from '../../analysis/seed-statistics.js';
import { withoutNoise } from '../../analysis/statistics.js';
import { endStates, isUnhealthy, type RunHealth } from '../../base/run-words.js';
import type { RunSummary, RunWord } from '../state/port.js';
import { statesInOrder } from './state-look.js';

/** Many runs in a few numbers. */
export type Tally = {
  readonly total: number;
  readonly counts: Readonly<Record<RunWord, number>>;
  /** With how many runs what is wrong: running ones, and ended ones that keep a word. */
  readonly unhealthy: ReadonlyMap<RunHealth, number>;
  /** 0..1, the mean over the runs; a done run counts as whole. */
  readonly progress: number;
  /** The chosen metric's last values; null where no run has one. */
  readonly metric: RunValues | null;
};

/**
 * Mean and sample standard deviation (0 of one) over the `count` values of runs that are finite; the mean is NaN where none
 * is. `nan`, `infinite`: runs whose value is that.
 */
export type RunValues = {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
} & Pick<Results, 'nan' | 'infinite'>;

/** Copied for each tally: far cheaper than making it, and ten thousand runs have some thousand groups. */
const none = Object.fromEntries(statesInOrder.map((state) => [state, 0])) as Record<RunWord, number>;

/** Not to be added to: what most groups have. */
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

/** Over the best values of runs that have one objective; null where they have several, or no value. */
export function bestValues(runs: readonly RunSummary[]): RunValues | null {
  const spread = new Spread();
  let metric: string | null = null;
  for (const run of runs) {
    const value = bestOf(run);
    if (value === undefined) continue;
    metric ??= run.best!.metric;
    if (metric !== run.best!.metric) return null;
    spread.add(value);
  }
  return spread.result();
}

/** Over what was read off the runs' curves; null where there is none yet. */
export function curveValues(runs: readonly RunSummary[], word: string): RunValues | null {
  const spread = new Spread();
  for (const run of runs) {
    const value = run.curveValues?.[word];
    if (value !== undefined) spread.add(value);
  }
  return spread.result();
}

/** The best value of a run's objective: the last where none is finite; undefined: it has written none. */
export function bestOf({ best, metrics }: RunSummary): number | undefined {
  if (best === undefined) return undefined;
  return best.value ?? (Object.hasOwn(metrics, best.metric) ? (metrics[best.metric] ?? Number.NaN) : undefined);
}

/** 0..1; a done run is whole even when its rule ended it early. */
export function progressOf(run: RunSummary): number {
  return run.state === 'done' ? 1 : (run.progress ?? 0);
}

/** Whether all of them have ended; not of none. */
export function isOver({ counts, total }: Tally): boolean {
  return total > 0 && endStates.reduce((sum, state) => sum + counts[state], 0) === total;
}

export { elapsedMs as elapsed } from '../../analysis/forecast/busy-time.js';

/** Welford's running mean and variance: ten thousand values need no array. */
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
