import { csvLine, type CsvValue } from '../../text/csv.js';
import type { RunRow } from './export-rows.js';

type CsvColumn = { title: string; of: (row: RunRow) => CsvValue };

/** The runs as CSV lines, titles first: what each run is, its parameters, its last metrics. */
export function runTableCsv(rows: readonly RunRow[]): string[] {
  const columns = columnsOf(rows);
  return [csvLine(columns.map(({ title }) => title)), ...rows.map((row) => csvLine(columns.map(({ of }) => of(row))))];
}

const facts = ['sweep', 'group', 'subgroup', 'name', 'state', 'attempts', 'startedAt', 'endedAt', 'seconds'] as const;

function columnsOf(rows: readonly RunRow[]): CsvColumn[] {
  const columns: CsvColumn[] = facts.map((fact) => ({ title: fact, of: (row) => row[fact] }));
  const taken = new Set<string>(facts);
  // A metric may have the name of a parameter: the later one says what it is.
  const add = (kind: string, key: string, of: CsvColumn['of']) => {
    const title = taken.has(key) ? `${kind}:${key}` : key;
    taken.add(title);
    columns.push({ title, of });
  };
  for (const key of keysOf(rows.map(({ parameters }) => parameters))) {
    add('parameter', key, ({ parameters }) =>
      Object.hasOwn(parameters, key) ? parameterText(parameters[key]!) : null,
    );
  }
  for (const key of keysOf(rows.map(({ metrics }) => metrics))) {
    add('metric', key, ({ metrics }) => (Object.hasOwn(metrics, key) ? (metrics[key] ?? 'NaN') : null));
  }
  return columns;
}

function parameterText(value: RunRow['parameters'][string]): CsvValue {
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

function keysOf(records: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}
