/** Not the full block: rows below each other would run together. */
const levels = '▁▂▃▄▅▆▇';

/** The values as one row of blocks, `width` columns, newest at the right; a missing value is a space. */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length === 0 || width <= 0) return ' '.repeat(Math.max(0, width));
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  const columns = Math.min(width, values.length);
  const drawn = Array.from({ length: columns }, (_, column) => {
    const value = values[Math.floor(((column + 1) * values.length) / columns) - 1] ?? null;
    if (value === null || !Number.isFinite(value)) return ' ';
    return levels[range === 0 ? 3 : Math.round(((value - low) / range) * (levels.length - 1))];
  });
  return drawn.join('').padEnd(width);
}
