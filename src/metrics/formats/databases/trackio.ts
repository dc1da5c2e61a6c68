import { parseJsonLine } from '../../../contract/json-line.js';
import { rowsAfter, rowsWith, type SqlTable, type SqlValue } from '../../binary/sqlite-table.js';
import type { DatabaseKind, DatabaseRun, Logged, Tables } from './database.js';
import type { WrittenRow } from '../format.js';

/** Files of trackio: a project in a database, with a row in its table `metrics` for each `log`, and the settings of runs in `configs`. */
export const trackio: DatabaseKind = {
  name: 'trackio',
  looksFor: '*.db of trackio (SQLite)',
  countsCalls: true,
  table: 'metrics',
  columns: ['run_name', 'timestamp', 'step', 'metrics'],
  logged,
  runsIn,
  readRun,
};

const RUN = 'run_name';
/** Rows of `metrics` that are searched for names of runs. */
const MOST_ROWS = 100_000;

/** Those that were configured first, then those that have only metrics. */
function runsIn({ pages, of }: Tables): Set<string> {
  const found = new Set<string>();
  for (const table of [of.get('configs'), of.get('metrics')]) {
    const run = table?.columns.indexOf(RUN) ?? -1;
    let left = MOST_ROWS;
    for (const { values } of table === undefined ? [] : rowsAfter(pages, table.root, -Infinity)) {
      const name = values?.[run];
      if (typeof name === 'string') found.add(name);
      if (left-- === 0) break;
    }
  }
  return found;
}

function readRun(tables: Tables, run: string): DatabaseRun {
  const settings = configOf(tables, tables.of.get('configs'), run);
  const created = Date.parse(String(settings['_Created']));
  const own = Object.entries(settings).filter(([key]) => !key.startsWith('_'));
  return {
    ...{ name: run, group: null, state: null, endedAt: null, settings: Object.fromEntries(own) },
    startedAt: Number.isNaN(created) ? null : created,
  };
}

/** JSON, as it was given to `init`. */
function configOf({ pages }: Tables, configs: SqlTable | undefined, run: string): Readonly<Record<string, unknown>> {
  if (configs === undefined) return {};
  const place = configs.columns.indexOf('config');
  let found: SqlValue = null;
  for (const { values } of rowsWith(pages, configs, { column: RUN, text: run })) found = values?.[place] ?? found;
  return parseJsonLine(textOf(found) ?? '') ?? {};
}

/** Newer versions store bytes, older ones a text. */
function textOf(value: SqlValue): string | null {
  return Buffer.isBuffer(value) ? value.toString('utf8') : typeof value === 'string' ? value : null;
}

function logged([run, time, step, written]: readonly SqlValue[]): Logged {
  const text = textOf(written ?? null) ?? String(written);
  const metrics = typeof step === 'number' ? parseJsonLine(text) : null;
  const values = metrics === null ? null : { step, ...numbersIn(metrics) };
  return { run: String(run), time: Date.parse(String(time)), values, bytes: text.length };
}

/**
 * The numbers of a row. NaN and infinities are stored as texts. Pictures, tables and histograms are objects with a type, and are no
 * metrics.
 */
function numbersIn(metrics: WrittenRow): WrittenRow {
  const known = Object.entries(metrics).flatMap(([key, value]) => {
    if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return [[key, Number(value)] as const];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) return [[key, value] as const];
    return '_type' in value ? [] : [[key, numbersIn(value as WrittenRow)] as const];
  });
  return Object.fromEntries(known);
}
