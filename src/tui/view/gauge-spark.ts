const levels = '▁▂▃▄▅▆▇';

/** The newest values of a gauge of 0 to 100 as one row of blocks, newest at the right; a missing value is a space. */
export function gaugeSpark(values: readonly (number | null)[], width: number): string {
  const drawn = values.slice(-width).map((value) => {
    if (value === null || !Number.isFinite(value)) return ' ';
    return levels[Math.round((Math.min(100, Math.max(0, value)) / 100) * (levels.length - 1))]!;
  });
  return drawn.join('').padStart(width);
}
