import { closeSync, type Dirent, opendirSync, readdirSync, readSync, statSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { runFiles, sweepFiles, sweepTexts } from '../contract/files.js';
import { isSettledTime } from '../files/file-system-time.js';
import { openRegular } from '../files/regular-file.js';
import { naturalOrder } from '../text/natural-order.js';
import type { FoundFile } from './formats/format.js';
import { isOfSacred } from './formats/sacred.js';
import { copiedSources, isOfGuild } from './tree/guild.js';

/** Limits of the search: number of folders, their depth, and entries of each. */
const MOST_FOLDERS = 128;
const DEEPEST = 6;
const MOST_ENTRIES = 16_384;
/**
 * A folder of this size in bytes has some hundred entries, and is listed in steps; on file systems where folders have no size, in
 * one step.
 */
const LARGE_FOLDER = 32 << 10;
/** Number of entries listed in one step, which takes about a ms. */
const ENTRIES_A_STEP = 256;
/** Folders of code, weights and data, or of this program. */
const passedOver = new Set([
  ...['.git', 'node_modules', '__pycache__', '.venv', 'venv', 'site-packages', '.cache'],
  ...['checkpoints', 'attempts', 'artifacts', 'media', 'plugins'],
]);
const passedPattern = /^(iteration_\d+|global_step\d+)$/;
const checkpoint = /^checkpoint-(\d+)$/;

type Folder = { path: string; place: string; depth: number; mtimeMs: number; isSettled: boolean; entries: Entries };
/** `others`: pipes, sockets, devices. `isWhole`: the lists are complete. */
export type Entries = {
  files: readonly string[];
  folders: readonly string[];
  others: readonly string[];
  isWhole: boolean;
};

/** Behind the path of a folder: the run has the files that lie in it, and the folders in it are of other runs. */
export const FILES_ALONE = '/.';

const noEntries: Entries = { files: [], folders: [], others: [], isWhole: false };

/**
 * The files below the folders of a run, as of the last look. A look costs one `stat` for each folder; only a folder whose time has
 * changed is listed again. Links to folders are not followed, as they may lead to files of others. The directories of other runs,
 * which may be below the working directory, are not searched.
 */
export class RunFolders {
  readonly #directory: string | null;
  readonly #most: number;
  /** Only the files that lie in the folder itself are the run's. */
  readonly #isAlone: boolean;
  #roots: readonly { path: string; place: string }[] = [];
  /** Files of the run outside these folders. */
  #outside: readonly string[] = [];
  #folders = new Map<string, Folder>();
  #isCut = false;
  /** Whether the folders to search have changed since the last look. */
  #isPlaced = true;
  #files: readonly FoundFile[] = [];

  /** @param directory The run's directory; null: there are only other folders. @param most Limit on the number of folders. */
  constructor(directory: string | null, most = MOST_FOLDERS) {
    this.#directory = directory;
    this.#most = most;
    this.#isAlone = directory?.endsWith(FILES_ALONE) === true;
    this.place([], []);
  }

  /** Sets the folders and files, beside the run's own directory, that the next look includes. */
  place(folders: readonly string[], files: readonly string[]): void {
    const outside = [...new Set(folders)].filter((path) => path !== this.#directory);
    const own = this.#directory === null ? [] : [{ path: this.#directory, place: '' }];
    this.#roots = [...own, ...outside.map((path) => ({ path, place: path }))];
    this.#outside = files;
    this.#isPlaced = true;
  }

  /** The files in the order of the search: by depth, then by name. */
  get files(): readonly FoundFile[] {
    return this.#files;
  }

  /** Paths of the folders that were searched, and of all files in them. */
  get paths(): string[] {
    return [...this.#folders.keys(), ...this.#files.map(({ path }) => path)];
  }

  get folders(): number {
    return this.#folders.size;
  }

  /** Whether there are more folders or entries than the limits allow. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get #isOfGuild(): boolean {
    const { folders } = this.#folders.get(this.#directory ?? '')?.entries ?? noEntries;
    return isOfGuild(folders, basename(this.#directory ?? ''));
  }

  /** Whether the run's own folder certainly had no entry of this name at the last look. */
  isAbsent(name: string): boolean {
    const { isWhole, files, folders, others } = this.#folders.get(this.#directory ?? '')?.entries ?? noEntries;
    return isWhole && ![files, folders, others].some((names) => names.includes(name));
  }

  /** Looks again; returns true if files came or went. */
  look(): boolean {
    const steps = this.lookInSteps();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same in steps: a folder, or a part of a large one, at a time. */
  *lookInSteps(): Generator<void, boolean> {
    const isPlaced = this.#isPlaced;
    this.#isPlaced = false;
    if (!isPlaced && [...this.#folders.values()].every(isAsBefore)) return false;
    return yield* this.#walk(isPlaced);
  }

  *#walk(isPlaced: boolean): Generator<void, boolean> {
    const folders = new Map<string, Folder>();
    const queue = this.#roots.map((root) => ({ ...root, depth: 0 }));
    let isCut = false;
    let changed = isPlaced;
    for (let next = 0; next < queue.length; next++) {
      const { path, place, depth } = queue[next]!;
      if (folders.has(path)) continue;
      isCut = folders.size >= this.#most;
      if (isCut) break;
      const known = this.#folders.get(path);
      const folder = yield* lookAt(known ?? unseen({ path, place, depth }));
      changed ||= folder !== known;
      folders.set(path, folder);
      yield;
      for (const name of this.#isAlone ? [] : foldersIn(folder))
        queue.push({ path: join(path, name), place: placeOf(place, name), depth: depth + 1 });
    }
    return this.#take(folders, isCut, changed);
  }

  /** Only after a walk, as it takes several turns, in which the results of the one before count. */
  #take(folders: Map<string, Folder>, isCut: boolean, changed: boolean): boolean {
    const before = this.#folders;
    this.#folders = folders;
    this.#isCut = isCut || [...folders.values()].some(isPartial);
    if (changed || folders.size !== before.size) this.#files = this.#list();
    return changed;
  }

  #list(): FoundFile[] {
    const found = [...this.#folders.values()].flatMap((folder) =>
      isOfOthers(folder) ? [] : folder.entries.files.map((name) => fileIn(folder, name)),
    );
    const known = new Set(this.#outside.length === 0 ? [] : found.map(({ path }) => path));
    const outside = this.#outside.filter((path) => !known.has(path));
    const copied = this.#isOfGuild ? copiedSources(this.#directory!) : null;
    const own = copied === null ? found : found.filter(({ place }) => !copied.has(place));
    return [...own, ...outside.map((path) => foundFile(path))];
  }
}

/** Lists a folder, without folders of code, weights and data; null: it is gone or not readable. @param size As `stat` has it. @param most Entries. */
export function* entriesOf(path: string, size: number, most = MOST_ENTRIES): Generator<void, Entries | null> {
  try {
    const { entries, isCut } = size > LARGE_FOLDER ? yield* someOf(path, most) : { entries: allOf(path), isCut: false };
    const [files, folders, others]: [string[], string[], string[]] = [[], [], []];
    for (const entry of entries) {
      if (entry.isDirectory()) folders.push(entry.name);
      else (entry.isFile() || entry.isSymbolicLink() ? files : others).push(entry.name);
    }
    return { files: yield* inOrder(files), folders: yield* inOrder(worthALook(folders)), others, isWhole: !isCut };
  } catch {
    return null;
  }
}

/** Sorts names in steps of about a ms: ten thousand at once take thirty. */
function* inOrder(names: readonly string[]): Generator<void, string[]> {
  const count = Math.ceil(names.length / ENTRIES_A_STEP);
  let parts = Array.from({ length: count }, (_, n) => names.slice(n * ENTRIES_A_STEP, (n + 1) * ENTRIES_A_STEP));
  for (const part of parts) {
    part.sort(naturalOrder);
    if (count > 1) yield;
  }
  while (parts.length > 1) {
    const pairs: string[][] = [];
    for (let n = 0; n < parts.length; n += 2) pairs.push(yield* merged(parts[n]!, parts[n + 1] ?? []));
    parts = pairs;
  }
  return parts[0] ?? [];
}

/** Merges two lists that are in order, in steps. */
function* merged(one: readonly string[], other: readonly string[]): Generator<void, string[]> {
  const all: string[] = [];
  for (let i = 0, j = 0; all.length < one.length + other.length;) {
    const isOne = j === other.length || (i < one.length && naturalOrder(one[i]!, other[j]!) <= 0);
    if (all.push(isOne ? one[i++]! : other[j++]!) % ENTRIES_A_STEP === 0) yield;
  }
  return all;
}

/** The folder as it is now; the same object where no entry came or went. */
function* lookAt(folder: Folder): Generator<void, Folder> {
  const stat = statOf(folder.path);
  if (stat === null) return folder.mtimeMs === -1 ? folder : { ...folder, mtimeMs: -1, entries: noEntries };
  if (folder.isSettled && stat.mtimeMs === folder.mtimeMs) return folder;
  // One that is gone or not readable counts as empty, and is listed again when its time changes.
  const entries = (yield* entriesOf(folder.path, stat.size)) ?? noEntries;
  const isSettled = isSettledTime(stat.mtimeMs);
  const isSame = isEqual(entries, folder.entries) && folder.mtimeMs !== -1;
  if (!isSame) return { ...folder, entries, mtimeMs: stat.mtimeMs, isSettled };
  folder.mtimeMs = stat.mtimeMs;
  folder.isSettled = isSettled;
  return folder;
}

function unseen(where: Pick<Folder, 'path' | 'place' | 'depth'>): Folder {
  return { ...where, mtimeMs: -1, isSettled: false, entries: noEntries };
}

/** Whether a folder has more entries than were listed. */
function isPartial({ entries }: Folder): boolean {
  return entries !== noEntries && !entries.isWhole;
}

/** The folders below one that are searched too. In a working directory hidden ones belong to tools. */
function foldersIn(folder: Folder): readonly string[] {
  const { depth, place, entries } = folder;
  if (depth === DEEPEST || isOfOthers(folder)) return [];
  return place.startsWith('/') ? entries.folders.filter((name) => !name.startsWith('.')) : entries.folders;
}

/** Whether a folder is the directory of a run or a sweep, of any manager: its files belong to that. */
function isOfOthers({ depth, entries: { files } }: Folder): boolean {
  if (depth === 0) return false;
  return (
    (files.includes(runFiles.record) && !isOfSacred(files)) ||
    (files.includes(sweepFiles.origin) && sweepTexts.some((name) => files.includes(name)))
  );
}

function fileIn({ path, place }: Folder, name: string): FoundFile {
  return foundFile(join(path, name), name, placeOf(place, name));
}

/** Whether no entry of a folder came or went. Checked for all folders first, as this is nearly always so. */
function isAsBefore({ path, mtimeMs, isSettled }: Folder): boolean {
  const stat = statOf(path);
  return stat === null ? mtimeMs === -1 : isSettled && stat.mtimeMs === mtimeMs;
}

function allOf(path: string): Dirent[] {
  return readdirSync(path, { withFileTypes: true });
}

/** The first entries of a folder that may have a million, as listing all of it would take too long for one step. */
function* someOf(path: string, most: number): Generator<void, { entries: Dirent[]; isCut: boolean }> {
  const directory = opendirSync(path, { bufferSize: ENTRIES_A_STEP });
  try {
    const entries: Dirent[] = [];
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (entries.length === most) return { entries, isCut: true };
      if (entries.push(entry) % ENTRIES_A_STEP === 0) yield;
    }
    return { entries, isCut: false };
  } finally {
    directory.closeSync();
  }
}

function placeOf(place: string, name: string): string {
  return place === '' ? name : join(place, name);
}

/** Skips all of Hugging Face's checkpoints but the last, which has the history of all. */
function worthALook(names: readonly string[]): string[] {
  const numbers = names.map((name) => Number(checkpoint.exec(name)?.[1] ?? NaN));
  const last = numbers.reduce((most, each) => (each > most ? each : most), -1);
  return names
    .filter((name, index) => Number.isNaN(numbers[index]) || numbers[index] === last)
    .filter((name) => !passedOver.has(name) && !passedPattern.test(name));
}

function isEqual(one: Entries, other: Entries): boolean {
  const same = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((name, index) => name === b[index]);
  return same(one.files, other.files) && same(one.folders, other.folders) && same(one.others, other.others);
}

export function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // A part of the path is not a directory, or not accessible.
    return null;
  }
}

const HEAD = 64 << 10;

export function foundFile(path: string, name = basename(path), place = path): FoundFile {
  return { path, name, place, head: () => headLines(path) };
}

/** Whole lines at the start of a file; null: there are none yet. */
function headLines(path: string): readonly string[] | null {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return null;
  try {
    const bytes = Buffer.allocUnsafe(Math.min(HEAD, opened.stat.size));
    const head = bytes.subarray(0, readSync(opened.descriptor, bytes, 0, bytes.length, 0));
    const end = head.lastIndexOf(10);
    return end < 0 ? null : head.toString('utf8', 0, end).split('\n');
  } catch {
    return null;
  } finally {
    closeSync(opened.descriptor);
  }
}

/** The files of a run that may appear later. */
export function expectedFiles(directory: string): FoundFile[] {
  return [runFiles.metrics, runFiles.log].map((name) => foundFile(join(directory, name), name, name));
}
