import { writeFileSync } from 'node:fs';
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import type { RunValue } from '../../analysis/run-value.js';
import type { CsvValue } from '../../text/table.js';
import {
  type RunColumn,
  type RunTable,
  runTable,
  type ValueRow,
  valueRows,
  type ExportedSweep,
} from './export-lines.js';

/** Types of columns in the format. All values are optional. */
type ParquetType = 'STRING' | 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'TIMESTAMP';
type Column = { readonly name: string; readonly type: ParquetType; readonly data: unknown[] };

/** Number of rows in a row group, which is kept in memory. */
const GROUP = 100_000;
/** Number of bytes written at once. */
const PART = 1 << 20;

/**
 * Writes a sweep as a Parquet file, with the rows and columns of the CSV. Numbers and times have their types, and a NaN is distinct
 * from a missing value. If a parameter has both numbers and texts, all are texts; lists and maps are JSON.
 *
 * @returns The number of rows.
 */
export function writeParquet(descriptor: number, sweep: ExportedSweep, metrics: RunValue | 'all'): number {
  if (metrics === 'all') return writeValues(descriptor, valueRows(sweep));
  return writeRuns(descriptor, runTable(sweep, metrics));
}

function writeRuns(descriptor: number, { rows, columns }: RunTable): number {
  const data = columns.map((column) => columnOf(column, rows.map(column.of)));
  const writer = writerFor(descriptor, data);
  write(writer, data);
  void writer.finish();
  return rows.length;
}

function writeValues(descriptor: number, rows: Iterable<ValueRow>): number {
  const writer = writerFor(descriptor, valuesOf([]));
  let group: ValueRow[] = [];
  let count = 0;
  const flush = () => {
    write(writer, valuesOf(group));
    count += group.length;
    group = [];
  };
  for (const row of rows) {
    group.push(row);
    if (group.length === GROUP) flush();
  }
  if (group.length > 0) flush();
  void writer.finish();
  return count;
}

function valuesOf(rows: readonly ValueRow[]): Column[] {
  const texts = (['sweep', 'group', 'subgroup', 'name'] as const).map((name): Column => {
    return { name, type: 'STRING', data: rows.map((row) => row[name]) };
  });
  return [
    ...texts,
    { name: 'step', type: 'DOUBLE', data: rows.map(({ step }) => step) },
    { name: 'metric', type: 'STRING', data: rows.map(({ metric }) => metric) },
    { name: 'value', type: 'DOUBLE', data: rows.map(({ value }) => value ?? NaN) },
  ];
}

/** A writer that only uses synchronous calls. */
function writerFor(descriptor: number, columns: readonly Column[]): ParquetWriter {
  const schema = columns.map(({ name, type }) => ({ name, ...elements[type], repetition_type: 'OPTIONAL' as const }));
  return new ParquetWriter({
    writer: new DescriptorWriter(descriptor),
    schema: [{ name: 'root', num_children: columns.length }, ...schema],
    createdBy: 'memrl-tui',
    // Statistics are useless for tables of this size; and with NaN, readers disagree about the largest value.
    statistics: false,
  });
}

/** Writes to a descriptor, as the package's own writer keeps all bytes in memory, or needs a path. */
class DescriptorWriter extends ByteWriter {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  override ensure(size: number): void {
    if (this.index > PART) this.finish();
    super.ensure(size);
  }

  override finish(): void {
    writeFileSync(this.#descriptor, this.getBytes());
    this.index = 0;
  }
}

function write(writer: ParquetWriter, columns: readonly Column[]): void {
  if (columns[0]!.data.length === 0) return;
  const columnData = columns.map(({ name, data }): ColumnSource => ({ name, data }));
  void writer.write({ columnData, rowGroupSize: GROUP });
}

const elements = {
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  BOOLEAN: { type: 'BOOLEAN' },
  INT64: { type: 'INT64' },
  DOUBLE: { type: 'DOUBLE' },
  TIMESTAMP: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const;

const typeOfKind: Readonly<Record<Exclude<RunColumn['kind'], 'parameter'>, ParquetType>> = {
  text: 'STRING',
  whole: 'INT64',
  number: 'DOUBLE',
  truth: 'BOOLEAN',
  time: 'TIMESTAMP',
  metric: 'DOUBLE',
};

function columnOf({ title, kind }: RunColumn, values: readonly CsvValue[]): Column {
  const type = kind === 'parameter' ? typeOf(values) : typeOfKind[kind];
  return { name: title, type, data: values.map((value) => ((value ?? null) === null ? null : valueAs[type](value!))) };
}

/** The common type of a parameter's values. */
function typeOf(values: readonly CsvValue[]): ParquetType {
  const there = values.filter((value) => value !== null && value !== undefined);
  if (there.length === 0) return 'STRING';
  if (there.every((value) => typeof value === 'boolean')) return 'BOOLEAN';
  if (there.every((value) => Number.isSafeInteger(value))) return 'INT64';
  return there.every((value) => typeof value === 'number') ? 'DOUBLE' : 'STRING';
}

const valueAs: Readonly<Record<ParquetType, (value: NonNullable<CsvValue>) => unknown>> = {
  STRING: String,
  BOOLEAN: Boolean,
  INT64: (value) => BigInt(value),
  DOUBLE: Number,
  TIMESTAMP: (value) => new Date(String(value)),
};
