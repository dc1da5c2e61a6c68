import { terminalJson } from '../../text/display-text.js';
import { csvLine } from '../../text/csv.js';
import { runRows, valueRows } from './export-rows.js';
import { runTableCsv } from './run-table-csv.js';

export const exportFormats = ['csv', 'json', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];
export const metricChoices = ['last', 'all'] as const;
export type MetricChoice = (typeof metricChoices)[number];

/** A sweep as lines of text. `last`: a row for each run; `all`: a row for each value of each metric, made as it is asked for. */
export function exportLines(
  sweep: { name: string; directory: string },
  format: ExportFormat,
  metrics: MetricChoice,
): Iterable<string> {
  if (metrics === 'all') return formatted(valueRows(sweep.name, sweep.directory), format);
  const rows = runRows(sweep.name, sweep.directory);
  return format === 'csv' ? runTableCsv(rows) : formatted(rows, format);
}

function* formatted(rows: Iterable<object>, format: ExportFormat): Generator<string> {
  if (format === 'json') yield* jsonArray(rows);
  else if (format === 'jsonl') for (const row of rows) yield terminalJson(JSON.stringify(row));
  else yield* valueCsv(rows);
}

function* jsonArray(rows: Iterable<object>): Generator<string> {
  let before: object | null = null;
  yield '[';
  for (const row of rows) {
    if (before !== null) yield `${terminalJson(JSON.stringify(before))},`;
    before = row;
  }
  if (before !== null) yield terminalJson(JSON.stringify(before));
  yield ']';
}

const valueColumns = ['sweep', 'group', 'subgroup', 'name', 'step', 'metric', 'value'] as const;

function* valueCsv(rows: Iterable<object>): Generator<string> {
  yield csvLine(valueColumns);
  for (const row of rows as Iterable<Record<(typeof valueColumns)[number], string | number | null>>) {
    yield csvLine(valueColumns.map((column) => (column === 'value' ? (row.value ?? 'NaN') : row[column])));
  }
}
