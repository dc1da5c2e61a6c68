import { chartSection, type Detail, sharedLegend } from './chart-section.js';
import { fitLine, type Line, span } from './span.js';

const gap = 2;
/** A chart smaller than this says less than its numbers. */
const least = { width: 44, height: 8 };

/** Charts beside and below each other: as many as can be read, from `first` on. At most `height` lines. */
export function chartGrid(
  detail: Detail,
  { width, height, first }: { width: number; height: number; first: number },
): Line[] {
  const { columns, rows } = gridOf(detail.charts.length, width, height);
  const shown = detail.charts
    .slice(Math.min(first, lastFirst(detail.charts.length, width, height)))
    .slice(0, columns * rows);
  if (shown.length === 0) {
    return [[span(detail.isLoaded ? 'No metrics have been written yet.' : 'reading…', 'faint')]];
  }
  return Array.from({ length: rows }, (_, row) => {
    const from = Math.floor((row * height) / rows);
    const to = Math.floor(((row + 1) * height) / rows);
    const inRow = shown.slice(row * columns, (row + 1) * columns);
    // The last row may have fewer charts: they take its whole width.
    const each = Math.floor((width - gap * (inRow.length - 1)) / Math.max(1, inRow.length));
    return chartRow(inRow, detail, { width: each, height: to - from });
  }).flat();
}

/** The last chart that may be the first one shown: from it on all are seen. */
export function lastFirst(count: number, width: number, height: number): number {
  const { columns, rows } = gridOf(count, width, height);
  return Math.max(0, count - columns * rows);
}

/** As many charts as there are if they can be read; else as many as can, in whole columns and rows. */
function gridOf(count: number, width: number, height: number): { columns: number; rows: number } {
  const mostColumns = Math.max(1, Math.floor((width + gap) / (least.width + gap)));
  const mostRows = Math.max(1, Math.floor(height / least.height));
  const rows = Math.min(mostRows, Math.ceil(Math.max(1, count) / mostColumns));
  const columns = Math.min(mostColumns, Math.ceil(Math.max(1, count) / rows));
  return { columns, rows };
}

function chartRow(
  charts: Detail['charts'],
  detail: Detail,
  { width, height }: { width: number; height: number },
): Line[] {
  const legend = sharedLegend(charts, detail, width, height);
  const drawn = charts.map((data) => chartSection(data, detail, { width, height, legend }));
  return Array.from({ length: height }, (_, row): Line =>
    drawn.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(gap))] : []),
      ...fitLine(lines[row] ?? [], width),
    ]),
  );
}
