import { isSeedName, parameterOf, type Parameters } from '../../base/scalar.js';
import { parameterNames } from './factors.js';

type Run = { readonly parameters: Parameters; readonly group?: string | undefined };

/**
 * Runs that differ only in their seeds, and in parameters computed from them. `rows`: their indices. `seeds`: those of each seed,
 * and `seedNames` what it is called.
 */
export type Setting = {
  readonly parameters: Parameters;
  readonly rows: readonly number[];
  readonly seeds: readonly (readonly number[])[];
  readonly seedNames: readonly string[];
};

/** Number of runs in one step. */
const STEP = 200;

/** Names of parameters that differ between repetitions of one setting: seeds, and what is computed from them. */
export function repetitionNames(
  runs: readonly Pick<Run, 'parameters'>[],
  fromSeeds: readonly string[],
): ReadonlySet<string> {
  const names = parameterNames(runs.map(({ parameters }) => parameters));
  return new Set([...[...names].filter(isSeedName), ...fromSeeds]);
}

/** Whether runs differ in nothing but their seeds, and in parameters computed from them. */
export function isOneSetting(runs: readonly Run[], fromSeeds: readonly string[]): boolean {
  const [first] = runs;
  return runs.every(
    (run) => run.group === first!.group && !differsBeyondSeed(run.parameters, first!.parameters, fromSeeds),
  );
}

function differsBeyondSeed(a: Parameters, b: Parameters, fromSeeds: readonly string[]): boolean {
  if (a === b) return false;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (isSeedName(name) || fromSeeds.includes(name)) continue;
    if (JSON.stringify(parameterOf(a, name)) !== JSON.stringify(parameterOf(b, name))) return true;
  }
  return false;
}

/** Groups the runs by setting. A setting belongs to one group, as another group may run another program. In steps. */
export function* settingSteps(runs: readonly Run[], repetition: ReadonlySet<string>): Generator<0, Setting[]> {
  const rowsOf = new Map<string, number[]>();
  for (const [row, { group, parameters }] of runs.entries()) {
    if (row % STEP === 0) yield 0;
    const key = JSON.stringify([group, entriesOf(parameters, (name) => !repetition.has(name))]);
    const rows = rowsOf.get(key);
    if (rows === undefined) rowsOf.set(key, [row]);
    else rows.push(row);
  }
  return [...rowsOf.values()].map((rows) => {
    const bySeed = new Map<string, number[]>();
    for (const row of rows) {
      const seed = JSON.stringify(entriesOf(runs[row]!.parameters, isSeedName));
      bySeed.set(seed, [...(bySeed.get(seed) ?? []), row]);
    }
    const seeds = [...bySeed.values()];
    return { parameters: runs[rows[0]!]!.parameters, rows, seeds, seedNames: [...bySeed.keys()] };
  });
}

function entriesOf(parameters: Parameters, isWanted: (name: string) => boolean): unknown[] {
  return Object.entries(parameters)
    .filter(([name]) => isWanted(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The variance between runs that differ in nothing but their seeds. */
export type SeedNoise = {
  /** Its share of the variance of the objective over all runs, 0 to 1. */
  readonly share: number;
  /** Number of settings that were run with more than one seed, and of their seeds. */
  readonly settings: number;
  readonly runs: number;
};

/**
 * The pooled variance within settings (the mean square within, of a one-way analysis of variance) over the variance of all runs;
 * null where no setting has two seeds, or all runs are equal. A seed that was run twice counts once, with its mean.
 *
 * @param y The objective of each run.
 */
export function noiseOfSeeds(settings: readonly Setting[], y: Float64Array): SeedNoise | null {
  const repeated = settings
    .filter(({ seeds }) => seeds.length > 1)
    .map(({ seeds }) => seeds.map((rows) => meanOf(rows.map((row) => y[row]!))));
  const count = repeated.reduce((sum, { length }) => sum + length, 0);
  const all = squaresAround([...y]);
  if (repeated.length === 0 || !(all > 0)) return null;
  const within = repeated.reduce((sum, values) => sum + squaresAround(values), 0);
  const share = within / (count - repeated.length) / (all / (y.length - 1));
  return { share: Math.min(1, share), settings: repeated.length, runs: count };
}

function squaresAround(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The first of these parameters with at least two values among the runs, and at most `most`: enough to tell many curves apart by few
 * colours. Seeds tell nothing. null: none.
 */
export function tellingParameter(names: Iterable<string>, runs: readonly Parameters[], most: number): string | null {
  for (const name of names) {
    if (isSeedName(name)) continue;
    const values = new Set(runs.map((run) => JSON.stringify(parameterOf(run, name))));
    if (values.size > 1 && values.size <= most) return name;
  }
  return null;
}
