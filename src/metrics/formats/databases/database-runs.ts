import { basename, dirname, join } from 'node:path';
import { statRegular } from '../../../files/regular-file.js';
import { SqliteFile } from '../../binary/sqlite-file.js';
import { tablesOf } from '../../binary/sqlite-table.js';
import { type DatabaseKind, databaseFormat, type DatabaseRun, isDatabase, isOfKind, type Tables } from './database.js';
import type { MetricFormat } from '../format.js';
import { mlflowDatabase } from './mlflow-database.js';
import { trackio } from './trackio.js';

/** Databases that may hold several runs, each as if the database were a folder of them. */
const kinds: readonly DatabaseKind[] = [trackio, mlflowDatabase];

export const databaseFormats: readonly MetricFormat[] = kinds.map((kind) => databaseFormat(kind));

/** Path that stands for one run of a database. */
export function databaseRun(database: string, run: string): string {
  return join(database, encodeURIComponent(run).replaceAll('.', '%2E'));
}

/** The database and the run that such a path stands for; null: the path is none of those. */
export function partOfDatabase(path: string): { readonly database: string; readonly run: string } | null {
  const database = dirname(path);
  if (!isDatabase(database) || statRegular(database).kind !== 'file') return null;
  try {
    return { database, run: decodeURIComponent(basename(path)) };
  } catch {
    return null;
  }
}

/** The formats that read one run of a database alone. */
export function formatsOfRun(run: string): readonly MetricFormat[] {
  return kinds.map((kind) => databaseFormat(kind, { only: run }));
}

/** The formats that read the runs of a shared database that the run in this directory has begun. */
export function formatsOfBegun(directory: string): readonly MetricFormat[] {
  return kinds.filter(({ runsBegunIn }) => runsBegunIn).map((kind) => databaseFormat(kind, { begunIn: directory }));
}

/** The runs of a database, in the order in which they began, and the name of its kind; null: it has none, or cannot be read now. */
export function runsOfDatabase(path: string): { readonly kind: string; readonly runs: readonly string[] } | null {
  return asked(path, (kind, tables) => ({ kind: kind.name, runs: [...kind.runsIn(tables)] }));
}

/** What the database says of the run that a path stands for; null: nothing. */
export function readDatabaseRun(path: string): DatabaseRun | null {
  const part = partOfDatabase(path);
  return part === null ? null : asked(part.database, (kind, tables) => kind.readRun(tables, part.run));
}

function asked<T>(path: string, use: (kind: DatabaseKind, tables: Tables) => T): T | null {
  const read = new SqliteFile(path).read((pages) => {
    const tables = { pages, of: tablesOf(pages) };
    const kind = kinds.find((each) => isOfKind(tables, each));
    return kind === undefined ? null : use(kind, tables);
  });
  return read.is === 'read' ? read.value : null;
}
