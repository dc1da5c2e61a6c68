import { NOTHING, shortNumber } from '../text/numbers.js';
import type { Column } from '../text/table.js';
import type { MetricRow, MetricSummary } from './metric-summary.js';

/** The columns of a generic table: the parameters of each cell, how its runs stand, and mean ± deviation of metrics. */
export function metricColumns(rows: readonly MetricRow[], keys: readonly string[]): Column[] {
  return [
    { title: 'runs', align: 'left', cells: rows.map(nameOf), spare: 0 },
    { title: 'n', align: 'right', cells: rows.map(({ seeds }) => String(seeds)), spare: 0 },
    { title: 'states', align: 'left', cells: rows.map(statesText), spare: 0 },
    ...keys.map((key, index) => ({
      title: key,
      align: 'right' as const,
      cells: rows.map((row) => summaryText(row.metrics[key], row.seeds)),
      // The first metric is the one asked for first.
      spare: index,
    })),
  ];
}

function nameOf({ varies }: MetricRow): string {
  const text = parameterText(varies);
  return text === '' ? 'all' : text;
}

function statesText({ states }: MetricRow): string {
  return Object.entries(states)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

function summaryText(summary: MetricSummary | undefined, seeds: number): string {
  if (summary === undefined || summary.mean === null) return NOTHING;
  const spread = summary.deviation === null ? '' : ` ± ${shortNumber(summary.deviation, 2)}`;
  const missing = summary.n < seeds ? ` (${summary.n} of ${seeds})` : '';
  return `${shortNumber(summary.mean)}${spread}${missing}`;
}

/** Parameters in one line: `lr=0.001 depth=4`. */
export function parameterText(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
