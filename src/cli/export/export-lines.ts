import type { ReportedRun } from '../../analysis/analysed-run.js';
import { type Annotation, noAnnotation } from '../../base/annotation.js';
import { declaredFields } from '../../analysis/declared-parameters.js';
import { inMetricOrder, type MetricsToShow } from '../../analysis/metric-order.js';
import type { RunValue } from '../../analysis/run-value.js';
import { allParametersOf, type Parameters } from '../../base/scalar.js';
import { readAnnotation } from '../../files/run-directory/supervisor-notes.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { everyPoint } from '../../metrics/curve.js';
import { openMetrics, type RunMetrics } from '../../metrics/run-metrics.js';
import { declaredOf } from '../../report/settings.js';
import { valuesOf } from '../../report/run-values.js';
import { readRuns, statesOf, withUnstarted } from '../../runs/read-runs.js';
import { countingIn, metricsToShow, readOutline, type SweepOutline } from '../../runs/sweep-outline.js';
import { csvLine, type CsvValue } from '../../text/table.js';
import { terminalJson } from '../../text/display-text.js';

export type TextFormat = 'csv' | 'json' | 'jsonl';
/**
 * `known`: its runs by their supervisor, also those that have not begun; absent: by their files. `found`: the runs themselves,
 * where it is a folder of any program.
 */
export type ExportedSweep = {
  name: string;
  directory: string;
  known?: readonly ReportedRun[];
  found?: readonly ReportedRun[] | undefined;
};

/**
 * A sweep as lines of text. `metrics`: the value of each run, which has one row; `all`: a row for each value of each metric, made
 * lazily.
 */
export function exportLines(sweep: ExportedSweep, format: TextFormat, metrics: RunValue | 'all'): Iterable<string> {
  if (metrics === 'all') return formatted(valueRows(sweep), format);
  const table = runTable(sweep, metrics);
  return format === 'csv' ? runTableCsv(table) : formatted(table.rows, format);
}

/** The runs of a sweep as a table: a row for each, and the columns. */
export type RunTable = { readonly rows: readonly RunRow[]; readonly columns: readonly RunColumn[] };

/** @param metrics Which value stands for a run. */
export function runTable(sweep: ExportedSweep, metrics: RunValue): RunTable {
  const choice = shownFirst(readOutline(sweep.directory));
  const counting = new Set<string>();
  const rows = runRows(sweep, (read) => {
    countingIn(read, choice).forEach((key) => counting.add(key));
    return metrics.kind === 'last' ? read.last() : writtenOnly(valuesOf(read, { x: choice.x, value: metrics }));
  });
  return { rows, columns: columnsOf(rows, (keys) => inMetricOrder(keys, choice, counting)) };
}

function* formatted(rows: Iterable<object>, format: TextFormat): Generator<string> {
  if (format === 'json') yield* jsonArray(rows);
  else if (format === 'jsonl') for (const row of rows) yield jsonOf(row);
  else yield* valueCsv(rows);
}

function* jsonArray(rows: Iterable<object>): Generator<string> {
  let before: object | null = null;
  yield '[';
  for (const row of rows) {
    if (before !== null) yield `${jsonOf(before)},`;
    before = row;
  }
  if (before !== null) yield jsonOf(before);
  yield ']';
}

/** JSON has no infinities; they are written as texts, like in CSV. */
function jsonOf(row: object): string {
  return terminalJson(JSON.stringify(row, (_key, value: unknown) => (isInfinite(value) ? csvLine([value]) : value)));
}

function isInfinite(value: unknown): value is number {
  return value === Infinity || value === -Infinity;
}

const valueColumns = ['sweep', 'group', 'subgroup', 'name', 'step', 'metric', 'value'] as const;

function* valueCsv(rows: Iterable<object>): Generator<string> {
  yield csvLine(valueColumns);
  for (const row of rows as Iterable<ValueRow>) {
    yield csvLine(valueColumns.map((column) => (column === 'value' ? (row.value ?? 'NaN') : row[column])));
  }
}

/**
 * A column of the table of runs. `time`: ISO 8601. `parameter`: of the type of its values. `metric`: a number, or the text `NaN`.
 */
export type RunColumn = {
  readonly title: string;
  readonly kind: 'text' | 'whole' | 'number' | 'truth' | 'time' | 'parameter' | 'metric';
  readonly of: (row: RunRow) => CsvValue;
};

/** Sorts metrics. */
type InOrder = (keys: readonly string[]) => string[];

/** The runs as CSV lines, titles first: the run's facts, its parameters, its metrics. */
function runTableCsv({ rows, columns }: RunTable): string[] {
  return [csvLine(columns.map(({ title }) => title)), ...rows.map((row) => csvLine(columns.map(({ of }) => of(row))))];
}

const facts = {
  text: ['sweep', 'group', 'subgroup', 'name', 'state'],
  whole: ['attempts'],
  time: ['startedAt', 'endedAt'],
  number: ['seconds'],
  truth: ['starred'],
} as const;
type FactKind = keyof typeof facts;

function columnsOf(rows: readonly RunRow[], inOrder: InOrder): RunColumn[] {
  const columns = (Object.keys(facts) as FactKind[]).flatMap((kind) =>
    facts[kind].map((title): RunColumn => ({ title, kind, of: (row) => row[title] })),
  );
  columns.push(
    { title: 'tags', kind: 'text', of: ({ tags }) => tags.join(',') || null },
    { title: 'note', kind: 'text', of: ({ note }) => note },
  );
  const taken = new Set<string>(columns.map(({ title }) => title));
  // A metric with the name of a parameter gets a distinct title.
  const add = (kind: 'parameter' | 'metric', key: string, of: RunColumn['of']) => {
    const title = taken.has(key) ? `${kind}:${key}` : key;
    taken.add(title);
    columns.push({ title, kind, of });
  };
  for (const key of keysOf(rows.map(({ parameters }) => parameters))) {
    add('parameter', key, ({ parameters }) =>
      Object.hasOwn(parameters, key) ? parameterText(parameters[key]!) : null,
    );
  }
  for (const key of inOrder(keysOf(rows.map(({ metrics }) => metrics)))) {
    add('metric', key, ({ metrics }) => (Object.hasOwn(metrics, key) ? (metrics[key] ?? 'NaN') : null));
  }
  return columns;
}

/** The metrics that the sweep shows, then those that its groups show, as one table has the runs of all groups. */
function shownFirst({ groups, metrics, judgedBy }: SweepOutline): MetricsToShow {
  const show = [...new Set([metrics, ...groups.map((group) => group.metrics)].flatMap((said) => said.show))];
  return { show, x: metrics.x ?? 'step', judgedBy };
}

function parameterText(value: RunRow['parameters'][string]): CsvValue {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function keysOf(records: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

/** One run with all facts in its files. Times are ISO 8601, of the last attempt. */
type RunRow = Annotation & {
  sweep: string;
  group: string;
  subgroup: string | null;
  name: string;
  state: ReportedRun['state'];
  attempts: number;
  startedAt: string | null;
  endedAt: string | null;
  seconds: number | null;
  parameters: Parameters;
  /** The run's values by metric; null: NaN. */
  metrics: Record<string, number | null>;
};

/** One value of one metric. `step`: the run's own, or else the row's number. */
export type ValueRow = {
  sweep: string;
  group: string;
  subgroup: string | null;
  name: string;
  step: number | null;
  metric: string;
  /** Null: NaN. */
  value: number | null;
};

/**
 * A row for each run, in natural order of name; those that have not begun have no metrics. `valuesIn`: called for each while its metrics are in memory.
 */
function runRows(
  { name: sweep, directory, known = [], found }: ExportedSweep,
  valuesIn: (read: RunMetrics) => RunRow['metrics'],
): RunRow[] {
  return (found ?? withUnstarted(readRuns(directory, statesOf(known)), known)).map((run) => {
    const read = metricsOf(run);
    const metrics = valuesIn(read);
    const { name, group, state } = run;
    const { annotation, ...declared } = declaredFields(declaredOf(run, read), readAnnotation(run.directory));
    const parameters = allParametersOf({ parameters: run.parameters, ...declared });
    return {
      ...{ sweep, group, subgroup: subgroupOf(run), name, state },
      ...lifeOf(run),
      ...(annotation ?? noAnnotation),
      ...{ parameters, metrics },
    };
  });
}

/**
 * A row for each value of each metric: by run, then metric (by `inMetricOrder`), then step. Steps that a resumed run wrote again
 * occur once, with their last value. Reads one run at a time.
 */
export function* valueRows({ name: sweep, directory, found }: ExportedSweep): Generator<ValueRow> {
  const outline = readOutline(directory);
  for (const run of found ?? readRuns(directory)) {
    const metrics = metricsOf(run);
    const head = { sweep, group: run.group, subgroup: subgroupOf(run), name: run.name };
    const choice = metricsToShow(outline, run.group);
    for (const metric of inMetricOrder(metrics.keys(), choice, new Set(countingIn(metrics, choice)))) {
      const { x, y } = metrics.series(metric);
      for (let index = 0; index < y.length; index++) {
        yield { ...head, step: nanAsNull(x[index]!), metric, value: nanAsNull(y[index]!) };
      }
    }
  }
}

function metricsOf({ directory }: ReportedRun): RunMetrics {
  return openMetrics(directory, { keep: everyPoint }).readNow();
}

function subgroupOf({ directory, subgroup }: ReportedRun): string | null {
  return subgroup ?? readRunRecord(directory)?.subgroup ?? null;
}

function lifeOf({ directory, times }: ReportedRun): Pick<RunRow, 'attempts' | 'startedAt' | 'endedAt' | 'seconds'> {
  const attempts = readRunRecord(directory)?.attempts ?? [];
  const last = attempts.at(-1) ?? lastTime(times);
  const iso = (time: number | null | undefined) =>
    time === null || time === undefined ? null : new Date(time).toISOString();
  return {
    attempts: last?.number ?? 0,
    startedAt: iso(last?.startedAt),
    endedAt: iso(last?.endedAt),
    seconds: last === undefined || last.endedAt === null ? null : (last.endedAt - last.startedAt) / 1000,
  };
}

/** The times of a run without a record, which counts as a run of one attempt. */
function lastTime(times: ReportedRun['times']) {
  return times?.startedAt == null ? undefined : { number: 1, startedAt: times.startedAt, endedAt: times.endedAt };
}

/** Leaves out metrics without a value; NaN is null. */
function writtenOnly(values: Readonly<Record<string, number | null>>): RunRow['metrics'] {
  const known = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null);
  return Object.fromEntries(known.map(([key, value]) => [key, nanAsNull(value)]));
}

function nanAsNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
