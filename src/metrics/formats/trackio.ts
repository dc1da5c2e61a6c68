import { basename, dirname, join } from 'node:path';
import { statRegular } from '../../files/regular-file.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { besides, SqliteFile } from '../binary/sqlite-file.js';
import {
  DamagedDatabase,
  type Pages,
  rowsAfter,
  type SqlRow,
  type SqlTable,
  tablesOf,
} from '../binary/sqlite-table.js';
import type { MetricFormat, Recognition, RowSink, SourceReader, WrittenRow } from './format.js';

/**
 * Files of trackio: a project in an SQLite database, with a row in its table `metrics` for each `log`. If rows of several runs of a
 * project alternate, their names are put before the metrics; runs one after the other are attempts at one.
 */
export const trackio: MetricFormat = {
  name: 'trackio',
  looksFor: '*.db of trackio (SQLite)',
  filing: 'points',
  besides: (name) => (isDatabase(name) ? [besides.log] : []),
  countsCalls: true,
  isNamed: isDatabase,
  recognise: ({ path }) => recogniseDatabase(path),
  open: ({ paths: [path] }) => new TrackioDatabase(path!, null),
};

/** The same for one run of a project. */
export function trackioOf(run: string): MetricFormat {
  return { ...trackio, open: ({ paths: [path] }) => new TrackioDatabase(path!, run) };
}

/** Path that stands for one run of a project, as if the database were a folder of runs. */
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

/** A run of a project. `config`: JSON, as it was given to `init`; null: none was. */
export type DatabaseRun = { readonly run: string; readonly config: string | null };

/** Rows of `metrics` that are searched for names of runs. */
const MOST_ROWS = 100_000;

/** The runs of a trackio database, in the order in which they began; null: it is none, or cannot be read now. */
export function runsOfDatabase(path: string): readonly DatabaseRun[] | null {
  const read = new SqliteFile(path).read((pages) => {
    const metrics = metricsOf(pages);
    return metrics === null ? null : [...namesIn(pages, metrics, configsIn(pages))];
  });
  return read.is === 'read' ? (read.value?.map(([run, config]) => ({ run, config })) ?? null) : null;
}

/** What the runs were configured with, by name. */
function configsIn(pages: Pages): Map<string, string | null> {
  const found = new Map<string, string | null>();
  const configs = [...tablesOf(pages)].find(({ name }) => name === 'configs');
  if (configs === undefined) return found;
  const [run, config] = [columns.run, 'config'].map((column) => configs.columns.indexOf(column));
  for (const { values } of rowsAfter(pages, configs.root, -Infinity)) {
    const name = values?.[run!];
    if (typeof name === 'string') found.set(name, textOf(values?.[config!]));
  }
  return found;
}

/** The same, with the runs that have only metrics. */
function namesIn(pages: Pages, metrics: SqlTable, found: Map<string, string | null>): Map<string, string | null> {
  const run = metrics.columns.indexOf(columns.run);
  let left = MOST_ROWS;
  for (const { values } of rowsAfter(pages, metrics.root, -Infinity)) {
    const name = values?.[run];
    if (typeof name === 'string' && !found.has(name)) found.set(name, null);
    if (left-- === 0) break;
  }
  return found;
}

/** Newer versions store bytes, older ones a text. */
function textOf(value: unknown): string | null {
  return Buffer.isBuffer(value) ? value.toString('utf8') : typeof value === 'string' ? value : null;
}

function isDatabase(name: string): boolean {
  return /\.(db|sqlite3?)$/i.test(name);
}

const TABLE = 'metrics';
const columns = { run: 'run_name', time: 'timestamp', step: 'step', metrics: 'metrics' };

function recogniseDatabase(path: string): Recognition {
  const read = new SqliteFile(path).read((pages) => {
    const first = tablesOf(pages).next();
    return first.done === true ? 'empty' : metricsOf(pages) === null ? 'other' : 'trackio';
  });
  if (read.is === 'damaged') return { is: 'maybe', why: `it is no whole SQLite database: ${read.reason}` };
  if (read.is === 'busy') return { is: 'maybe', why: 'someone writes to it just now', isPassing: true };
  if (read.is !== 'read' || read.value === 'empty')
    return { is: 'maybe', why: 'it is an SQLite database without tables' };
  if (read.value === 'trackio') return { is: 'yes', why: `its table \`${TABLE}\`, which is trackio's` };
  return { is: 'no', why: `it is an SQLite database without trackio's table \`${TABLE}\`` };
}

/** The table of metrics; null: the database is not trackio's. */
function metricsOf(pages: Pages): SqlTable | null {
  for (const table of tablesOf(pages)) {
    if (table.name === TABLE)
      return Object.values(columns).every((name) => table.columns.includes(name)) ? table : null;
  }
  return null;
}

/**
 * A part of the database, up to the requested size. `isOther`: earlier rows are invalid, and these are the first of another
 * database.
 */
type Part = {
  readonly isOther: boolean;
  readonly first: string | null;
  readonly rows: Logged[];
  /** Id of the last row, and total size in bytes. */
  last: number;
  bytes: number;
  /** Number of rows that are too large. */
  skipped: number;
  isWhole: boolean;
  /** What is not readable. */
  damage: string | null;
};

type Logged = { readonly run: string; readonly time: number; readonly values: WrittenRow };

/** A database that is still damaged so long after the last write is not being copied, ms. */
const DAMAGED_MS = 30_000;

class TrackioDatabase implements SourceReader {
  readonly #file: SqliteFile;
  /** The only run that is told; null: all are. */
  readonly #only: string | null;
  /** Identifies the first row, which differs between databases. Null: there is none yet. */
  #first: string | null = null;
  #last = -Infinity;
  #offset = 0;
  #more = true;
  #skipped = 0;
  #unread: string | null = null;
  #damage: string | null = null;
  #runs = new Runs();

  constructor(path: string, only: string | null) {
    this.#file = new SqliteFile(path);
    this.#only = only;
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    return this.#more;
  }

  get written(): SourceReader['written'] {
    const { stat } = this.#file;
    return stat === null ? null : { from: stat.birthtimeMs, to: stat.mtimeMs };
  }

  get isHindered(): boolean {
    return this.#unread !== null;
  }

  get obstacle(): string | null {
    const name = basename(this.#file.path);
    if (this.#unread !== null) return `${name} cannot be read: ${this.#unread}`;
    if (this.#damage !== null) return `${name} is damaged: ${this.#damage}`;
    return this.#skipped === 0 ? null : `rows of ${name} over 4 MB were left out: ${this.#skipped}`;
  }

  read(maxBytes: number, sink: RowSink): boolean {
    const read = this.#file.read((pages) => this.#part(pages, maxBytes));
    this.#unread = read.is === 'unreadable' ? read.reason : null;
    this.#more = read.is === 'busy' && read.more;
    if (read.is === 'damaged') return this.#isStillWritten() ? false : this.#report(read.reason);
    return read.is === 'read' && this.#take(read.value, sink);
  }

  #part(pages: Pages, maxBytes: number): Part {
    const table = metricsOf(pages);
    const first = table === null ? null : firstOf(pages, table);
    const isOther = this.#first !== null && first !== this.#first;
    const last = isOther ? -Infinity : this.#last;
    const part: Part = { isOther, first, rows: [], last, bytes: 0, skipped: 0, isWhole: true, damage: null };
    if (table !== null) fill(part, pages, table, maxBytes);
    return part;
  }

  #take(part: Part, sink: RowSink): boolean {
    if (part.damage !== null && this.#isStillWritten()) return false;
    if (part.isOther) this.#restart(sink);
    this.#damage = part.damage;
    this.#first = part.first;
    if (!this.#tell(part.rows, sink)) return this.#beginAgain(sink);
    const isNew = part.last > this.#last;
    this.#moveOn(part);
    return isNew || part.isOther;
  }

  /** Passes rows to the sink. False: earlier rows are invalid. */
  #tell(rows: readonly Logged[], sink: RowSink): boolean {
    for (const { run, time, values } of rows) {
      if (this.#only !== null && run !== this.#only) continue;
      if (!this.#runs.take(run)) return false;
      sink.row(this.#runs.named(run, values), time);
    }
    return true;
  }

  #moveOn({ last, skipped, isWhole, bytes }: Part): void {
    this.#last = last;
    this.#skipped += skipped;
    this.#more = !isWhole;
    // Most of a database are other tables and indices.
    this.#offset = isWhole ? Math.max(this.#offset, this.#file.stat?.size ?? 0) : this.#offset + bytes;
    if (this.#more) this.#file.lookAgain();
  }

  /** Starts over when runs turn out to alternate, as the rows so far lack the names of their runs. */
  #beginAgain(sink: RowSink): true {
    const runs = new Runs(true);
    this.#restart(sink);
    this.#runs = runs;
    this.#more = true;
    this.#file.lookAgain();
    return true;
  }

  #restart(sink: RowSink): void {
    this.#first = null;
    this.#last = -Infinity;
    this.#offset = 0;
    this.#skipped = 0;
    this.#damage = null;
    this.#runs = new Runs();
    sink.restart();
  }

  /** Whether damage may be due to a copy in progress; then the file is read again. */
  #isStillWritten(): boolean {
    const isYoung = Date.now() - (this.#file.stat?.mtimeMs ?? 0) < DAMAGED_MS;
    if (isYoung) this.#file.lookAgain();
    return isYoung;
  }

  #report(damage: string): boolean {
    const isNew = this.#damage === null;
    this.#damage = damage;
    return isNew;
  }
}

/** The runs that wrote to a project, in the order of their rows. */
class Runs {
  readonly #isSeveral: boolean;
  readonly #before = new Set<string>();
  #current: string | null = null;

  /** @param isSeveral Whether the runs are known to alternate. */
  constructor(isSeveral = false) {
    this.#isSeveral = isSeveral;
  }

  /** Records the run of a row. False: an earlier run continues after another. */
  take(run: string): boolean {
    if (run === this.#current || this.#isSeveral) return true;
    if (this.#before.has(run)) return false;
    if (this.#current !== null) this.#before.add(this.#current);
    this.#current = run;
    return true;
  }

  named(run: string, values: WrittenRow): WrittenRow {
    if (!this.#isSeveral) return values;
    const { step, ...others } = values;
    return { step, ...Object.fromEntries(Object.entries(others).map(([key, value]) => [`${run}/${key}`, value])) };
  }
}

/** Adds rows after the last one, up to the limit. */
function fill(part: Part, pages: Pages, table: SqlTable, maxBytes: number): void {
  const place = placesIn(table);
  try {
    for (const row of rowsAfter(pages, table.root, part.last)) {
      if (part.bytes >= maxBytes) {
        part.isWhole = false;
        return;
      }
      part.last = row.id;
      if (row.values === null) part.skipped += 1;
      else part.bytes += add(part.rows, row.values, place);
    }
  } catch (error) {
    if (!(error instanceof DamagedDatabase)) throw error;
    part.damage = error.message;
  }
}

type Places = Record<keyof typeof columns, number>;

function placesIn({ columns: names }: SqlTable): Places {
  const entries = Object.entries(columns).map(([key, name]) => [key, names.indexOf(name)] as const);
  return Object.fromEntries(entries) as Places;
}

/** Adds a row; returns its size in bytes. */
function add(rows: Logged[], values: NonNullable<SqlRow['values']>, place: Places): number {
  const [run, time, step, written] = [place.run, place.time, place.step, place.metrics].map((at) => values[at] ?? null);
  const text = textOf(written) ?? String(written);
  const metrics = parseJsonLine(text);
  if (metrics !== null && typeof step === 'number')
    rows.push({ run: String(run), time: Date.parse(String(time)), values: { step, ...numbersIn(metrics) } });
  return text.length;
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

function firstOf(pages: Pages, { root }: SqlTable): string | null {
  const first = rowsAfter(pages, root, -Infinity).next();
  return first.done === true ? null : JSON.stringify([first.value.id, first.value.values?.map(String)]);
}
