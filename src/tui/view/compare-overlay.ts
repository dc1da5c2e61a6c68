import { chartSection, sharedLegend } from './chart-section.js';
import type { Comparison } from './comparison.js';
import { fitLine, type Line, span } from './span.js';

/** A chart below this size tells nothing. */
export const leastChart = { width: 48, height: 10 };
const gap = 2;

/** The curves of all that is compared, a chart for each metric. `top`: the first of them that is shown. */
export function overlaySection(comparison: Comparison, top: number, width: number, height: number): Line[] {
  const { setting } = comparison;
  const charts = comparison.charts.slice(Math.min(top, Math.max(0, comparison.charts.length - 1)));
  const columns = Math.max(1, Math.min(charts.length, Math.floor((width + gap) / (leastChart.width + gap)), 3));
  const rows = Math.max(1, Math.min(Math.ceil(charts.length / columns), Math.floor(height / leastChart.height)));
  const each = Math.floor((width - gap * (columns - 1)) / columns);
  return Array.from({ length: rows }, (_, row) => row).flatMap((row): Line[] => {
    const shown = charts.slice(row * columns, (row + 1) * columns);
    const tall = Math.floor((height * (row + 1)) / rows) - Math.floor((height * row) / rows);
    const legend = sharedLegend(shown, setting, each, tall);
    const drawn = shown.map((data) => chartSection(data, setting, { width: each, height: tall, legend }));
    return Array.from({ length: tall }, (_, line): Line =>
      drawn.flatMap((lines, column) => [
        ...(column > 0 ? [span(' '.repeat(gap))] : []),
        ...fitLine(lines[line] ?? [], each),
      ]),
    );
  });
}
