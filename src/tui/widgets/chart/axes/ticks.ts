/**
 * Round numbers (1, 2 or 5 times a power of ten apart) between `low` and `high`, at most `most` of them. Empty if the range is
 * empty or not finite.
 */
export function ticks(low: number, high: number, most: number): number[] {
  const range = high - low;
  if (!(range > 0) || !Number.isFinite(range) || most < 1) return [];
  const step = [1, 2, 5, 10, 20, 50, 100]
    .map((factor) => factor * 10 ** Math.floor(Math.log10(range / most)))
    .find((size) => Math.floor(high / size) - Math.ceil(low / size) + 1 <= most);
  return step === undefined ? [] : multiples(low, high, step, most);
}

/** The multiples of `step` between `low` and `high`, at most `most`. */
export function multiples(low: number, high: number, step: number, most: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.min(most, Math.floor(high / step + 1e-9) - first + 1);
  // If the range is close to the precision of doubles, rounding may put a mark slightly beyond the edge.
  const slack = (high - low) * 1e-6;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  ).filter((mark) => mark >= low - slack && mark <= high + slack);
}

/**
 * Marks of a logarithmic axis, at most `most`: powers of ten, or every second or third of them if there are many, with their
 * doubles and fivefolds if there are few; round numbers if the axis spans less than a factor of ten.
 */
export function logTicks(low: number, high: number, most: number): number[] {
  if (!(low > 0 && low < high) || !Number.isFinite(high) || most < 1) return [];
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.ceil((to - from + 1) / most);
  const first = Math.ceil(from / stride) * stride;
  const decades = Array.from({ length: Math.max(0, Math.floor((to - first) / stride) + 1) }, (_, index) =>
    Number(`1e${first + index * stride}`),
  );
  const finer = [1, 2, 5]
    .flatMap((factor) => Array.from({ length: to - from + 2 }, (_, index) => Number(`${factor}e${from - 1 + index}`)))
    .filter((mark) => mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9))
    .sort((a, b) => a - b);
  if (stride === 1 && finer.length <= most && finer.length > 2) return finer;
  return decades.length >= 2 || high / low >= 100 ? decades : ticks(low, high, most);
}
