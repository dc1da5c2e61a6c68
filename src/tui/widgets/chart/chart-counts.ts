import type { ChartSeries } from './chart-series.js';

/**
 * The number of runs behind the lines, as a row below the x axis. Each number is where it begins to apply: `15          12   3`.
 * Carried runs are not counted. Null if the number is constant or no line represents several runs.
 *
 * @param columns Width of the chart's picture and of the row.
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
