import { quantile } from './statistics.js';
import { seededRandom } from './parameters/seeded-random.js';

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
  const random = seededRandom(values.length);
  const drawn = Float64Array.from({ length: RESAMPLES }, () =>
    statistic(values.map(() => values[Math.floor(random() * values.length)]!).sort((a, b) => a - b)),
  ).sort();
  const sorted = Array.from(drawn);
  return [quantile(sorted, 0.025), quantile(sorted, 0.975)];
}
