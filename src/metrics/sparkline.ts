/** Values a sparkline holds at most. */
export const SPARK_VALUES = 32;

/**
 * A series boiled down to at most `SPARK_VALUES` means of equal stretches, oldest first, to send and to draw small.
 * A stretch without a finite value gives null.
 */
export function spark(values: Float64Array): (number | null)[] {
  const count = Math.min(SPARK_VALUES, values.length);
  return Array.from({ length: count }, (_, index) =>
    finiteMean(
      values.subarray(Math.floor((index * values.length) / count), Math.floor(((index + 1) * values.length) / count)),
    ),
  );
}

function finiteMean(values: Float64Array): number | null {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? null : sum / count;
}
