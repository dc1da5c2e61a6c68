import { groupBy } from '../base/group-by.js';
import { seededRandom, type Random } from './parameters/seeded-random.js';
import { quantile } from './statistics.js';

/** Lower and upper end. */
export type Interval = readonly [number, number];

/** Number of resamples; with this many the ends of an interval move by some 2 % of its width between two seeds. */
const RESAMPLES = 2000;

/**
 * The 95 % interval of a statistic by the percentile bootstrap (Efron 1979; for seeds of a run: Agarwal et al. 2021): the
 * statistic of samples of the same size that are drawn from the values with replacement, from 2.5 % to 97.5 % of them.
 *
 * @param values At least one. @param statistic Of values in ascending order. The same values give the same interval.
 */
export function bootstrap95(
  values: readonly number[],
  statistic: (sorted: readonly number[]) => number,
): readonly [number, number] {
  return resampled95(values.length, (random) => statistic(drawnFrom(values, random).sort((a, b) => a - b)))!;
}

/**
 * The 95 % percentile interval of a statistic, resampled as the caller chooses.
 *
 * @param seed Of the random numbers; the same seed gives the same interval.
 * @param draw The statistic of one resample, which may be infinite; null: the resample says nothing, and is left out.
 * @returns Null: no resample says anything.
 */
export function resampled95(seed: number, draw: (random: Random) => number | null): Interval | null {
  const random = seededRandom(seed);
  const drawn: number[] = [];
  for (let sample = 0; sample < RESAMPLES; sample++) {
    const statistic = draw(random);
    if (statistic !== null && !Number.isNaN(statistic)) drawn.push(statistic);
  }
  if (drawn.length === 0) return null;
  const sorted = Array.from(Float64Array.from(drawn).sort());
  return [quantile(sorted, 0.025), quantile(sorted, 0.975)];
}

/** A value, and the base model (or other shared origin) that it hangs on: values of one cluster may be more alike than those of two. */
export type Clustered<Value> = { readonly cluster: string; readonly value: Value };

/**
 * One resample of the hierarchical bootstrap (Davison & Hinkley 1997, section 3.8): clusters are drawn with replacement, then
 * within each drawn cluster its values, as many as it has.
 *
 * Cells that hang on the same clusters are drawn with the same ones, since what a base model does to one condition it does to the
 * others; otherwise each cell draws its own. With a single cluster this is the usual bootstrap within each cell.
 *
 * @param cells Each with at least one value.
 */
export function drawClustered<Value>(cells: readonly (readonly Clustered<Value>[])[], random: Random): Value[][] {
  const named = cells.map(clustersOf);
  const names = named.map((clusters) => [...clusters.keys()]);
  const isShared = names.every((own) => own.length === names[0]!.length && own.every((name) => named[0]!.has(name)));
  const shared = isShared ? drawnNames(names[0]!, random) : null;
  return named.map((clusters, index) =>
    (shared ?? drawnNames(names[index]!, random)).flatMap((name) =>
      drawnFrom(clusters.get(name)!, random).map(({ value }) => value),
    ),
  );
}

/** The clusters of each cell, computed once, as a cell is resampled thousands of times. */
const known = new WeakMap<readonly object[], ReadonlyMap<string, readonly object[]>>();

function clustersOf<Value>(cell: readonly Clustered<Value>[]): ReadonlyMap<string, readonly Clustered<Value>[]> {
  const clusters = known.get(cell) ?? groupBy(cell, ({ cluster }) => cluster);
  known.set(cell, clusters);
  return clusters as ReadonlyMap<string, readonly Clustered<Value>[]>;
}

/** A single name is not drawn, so that the random numbers are those of a bootstrap without clusters. */
function drawnNames(names: readonly string[], random: Random): readonly string[] {
  return names.length === 1 ? names : drawnFrom(names, random);
}

/** As many values as there are, drawn with replacement. */
function drawnFrom<Value>(values: readonly Value[], random: Random): Value[] {
  return values.map(() => values[Math.floor(random() * values.length)]!);
}
