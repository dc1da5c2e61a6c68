import { groupBy } from '../../base/group-by.js';
import { parameterOf, type Parameters } from '../../base/scalar.js';
import { parameterNames } from './factors.js';

/** How far runs lie apart that differ in nothing but their seeds. */
export type SeedNoise = {
  /** Of the variance of the objective over all runs, 0 … 1. */
  readonly share: number;
  /** Settings that were run with more than one seed, and the runs of them. */
  readonly settings: number;
  readonly runs: number;
};

const seedName = /(^|[._/-])(seed|random_state)$/i;

/** Parameters that stand for chance: those called so. */
export function seedNames(runs: readonly { readonly parameters: Parameters }[]): ReadonlySet<string> {
  const names = parameterNames(runs.map(({ parameters }) => parameters));
  return new Set([...names].filter((name) => seedName.test(name)));
}

/**
 * The pooled variance within settings (mean square within, of a one-way analysis of variance) over the variance of all runs;
 * null where no setting has two runs, or all runs are equal. A step per parameter.
 *
 * @param y The objective by run.
 */
export function* noiseOfSeeds(
  runs: readonly { readonly parameters: Parameters }[],
  seeds: ReadonlySet<string>,
  y: Float64Array,
): Generator<0, SeedNoise | null> {
  const settings = yield* replicated([...runs.keys()], runs, seeds);
  const count = settings.reduce((sum, { length }) => sum + length, 0);
  const within = settings.reduce((sum, rows) => sum + squaresAround(rows.map((row) => y[row]!)), 0);
  const all = squaresAround([...y]);
  if (settings.length === 0 || !(all > 0)) return null;
  const share = within / (count - settings.length) / (all / (y.length - 1));
  return { share: Math.min(1, share), settings: settings.length, runs: count };
}

/** Lists of runs that have all parameters but the seeds in common. A step per parameter. */
function* replicated(
  rows: readonly number[],
  runs: readonly { readonly parameters: Parameters }[],
  seeds: ReadonlySet<string>,
): Generator<0, (readonly number[])[]> {
  let groups: (readonly number[])[] = [rows];
  // One parameter after the other: where most runs have values of their own, few are left after the first.
  for (const name of parameterNames(runs.map(({ parameters }) => parameters))) {
    if (seeds.has(name)) continue;
    yield 0;
    groups = groups
      .flatMap((group) => [...groupBy(group, (row) => keyOf(parameterOf(runs[row]!.parameters, name))).values()])
      .filter(({ length }) => length > 1);
  }
  return groups;
}

function keyOf(value: Parameters[string] | undefined): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function squaresAround(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}
