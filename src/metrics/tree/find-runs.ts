import { basename, join, relative } from 'node:path';
import { isSettledTime } from '../../files/file-system-time.js';
import { naturalOrder } from '../../text/natural-order.js';
import { recognised } from '../detection.js';
import { isDatabase } from '../formats/databases/database.js';
import { databaseRun, runsOfDatabase } from '../formats/databases/database-runs.js';
import { tfevents } from '../formats/tfevents.js';
import { metricFormats } from '../formats/registry.js';
import { type Entries, entriesOf, FILES_ALONE, foundFile, statOf } from '../run-folders.js';
import { guildFolder } from './guild.js';
import { isPartName, runKinds } from './run-kinds.js';
import { type UnreadStore, unreadDatabase, unreadStores } from './unread-stores.js';

/**
 * A run that was found. `directory`: what stands for it wherever a run's directory is asked for; `FILES_ALONE` and `databaseRun`
 * make paths of runs that are no folder. `place`: the same as seen from the root, without such an ending. `files`, `folders`: names
 * of what lies in its folder; `folders` are none of a run that has the files alone.
 */
export type FoundRun = {
  readonly directory: string;
  readonly place: string;
  readonly kind: string;
  readonly files: readonly string[];
  readonly folders: readonly string[];
};

/** `notes`: what was not looked at and why, in words. */
export type FoundRuns = {
  readonly runs: readonly FoundRun[];
  readonly folders: number;
  readonly notes: readonly string[];
  /** Stores of other programs in which no run was found. */
  readonly unread: readonly UnreadStore[];
};

/** Whether a file of this name may hold several runs, and be searched as a folder is. */
export function mayHoldRuns(file: string): boolean {
  return isDatabase(file);
}

/** Bounds of one search. */
const bounds = { folders: 50_000, runs: 20_000, depth: 16, files: 100_000, filesOfFolder: 24 };
export type SearchBounds = typeof bounds;

/** A folder as of the last look. `own`: names of its files that hold metrics; `writers`: of its event files. */
type Folder = {
  readonly path: string;
  readonly mtimeMs: number;
  readonly isSettled: boolean;
  readonly entries: Entries;
  readonly own: readonly string[];
  readonly formats: ReadonlySet<string>;
  readonly writers: ReadonlySet<string>;
  readonly databases: readonly string[];
};

/** What was found below a folder. `folder` null: a run of a database. */
type Found = FoundRun & { readonly folder: Folder | null };

/**
 * Finds the runs of any tree of folders, of whatever writer, and finds those that come later: a further search lists only folders
 * that have changed.
 *
 * Reads names, and the beginnings of files whose names may be those of metrics. Links to folders are not followed, so a circle
 * is none. What exceeds the bounds is left out, and said.
 */
export class RunSearch {
  readonly #root: string;
  readonly #bounds: SearchBounds;
  readonly #formats = metricFormats().filter(({ isNamed }) => isNamed !== undefined);
  #known = new Map<string, Folder>();
  #folders = new Map<string, Folder>();
  #files = 0;
  #cut = new Set<string>();
  #unread: UnreadStore[] = [];
  /** What was found below the folders whose search goes on, the outermost first. */
  #unfinished: Found[][] = [];

  constructor(root: string, limits: Partial<SearchBounds> = {}) {
    this.#root = root;
    this.#bounds = { ...bounds, ...limits };
  }

  /** One search, a folder at a time. The runs are in natural order of their paths. */
  *search(): Generator<void, FoundRuns> {
    this.#known = this.#folders;
    this.#folders = new Map();
    this.#files = 0;
    this.#cut = new Set();
    this.#unfinished = [];
    this.#unread = [];
    const isFile = mayHoldRuns(this.#root);
    if (isFile) this.#takeDatabase(this.#root);
    const found = isFile ? this.#inDatabase(this.#root) : yield* this.#below(this.#root, 0);
    const most = this.#bounds.runs;
    if (found.length > most) this.#cut.add(`only the first ${most} of ${found.length} runs are shown`);
    const unread = this.#unread.filter((store) => !found.some((run) => isIn(run, store)));
    return { runs: inOrder(found.slice(0, most)), folders: this.#folders.size, notes: [...this.#cut], unread };
  }

  /** The runs that a search has found which goes on; folders around them may yet turn out to be the run. */
  get foundSoFar(): readonly FoundRun[] {
    return inOrder(this.#unfinished.flat());
  }

  *#below(path: string, depth: number): Generator<void, readonly Found[]> {
    const folder = yield* this.#look(path);
    yield;
    if (folder === null) return [];
    const { entries, databases } = folder;
    const others = entries.files.filter((name) => isDatabase(name) && !databases.includes(name));
    const hasOtherRows = this.#takeStores(unreadStores(entries, path), path);
    for (const name of others.slice(0, this.#bounds.filesOfFolder)) this.#takeDatabase(join(path, name));
    const kind = runKinds.find(({ marks }) => marks(entries, path));
    if (kind !== undefined) return [this.#whole(folder, kind.name)];
    const below: Found[] = databases.flatMap((name) => this.#inDatabase(join(path, name)));
    this.#unfinished.push(below);
    for (const name of entries.folders) {
      if (!isSearched(name, basename(path))) continue;
      if (depth >= this.#bounds.depth) this.#cut.add(`folders more than ${depth} deep are not searched`);
      else if (this.#folders.size >= this.#bounds.folders)
        this.#cut.add(`only ${this.#bounds.folders} folders are searched`);
      // One by one: of a hundred thousand the arguments of a call would be too many.
      else for (const run of yield* this.#below(join(path, name), depth + 1)) below.push(run);
    }
    this.#unfinished.pop();
    return this.#joined(hasOtherRows ? { ...folder, own: [] } : folder, below);
  }

  #takeDatabase(path: string): void {
    const store = unreadDatabase(path);
    if (store !== null) this.#takeStores([store], path);
  }

  /** Notes stores of other programs, without those in other stores. Returns whether the folder's own files are of one. */
  #takeStores(stores: readonly UnreadStore[], path: string): boolean {
    const isInOther = this.#unread.some((other) => isIn({ directory: path }, other));
    if (!isInOther) this.#unread.push(...stores);
    return stores.some((store) => store.hasRows && store.path === path);
  }

  /** Whether a folder is a run with all that is below it, or holds runs. */
  #joined(folder: Folder, below: readonly Found[]): readonly Found[] {
    const isRun = folder.own.length > 0;
    const parts = below.filter((run) => run.folder !== null && isPartName(basename(run.directory)));
    if (!isRun) return parts.length > 1 && parts.length === below.length ? [this.#whole(folder, 'folder')] : below;
    const others = below.filter((run) => !belongs(run, folder, below.length));
    if (others.length === 0) return [this.#whole(folder, 'folder')];
    return [{ ...this.#whole(folder, 'folder'), directory: folder.path + FILES_ALONE, folders: [] }, ...below];
  }

  #whole(folder: Folder, kind: string): Found {
    const { files, folders } = folder.entries;
    return { directory: folder.path, place: relative(this.#root, folder.path), kind, files, folders, folder };
  }

  #inDatabase(path: string): Found[] {
    const { kind, runs } = runsOfDatabase(path) ?? { kind: '', runs: [] };
    const place = relative(this.#root, path);
    return runs.map((run) => {
      const own = { directory: databaseRun(path, run), place: join(place, run), files: [], folders: [] };
      return { ...own, kind, folder: null };
    });
  }

  *#look(path: string): Generator<void, Folder | null> {
    const stat = statOf(path);
    if (stat === null) return this.#isClosed(path);
    const known = this.#known.get(path);
    if (known?.isSettled === true && known.mtimeMs === stat.mtimeMs) return this.#keep(known);
    const entries = yield* entriesOf(path, stat.size, this.#bounds.folders);
    if (entries === null) return this.#isClosed(path);
    if (!entries.isWhole) this.#cut.add(`not all files of ${this.#nameOf(path)} were looked at`);
    const told = yield* this.#tell(path, entries);
    const isSettled = isSettledTime(stat.mtimeMs) && told.isTold;
    return this.#keep({ path, mtimeMs: stat.mtimeMs, isSettled, entries, ...told });
  }

  #isClosed(path: string): null {
    this.#cut.add(`${this.#nameOf(path)} may not be read`);
    return null;
  }

  #nameOf(path: string): string {
    return relative(this.#root, path) || path;
  }

  #keep(folder: Folder): Folder {
    this.#folders.set(folder.path, folder);
    return folder;
  }

  /** Which files of a folder hold metrics. `isTold` false: one of them cannot be told yet. */
  *#tell(path: string, { files }: Entries) {
    const own: string[] = [];
    const databases: string[] = [];
    const formats = new Set<string>();
    const writers = new Set<string>();
    let isTold = true;
    let left = this.#bounds.filesOfFolder;
    for (const name of files) {
      if (!this.#formats.some(({ isNamed, looksInto }) => isNamed!(name) || looksInto?.(name) === true)) continue;
      if (tfevents.isNamed!(name)) {
        const writer = tfevents.writerIn!(name);
        writers.add(writer === null ? '' : `${writer.host} ${writer.pid}`);
        formats.add(tfevents.name);
        own.push(name);
        continue;
      }
      if (left-- <= 0 || this.#files++ >= this.#bounds.files) continue;
      // Its place is its name: what the run's own file is called is known by that.
      const { recognition, format } = recognised(foundFile(join(path, name), name, name), metricFormats());
      yield;
      if (recognition.is === 'maybe') isTold = false;
      if (recognition.is !== 'yes') continue;
      if (isDatabase(name)) databases.push(name);
      else own.push(name);
      formats.add(format!.name);
    }
    return { own, databases, formats, writers, isTold };
  }
}

function isIn({ directory }: Pick<FoundRun, 'directory'>, { path }: UnreadStore): boolean {
  return directory === path || directory.startsWith(`${path}/`);
}

/** Whether a folder in another one is searched: hidden ones belong to tools, and what guild has deleted lies beside its runs. */
function isSearched(name: string, around: string): boolean {
  if (around === guildFolder) return name === 'runs';
  return !name.startsWith('.') || name === guildFolder;
}

function inOrder(found: readonly Found[]): FoundRun[] {
  const runs = found.map(({ directory, place, kind, files, folders }) => ({ directory, place, kind, files, folders }));
  return runs.sort((a, b) => naturalOrder(a.place, b.place));
}

/**
 * Whether what was found below a folder of metrics is a part of the same run: event files of one process (`add_scalars`,
 * `add_hparams`), the folder of an evaluation, or the only other one, which another format writes beside the first.
 */
function belongs({ folder: inner, directory }: Found, outer: Folder, count: number): boolean {
  if (inner === null) return false;
  if (isPartName(basename(directory))) return true;
  if (inner.writers.size > 0 && outer.writers.size > 0)
    return [...inner.writers].every((each) => outer.writers.has(each));
  return count === 1 && ![...inner.formats].some((format) => outer.formats.has(format));
}
