import { jackknifeError, mean } from '../../analysis/statistics.js';

/** One measurement of both terms of the gradient noise scale (McCandlish et al. 2018): ‖G‖² and tr(Σ), either of which may be below zero. */
export type NoiseMeasurement = { readonly signal: number; readonly noise: number };

/**
 * The noise scale of several measurements: mean noise divided by mean signal, since a mean of quotients would be
 * biased. The error is that of the jackknife over measurements.
 * @returns null for fewer than two measurements, or when a mean is not above zero.
 */
export function pooledNoiseScale(
  measurements: readonly NoiseMeasurement[],
): { readonly scale: number; readonly standardError: number } | null {
  if (measurements.length < 2) return null;
  const scaleOf = (some: readonly NoiseMeasurement[]) => {
    const [noise, signal] = [mean(some.map((each) => each.noise))!, mean(some.map((each) => each.signal))!];
    return noise > 0 && signal > 0 ? noise / signal : NaN;
  };
  const scale = scaleOf(measurements);
  const without = measurements.map((_, left) => scaleOf(measurements.toSpliced(left, 1)));
  return Number.isNaN(scale) ? null : { scale, standardError: jackknifeError(without) };
}
