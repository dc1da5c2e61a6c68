import { mlflowTag } from '../../../contract/files.js';
import { rowsAfter, rowsWith, type SqlValue } from '../../binary/sqlite-table.js';
import type { DatabaseKind, DatabaseRun, Logged, Tables } from './database.js';

/**
 * The database in which MLflow keeps all runs of all experiments since its version 3: a row in its table `metrics` for each value.
 * Deleted runs stay in it, and are not told.
 */
export const mlflowDatabase: DatabaseKind = {
  name: 'MLflow',
  looksFor: '*.db of MLflow (SQLite)',
  table: 'metrics',
  columns: ['run_uuid', 'key', 'value', 'timestamp', 'step', 'is_nan'],
  logged,
  runsIn,
  runsBegunIn,
  readRun,
  ended: 'FINISHED',
};

const RUN = 'run_uuid';
/** Key of the table of experiments. */
const KEY = 'experiment_id';
/** Parameters of one run that are read. */
const MOST_PARAMETERS = 500;
/** About what a row takes beside its texts, bytes. */
const ROW = 24;

type Cells = Readonly<Record<string, SqlValue>>;

function logged([run, key, value, time, step, isNan]: readonly SqlValue[]): Logged {
  const isPoint = typeof key === 'string' && typeof value === 'number' && typeof step === 'number';
  const number = isNan === 1 ? NaN : Math.abs(Number(value)) === Number.MAX_VALUE ? Number(value) * 2 : value;
  const values = isPoint ? { step, [key]: number } : null;
  return { run: String(run), time: Number(time), values, bytes: ROW + String(run).length + String(key).length };
}

function* runsIn(tables: Tables): Generator<string> {
  const experiments = new Map(cellsOf(tables, 'experiments').map((each) => [each[KEY], each]));
  for (const run of cellsOf(tables, 'runs')) {
    const isThere = [run, experiments.get(run[KEY])].every((each) => each?.['lifecycle_stage'] !== 'deleted');
    if (isThere && typeof run[RUN] === 'string') yield run[RUN];
  }
}

function* runsBegunIn(tables: Tables, directory: string): Generator<string> {
  for (const { key, value, [RUN]: run } of cellsOf(tables, 'tags'))
    if (key === mlflowTag && value === directory && typeof run === 'string') yield run;
}

function readRun(tables: Tables, run: string): DatabaseRun | null {
  const [row] = cellsOf(tables, 'runs', run);
  if (row === undefined) return null;
  const experiment = cellsOf(tables, 'experiments').find((each) => each['experiment_id'] === row[KEY]);
  const parameters = cellsOf(tables, 'params', run).slice(0, MOST_PARAMETERS);
  return {
    name: textIn(row, 'name') ?? run,
    group: experiment === undefined ? null : textIn(experiment, 'name'),
    state: textIn(row, 'status'),
    settings: Object.fromEntries(parameters.map(({ key, value }) => [String(key), value])),
    ...{ startedAt: timeIn(row, 'start_time'), endedAt: timeIn(row, 'end_time') },
  };
}

/** The rows of a table by the names of its columns; of one run, where it is named. */
function cellsOf({ pages, of }: Tables, name: string, run?: string): Cells[] {
  const table = of.get(name);
  if (table === undefined) return [];
  const rows =
    run === undefined ? rowsAfter(pages, table.root, -Infinity) : rowsWith(pages, table, { column: RUN, text: run });
  return Array.from(rows, ({ id, values }) =>
    // A number that is the key of its table is stored as the id of the row alone.
    Object.fromEntries(table.columns.map((column, place) => [column, values?.[place] ?? (column === KEY ? id : null)])),
  );
}

function textIn(cells: Cells, column: string): string | null {
  const value = cells[column];
  return typeof value === 'string' && value !== '' ? value : null;
}

function timeIn(cells: Cells, column: string): number | null {
  const value = cells[column];
  return typeof value === 'number' && value > 0 ? value : null;
}
