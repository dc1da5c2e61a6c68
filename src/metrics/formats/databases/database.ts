import { basename } from 'node:path';
import { besides, SqliteFile } from '../../binary/sqlite-file.js';
import {
  DamagedDatabase,
  type Pages,
  rowsAfter,
  rowsWith,
  type SqlRow,
  type SqlTable,
  type SqlValue,
  tablesOf,
} from '../../binary/sqlite-table.js';
import { DAMAGED_MS } from '../source-files.js';
import type { MetricFormat, Recognition, RowSink, SourceReader, WrittenRow } from '../format.js';

/** The tables of a database as they are in one read. */
export type Tables = { readonly pages: Pages; readonly of: ReturnType<typeof tablesOf> };

/** What a row of the table of metrics says. `run`: id of the run; `bytes`: how much was read for it. Time: Unix ms. */
export type Logged = {
  readonly run: string;
  readonly time: number;
  readonly values: WrittenRow | null;
  readonly bytes: number;
};

/** What a database says of a run beside its metrics. `state`: in the program's own word. Times: Unix ms. */
export type DatabaseRun = {
  readonly name: string;
  readonly group: string | null;
  readonly state: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
};

/** How a program keeps its runs in an SQLite database. */
export type DatabaseKind = Pick<MetricFormat, 'name' | 'looksFor' | 'countsCalls'> & {
  /** The table that gains a row with each value, or all values of a step; `columns`: the first has the id of the run. */
  readonly table: string;
  readonly columns: readonly string[];
  /** The cells of these columns, decoded. */
  readonly logged: (cells: readonly SqlValue[]) => Logged;
  /** Ids of the runs, in the order in which they began. */
  readonly runsIn: (tables: Tables) => Iterable<string>;
  /** Ids of the runs that the run in this directory has begun; absent: this kind does not say. */
  readonly runsBegunIn?: (tables: Tables, directory: string) => Iterable<string>;
  /** Null: there is no such run. */
  readonly readRun: (tables: Tables, run: string) => DatabaseRun | null;
  /** The state of a run that has come to its end, so that a run that begins after it is no further attempt at it. */
  readonly ended?: string;
};

/** Which runs of a database are read; absent: all. `only`: the one of this id. `begunIn`: those that the run in this directory has begun. */
type Chosen = { readonly only: string } | { readonly begunIn: string };

/**
 * The format of such databases. If rows of several runs alternate, their names are put before the metrics; runs one after the other
 * are attempts at one.
 */
export function databaseFormat(kind: DatabaseKind, chosen: Chosen | null = null): MetricFormat {
  const { name, looksFor, countsCalls } = kind;
  return {
    ...{ name, looksFor, filing: 'points', isNamed: isDatabase },
    ...(countsCalls === undefined ? {} : { countsCalls }),
    besides: (file) => (isDatabase(file) ? [besides.log] : []),
    recognise: ({ path }) => recogniseDatabase(path, kind, chosen),
    open: ({ paths: [path] }) => new DatabaseReader(path!, kind, chosen),
  };
}

export function isDatabase(name: string): boolean {
  return /\.(db|sqlite3?)$/i.test(name);
}

/** Whether a database is one of this kind, as its table of metrics shows. */
export function isOfKind({ of }: Tables, kind: DatabaseKind): boolean {
  return metricsOf(of, kind) !== null;
}

function metricsOf(tables: Tables['of'], { table, columns }: DatabaseKind): SqlTable | null {
  const found = tables.get(table);
  return found !== undefined && columns.every((name) => found.columns.includes(name)) ? found : null;
}

/** The ids of the runs that are read; null: all are. */
function idsOf(chosen: Chosen | null, kind: DatabaseKind, tables: Tables): ReadonlySet<string> | null {
  if (chosen === null) return null;
  return new Set('only' in chosen ? [chosen.only] : kind.runsBegunIn?.(tables, chosen.begunIn));
}

function recogniseDatabase(path: string, kind: DatabaseKind, chosen: Chosen | null): Recognition {
  const read = new SqliteFile(path).read((pages) => {
    const of = tablesOf(pages);
    if (of.size === 0) return 'empty';
    if (!isOfKind({ pages, of }, kind)) return 'other';
    return idsOf(chosen, kind, { pages, of })?.size === 0 ? 'of others' : 'its';
  });
  if (read.is === 'damaged') return { is: 'maybe', why: `it is no whole SQLite database: ${read.reason}` };
  if (read.is === 'busy') return { is: 'maybe', why: 'someone writes to it just now', isPassing: true };
  if (read.is !== 'read' || read.value === 'empty')
    return { is: 'maybe', why: 'it is an SQLite database without tables' };
  if (read.value === 'its') return { is: 'yes', why: `its table \`${kind.table}\`, which is ${kind.name}'s` };
  if (read.value === 'of others') return { is: 'maybe', why: 'no run in it is known to be begun by this one' };
  // A program makes its tables one after the other.
  return { is: 'maybe', why: 'it is an SQLite database without the tables of trackio or MLflow' };
}

/**
 * A part of the database, up to the requested size. `isOther`: earlier rows are invalid, and these are the first of another
 * database. `runs`: what is said of the runs whose rows these are.
 */
type Part = {
  readonly isOther: boolean;
  readonly first: string | null;
  readonly rows: Logged[];
  readonly runs: Map<string, DatabaseRun | null>;
  /** Id of the last row, and total size in bytes. */
  last: number;
  bytes: number;
  /** Number of rows that are too large. */
  skipped: number;
  isWhole: boolean;
  /** The obstacle to reading, in words. */
  damage: string | null;
};

class DatabaseReader implements SourceReader {
  readonly #file: SqliteFile;
  readonly #kind: DatabaseKind;
  readonly #chosen: Chosen | null;
  /** Identifies the first row, which differs between databases. Null: there is none yet. */
  #first: string | null = null;
  #last = -Infinity;
  #offset = 0;
  #more = true;
  #skipped = 0;
  #unread: string | null = null;
  #damage: string | null = null;
  #isBusy = false;
  #runs: Runs;
  /** Times at which the rows of the chosen runs were written. */
  #times: SourceReader['written'] = null;

  constructor(path: string, kind: DatabaseKind, chosen: Chosen | null) {
    this.#file = new SqliteFile(path);
    this.#kind = kind;
    this.#chosen = chosen;
    this.#runs = new Runs(kind.ended);
  }

  get offset(): number {
    return this.#offset;
  }

  get more(): boolean {
    return this.#more;
  }

  /** Of one run among several by the times of its rows, as the file is written by all of them. */
  get written(): SourceReader['written'] {
    const { stat } = this.#file;
    return this.#times ?? (stat === null ? null : { from: stat.birthtimeMs, to: stat.mtimeMs });
  }

  get isHindered(): boolean {
    return this.#unread !== null;
  }

  get isWaiting(): boolean {
    return this.#isBusy || this.#damage !== null;
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
    this.#isBusy = read.is === 'busy';
    this.#more = read.is === 'busy' && read.more;
    if (read.is === 'damaged') return this.#isStillWritten() ? false : this.#report(read.reason);
    return read.is === 'read' && this.#take(read.value, sink);
  }

  #part(pages: Pages, maxBytes: number): Part {
    const tables = { pages, of: tablesOf(pages) };
    const table = metricsOf(tables.of, this.#kind);
    const first = table === null ? null : firstOf(pages, table);
    const isOther = this.#first !== null && first !== this.#first;
    const last = isOther ? -Infinity : this.#last;
    const empty = { rows: [], runs: new Map(), bytes: 0, skipped: 0, isWhole: true, damage: null };
    const part: Part = { isOther, first, last, ...empty };
    if (table !== null) this.#fill(part, tables, table, maxBytes);
    return part;
  }

  /** Adds rows after the last one, up to the limit. */
  #fill(part: Part, tables: Tables, table: SqlTable, maxBytes: number): void {
    const places = this.#kind.columns.map((name) => table.columns.indexOf(name));
    try {
      for (const row of this.#rowsAfter(tables, table, part.last)) {
        if (part.bytes >= maxBytes) {
          part.isWhole = false;
          return;
        }
        part.last = row.id;
        if (row.values === null) part.skipped += 1;
        else this.#add(part, tables, places.map((place) => row.values![place] ?? null)); // prettier-ignore
      }
    } catch (error) {
      if (!(error instanceof DamagedDatabase)) throw error;
      part.damage = error.message;
    }
  }

  /** The rows of the chosen runs after an id, in the order of their ids. */
  #rowsAfter(tables: Tables, table: SqlTable, after: number): Iterable<SqlRow> {
    const ids = idsOf(this.#chosen, this.#kind, tables);
    if (ids === null) return rowsAfter(tables.pages, table.root, after);
    const column = this.#kind.columns[0]!;
    const found = [...ids].map((text) => rowsWith(tables.pages, table, { column, text, after }));
    if (found.length === 1) return found[0]!;
    return found.flatMap((rows) => [...rows]).sort((one, other) => one.id - other.id);
  }

  #add(part: Part, tables: Tables, cells: readonly SqlValue[]): void {
    const logged = this.#kind.logged(cells);
    part.bytes += logged.bytes;
    if (logged.values === null) return;
    const before = part.rows.at(-1)?.run ?? this.#runs.current;
    part.rows.push(logged);
    if (this.#isOne || before === logged.run) return;
    for (const run of [before, logged.run])
      if (run !== null && !part.runs.has(run)) part.runs.set(run, this.#kind.readRun(tables, run));
  }

  #take(part: Part, sink: RowSink): boolean {
    if (part.damage !== null && this.#isStillWritten()) return false;
    if (part.isOther) this.#restart(sink);
    this.#damage = part.damage;
    this.#first = part.first;
    if (!this.#tell(part, sink)) return this.#beginAgain(sink);
    const isNew = part.last > this.#last;
    this.#moveOn(part);
    return isNew || part.isOther;
  }

  /** Passes rows to the sink. False: earlier rows are invalid. */
  #tell({ rows, runs }: Part, sink: RowSink): boolean {
    for (const { run, time, values } of rows) {
      if (this.#chosen !== null) this.#times = { from: Math.min(this.#times?.from ?? time, time), to: time };
      if (!this.#isOne && !this.#runs.take(run, runs)) return false;
      sink.row(this.#runs.named(run, values!), time);
    }
    return true;
  }

  /** Whether one run alone is read. */
  get #isOne(): boolean {
    return this.#chosen !== null && 'only' in this.#chosen;
  }

  #moveOn({ last, skipped, isWhole, bytes }: Part): void {
    this.#last = last;
    this.#skipped += skipped;
    this.#more = !isWhole;
    // Most of a database are other tables and indices.
    this.#offset = isWhole ? Math.max(this.#offset, this.#file.stat?.size ?? 0) : this.#offset + bytes;
    if (this.#more) this.#file.lookAgain();
  }

  /** Starts over when runs turn out to be several, as the rows so far lack the names of their runs. */
  #beginAgain(sink: RowSink): true {
    this.#restart(sink);
    this.#runs = new Runs(this.#kind.ended, true);
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
    this.#times = null;
    this.#runs = new Runs(this.#kind.ended);
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

/** The runs that wrote to a database, in the order of their rows. */
class Runs {
  readonly #ended: string | undefined;
  readonly #isSeveral: boolean;
  /** By id. */
  readonly #names = new Map<string, string>();
  #current: string | null = null;

  /** @param isSeveral Whether the runs are known to be no attempts at one. */
  constructor(ended: string | undefined, isSeveral = false) {
    this.#ended = ended;
    this.#isSeveral = isSeveral;
  }

  /** The run of the last row. */
  get current(): string | null {
    return this.#current;
  }

  /** Records the run of a row. False: it is another one than that of earlier rows, and no further attempt at it. */
  take(run: string, about: Part['runs']): boolean {
    if (run === this.#current) return true;
    const isKnown = this.#names.has(run);
    const before = this.#current === null ? null : about.get(this.#current);
    const isBehindEnd = this.#ended !== undefined && before?.state === this.#ended;
    if (!isKnown) this.#names.set(run, this.#nameOf(run, about.get(run)?.name ?? run));
    this.#current = run;
    return this.#isSeveral || !(isKnown || isBehindEnd);
  }

  /** Its name, behind which its id begins where another run has the same. */
  #nameOf(run: string, name: string): string {
    return [...this.#names.values()].includes(name) ? `${name}-${run.slice(0, 8)}` : name;
  }

  named(run: string, values: WrittenRow): WrittenRow {
    if (!this.#isSeveral) return values;
    const { step, ...others } = values;
    const name = this.#names.get(run)!;
    return { step, ...Object.fromEntries(Object.entries(others).map(([key, value]) => [`${name}/${key}`, value])) };
  }
}

function firstOf(pages: Pages, { root }: SqlTable): string | null {
  const first = rowsAfter(pages, root, -Infinity).next();
  return first.done === true ? null : JSON.stringify([first.value.id, first.value.values?.map(String)]);
}
