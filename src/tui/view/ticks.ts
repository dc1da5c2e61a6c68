/**
 * Round numbers (1, 2 or 5 times a power of ten apart) between `low` and `high`, at most `most` of them.
 * None when the range is empty or not finite.
 */
export function ticks(low: number, high: number, most: number): number[] {
  const range = high - low;
  if (!(range > 0) || !Number.isFinite(range) || most < 1) return [];
  const step = [1, 2, 5, 10, 20, 50, 100]
    .map((factor) => factor * 10 ** Math.floor(Math.log10(range / most)))
    .find((size) => Math.floor(high / size) - Math.ceil(low / size) + 1 <= most);
  if (step === undefined) return [];
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.min(most, Math.floor(high / step + 1e-9) - first + 1);
  // Rounding may lift a mark over the edge where the range is close to what a double can tell apart.
  const slack = range * 1e-6;
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  ).filter((mark) => mark >= low - slack && mark <= high + slack);
}

/** Labels of ticks, all with as many decimals as the step needs. */
export function tickLabel(value: number, step: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${trim(value / 1e6)}M`;
  if (size >= 10_000) return `${trim(value / 1e3)}k`;
  if (size !== 0 && size < 1e-3) return value.toExponential(0);
  return value.toFixed(Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

function trim(value: number): string {
  return String(Number(value.toFixed(2)));
}
