import { type CsvValue, csvLine } from '../text/table.js';
import { distinct, fileName } from './file-names.js';
import type { MetricRow } from './metric-summary.js';
import { parametersText } from '../text/parameters-text.js';
import type { Report } from './report.js';
import type { FoundStudy } from './studies/found-studies.js';
import { namedUnit } from './studies/study-tables.js';

/** The numbers of a report as CSV files: the rows of each group, and the tables of studies. */
export function numberFiles({
  sections,
  studies,
}: Pick<Report, 'sections' | 'studies'>): { name: string; text: string }[] {
  const files = [
    ...sections.map(({ group, rows }) => ({ name: `${group}-metrics`, rows: rows.flatMap(metricRows) })),
    ...studies.flatMap(({ run, tables }) =>
      tables.map((table) => ({ name: [run ?? 'study', table.title ?? 'table'].join('-'), rows: studyRows(table) })),
    ),
  ];
  const written = files.filter(({ rows }) => rows.length > 0);
  return distinct(written.map(({ name, rows }) => ({ name: fileName(name), text: csvOf(rows) }))).map(
    ({ name, text }) => ({ name: `${name}.csv`, text }),
  );
}

type CsvRow = Readonly<Record<string, CsvValue>>;

/** The columns of all rows, in the order of first appearance. */
function csvOf(rows: readonly CsvRow[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((values) => `${csvLine(values)}\n`)
    .join('');
}

/** One row for each metric of a setting. */
function metricRows({ varies, seeds, metrics }: MetricRow): CsvRow[] {
  return Object.entries(metrics).map(([metric, summary]) => ({
    ...{ setting: parametersText(varies), seeds, metric, n: summary.n, nan: summary.nan, infinite: summary.infinite },
    ...{ mean: summary.mean, deviation: summary.deviation },
    ...{ ci95_low: summary.ci95?.[0], ci95_high: summary.ci95?.[1] },
    ...{ median: summary.median, least: summary.range?.[0], most: summary.range?.[1] },
  }));
}

/** A table of a study: a value has columns of its own for the ends of its interval and its number, where any has them. */
function studyRows({ columns, rows }: FoundStudy['tables'][number]): CsvRow[] {
  return rows.map(({ cells }) =>
    Object.fromEntries(
      columns.flatMap((column, at): [string, CsvValue][] => {
        const [name, cell] = [namedUnit(column), cells[at]!];
        if (cell === null || typeof cell !== 'object') return [[name, cell]];
        const { value, interval, n, text } = cell;
        return [
          [name, value ?? (interval === null ? text : null)],
          ...(interval === null
            ? []
            : interval.map((end, side): [string, CsvValue] => [`${name} ${side === 0 ? 'low' : 'high'}`, end])),
          ...(n === null ? [] : [[`${name} n`, n] as [string, CsvValue]]),
        ];
      }),
    ),
  );
}
