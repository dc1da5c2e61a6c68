import type { ChartSeries } from './chart-series.js';

/**
 * Of how many runs the lines speak, as a row below the x axis: the number stands where it begins to hold, as in
 * `15          12   3`. Carried runs are no longer counted. Null where it is the same all the way, or no line speaks for
 * several runs.
 *
 * @param columns Of the chart's picture, that the row is as wide as.
 */
export function countsRow(strands: readonly ChartSeries[], columns: number): string | null {
  const counts = countsAt(strands, columns);
  if (counts === null || counts.every((count) => count === counts[0])) return null;
  let row = '';
  let shown: number | null = null;
  counts.forEach((count, column) => {
    const isFree = row === '' || column > row.length;
    const text = String(count);
    if (count === shown || !isFree || column + text.length > columns) return;
    row = row.padEnd(column) + text;
    shown = count;
  });
  return row.padEnd(columns);
}

function countsAt(strands: readonly ChartSeries[], columns: number): number[] | null {
  const all = strands.flatMap(({ seeds }) => (seeds === null ? [] : [seeds.counts]));
  if (all.length === 0) return null;
  return Array.from({ length: columns }, (_, column) =>
    all.reduce((sum, counts) => sum + counts[Math.floor(((column + 0.5) / columns) * counts.length)]!, 0),
  );
}
