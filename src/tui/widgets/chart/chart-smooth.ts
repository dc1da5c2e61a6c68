import type { Series } from '../../state/port.js';
import { Memo } from '../../../base/memo.js';

/**
 * The exponential mean of a series with TensorBoard's correction of the bias towards zero at the start: sₙ = Σᵢ wⁿ⁻ⁱ (1 − w) vᵢ /
 * (1 − wⁿ) over the finite values; n counts these rather than steps. The mean is missing where a value is missing, and continues
 * after the gap. Cached per series for one weight.
 *
 * @param weight Weight of previous values, from 0 (the series itself) to below 1.
 */
export function smooth(series: Series, weight: number): Series {
  if (weight <= 0) return series;
  return smoothed.value(series, String(weight), () => ({ x: series.x, y: exponentialMean(series.y, weight) }));
}

const smoothed = new Memo<Series, Series>(1);

function exponentialMean(values: Float64Array, weight: number): Float64Array {
  const means = new Float64Array(values.length);
  let sum = 0;
  // 1 − wⁿ, the sum of the weights so far.
  let known = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    if (value - value !== 0) {
      means[index] = Number.NaN;
      continue;
    }
    sum = sum * weight + value * (1 - weight);
    known = known * weight + (1 - weight);
    means[index] = sum / known;
  }
  return means;
}
