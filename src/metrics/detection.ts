import { join, relative } from 'node:path';
import { runFiles } from '../contract/files.js';
import { keptTables } from '../files/kept/kept-tables.js';
import { statRegular } from '../files/regular-file.js';
import { naturalOrder } from '../text/natural-order.js';
import { formatsOfBegun, formatsOfRun, partOfDatabase } from './formats/databases/database-runs.js';
import type { FoundFile, MetricFormat, Recognition } from './formats/format.js';
import { whyUnread } from './formats/registry.js';
import { expectedFiles, RunFolders } from './run-folders.js';
import { OutsidePlaces } from './run-places.js';

/** One source of a run: the files of one format that are read together. `why`: how the format was recognised. */
export type FoundSource = {
  readonly id: string;
  readonly format: MetricFormat;
  readonly why: string;
  /** Sorted by name. The array is replaced as files are found. */
  paths: readonly string[];
  places: readonly string[];
  /** Number of the attempt that wrote it, where it lies outside the run's directory; else 0. */
  attempt: number;
};

/** A file that resembles one of metrics, and is none, at least not yet. */
type PassedOver = { readonly place: string; readonly why: string };

/** `mayHold`: whether its name is one of files of metrics. */
type Verdict = { recognition: Recognition; format: MetricFormat | null; size: number; mayHold: boolean };

/** Limit on the undecided files that are looked at again each time. */
const MOST_MAYBE = 32;
/**
 * Limits of one run: files that may hold metrics and are opened, and their total size in bytes, after which no further file is
 * opened.
 */
const MOST_FILES = 1024;
const MOST_BYTES = 4 * 2 ** 30;
/** Limit on the files that are opened though their names say nothing of metrics. */
export const MOST_LOOKED_INTO = 256;
/** Cost limit of one look, a few ms. Opening a file that may hold metrics costs more than looking at its name. */
const COST_OF_LOOK = 1024;
const COST_OF_FILE = 16;
const COST_OF_FOLDER = 32;

/**
 * Finds the sources of a run, also those that appear later. The first format that recognises a file is used; where two sources have
 * the same metric, the earlier format takes precedence, then files of the last attempt outside the directory, then the file that is
 * less deep, then the name.
 */
export class Detection {
  readonly #directory: string;
  readonly #folders: RunFolders;
  readonly #outside: OutsidePlaces;
  /** The formats in order of precedence. */
  readonly formats: readonly MetricFormat[];
  /** Those for databases that other runs write, too. */
  readonly #begun: readonly MetricFormat[];
  readonly #expected: readonly FoundFile[];
  readonly #besides: readonly ((name: string) => readonly string[])[];
  /** Paths of expected files that do not exist. */
  #absent: ReadonlySet<string> = new Set();
  /** Verdicts by path. */
  readonly #verdicts = new Map<string, Verdict>();
  readonly #sources = new Map<string, FoundSource>();
  #order: readonly FoundSource[] = [];
  #maybe: readonly FoundFile[] = [];
  /** New files that have not been examined yet, from `#nextFile` on. */
  #unjudged: readonly FoundFile[] = [];
  #nextFile = 0;
  /** An unfinished search of the folders. */
  #walk: Generator<void, boolean> | null = null;
  /** Sources that gained a file in this look. */
  readonly #grown = new Set<FoundSource>();
  /** Total size of the sources' files when they were found. */
  #bytes = 0;
  #overFiles = 0;
  #overBytes = 0;
  #lookedInto = 0;
  #unseen = 0;

  constructor(directory: string, folders: readonly string[], formats: readonly MetricFormat[]) {
    const part = partOfDatabase(directory);
    this.#directory = directory;
    this.#folders = new RunFolders(part === null ? directory : null);
    this.#outside = new OutsidePlaces(directory, folders);
    this.#begun = formatsOfBegun(directory);
    this.#place(part === null ? null : part.database);
    this.formats = part === null ? formats : formatsOfRun(part.run);
    this.#besides = this.formats.flatMap(({ besides = [] }) => besides);
    this.#expected = expectedFiles(directory);
    for (const file of this.#expected) this.#judge(file);
    this.#sort();
  }

  /** The sources in order of precedence. */
  get sources(): readonly FoundSource[] {
    return this.#order;
  }

  /** Number of folders that were searched. `isCut`: there are more. `unseen`: files beyond those that are opened without a telling name. */
  get looked(): { folders: number; isCut: boolean; unseen: number } {
    return { folders: this.#folders.folders, isCut: this.#folders.isCut, unseen: this.#unseen };
  }

  /** Paths of all folders and files whose states decide which sources there are, as of the last look. */
  get looksAt(): string[] {
    const written = join(this.#directory, runFiles.written);
    return [...new Set([...this.#folders.paths, ...this.#expected.map(({ path }) => path), written])];
  }

  /** Where the run writes outside its directory, as of the last look. */
  get outside(): OutsidePlaces {
    return this.#outside;
  }

  get passedOver(): PassedOver[] {
    return this.#folders.files.flatMap(({ path, place }) => {
      const recognition = this.#verdicts.get(path)?.recognition;
      if (recognition === undefined || recognition.is === 'yes') return [];
      return recognition.why === undefined || recognition.why === '' ? [] : [{ place, why: recognition.why }];
    });
  }

  /** Whether the file of a source did not exist at the last look. */
  isAbsent({ paths: [path, ...others] }: FoundSource): boolean {
    return others.length === 0 && this.#absent.has(path!);
  }

  /** Whether another look would examine further files at once. */
  get more(): boolean {
    return this.#walk !== null || this.#nextFile < this.#unjudged.length;
  }

  /** The files beyond the run's limits, in words; null: there are none. */
  get leftOut(): string | null {
    const count = this.#overFiles + this.#overBytes;
    if (count === 0) return this.#folders.isCut ? 'not all folders of this run were searched for metrics' : null;
    const limit = this.#overFiles > 0 ? `${MOST_FILES} files` : `${MOST_BYTES / 2 ** 30} GiB`;
    const atLeast = this.#folders.isCut ? 'at least ' : '';
    return `the metrics of this run are read from ${limit} at most: ${atLeast}${count} more ${count === 1 ? 'is' : 'are'} left out`;
  }

  /** Looks for new files, for a few ms; returns true if there are new sources or files, or some no longer belong to the run. */
  look(): boolean {
    const haveCome = this.#lookAtFolders();
    if (haveCome === null) return false;
    const isMoved = this.#hasMoved();
    const isChanged = (isMoved && this.#folders.look()) || haveCome;
    const isLost = isMoved && this.#dropOthers();
    if (isChanged || isLost) this.#takeNote();
    const hasCome = this.#hasCome();
    const isFound = this.#judgeSome() || isLost || hasCome;
    if (isFound) this.#sort();
    return isFound;
  }

  /** Whether the run writes to other places than before. */
  #hasMoved(): boolean {
    // Checking for the file in each of a thousand runs costs more than reading the existing ones.
    const { files, databases } = this.#outside;
    const mayBeThere = !this.#folders.isAbsent(runFiles.written) || files.length + databases.length > 0;
    if (!mayBeThere || !this.#outside.look()) return false;
    this.#place(null);
    return true;
  }

  /** @param database The only file, which has runs; null: the run is a folder. */
  #place(database: string | null): void {
    const { folders, files, databases } = this.#outside;
    this.#folders.place(folders, database === null ? [...files, ...databases] : [database]);
  }

  /**
   * Searches the folders. Returns whether files came or went; null: that takes another look. Files found before are examined first.
   */
  #lookAtFolders(): boolean | null {
    if (this.#nextFile < this.#unjudged.length) return false;
    this.#walk ??= this.#folders.lookInSteps();
    for (let cost = 0; cost < COST_OF_LOOK; cost += COST_OF_FOLDER) {
      const step = this.#walk.next();
      if (step.done !== true) continue;
      this.#walk = null;
      return step.value;
    }
    return null;
  }

  /** Notes that files have come or gone: the new ones are examined next, within the run's limits. */
  #takeNote(): void {
    const { files } = this.#folders;
    const isDecided = ({ path }: FoundFile) => (this.#verdicts.get(path)?.recognition.is ?? 'maybe') !== 'maybe';
    let room = MOST_FILES;
    for (const { path } of files) if (this.#verdicts.get(path)?.mayHold === true) room -= 1;
    this.#overFiles = 0;
    this.#unjudged = files.filter((file) => {
      if (isDecided(file)) return false;
      if (this.#verdicts.has(file.path) || !this.#mayHold(file) || room-- > 0) return true;
      this.#overFiles += 1;
      return false;
    });
    this.#nextFile = 0;
  }

  /** Whether a file's name is one of files of metrics. */
  #mayHold({ name }: FoundFile): boolean {
    return this.formats.some(({ isNamed }) => isNamed?.(name) === true);
  }

  /** Examines as many files as one look may; returns true if some belong to a source and did not before. */
  #judgeSome(): boolean {
    if (this.#unjudged.length > 0) return this.#judgeNew();
    let found = false;
    for (const file of this.#maybe) found = this.#judge(file) || found;
    if (found) this.#maybe = this.#undecided();
    return found;
  }

  #judgeNew(): boolean {
    let found = false;
    for (let cost = 0; this.#nextFile < this.#unjudged.length && cost < COST_OF_LOOK; this.#nextFile++) {
      const file = this.#unjudged[this.#nextFile]!;
      found = this.#judge(file) || found;
      cost += this.#verdicts.get(file.path)?.mayHold === true ? COST_OF_FILE : 1;
    }
    if (this.#nextFile < this.#unjudged.length) return found;
    this.#unjudged = [];
    this.#nextFile = 0;
    this.#maybe = this.#undecided();
    return found;
  }

  /**
   * Drops sources that contain a file which belongs to another run now; their other files are found anew. Returns true if there
   * were some.
   */
  #dropOthers(): boolean {
    const own = new Set([...this.#expected, ...this.#folders.files].map(({ path }) => path));
    const copies = join(this.#directory, runFiles.attempts);
    const isLost = (path: string) => !own.has(path) && !path.startsWith(copies);
    const lost = [...this.#sources.values()].filter(({ paths }) => paths.some(isLost));
    for (const { id, paths } of lost) {
      this.#sources.delete(id);
      for (const path of paths) this.#verdicts.delete(path);
    }
    return lost.length > 0;
  }

  /** Returns true if an expected file has appeared. */
  #hasCome(): boolean {
    const before = this.#absent;
    this.#absent = new Set(this.#expected.filter(({ name }) => this.#folders.isAbsent(name)).map(({ path }) => path));
    return [...before].some((path) => !this.#absent.has(path));
  }

  /** Examines a file; returns true if it belongs to a source and did not before. */
  #judge(file: FoundFile): boolean {
    const known = this.#verdicts.get(file.path);
    const size = this.#sizeToJudge(file, known);
    if (size === null) return false;
    const isShared = this.#outside.databases.includes(file.path);
    const { recognition, format } = recognised(file, isShared ? this.#begun : this.formats);
    const isPassing = recognition.is === 'maybe' && recognition.isPassing === true;
    const mayHold = known?.mayHold ?? this.#mayHold(file);
    this.#verdicts.set(file.path, { recognition, format, size: isPassing ? NaN : size, mayHold });
    return recognition.is === 'yes' && this.#take(file, size, { ...recognition, format: format! });
  }

  /** The size of a file that has to be examined; null: that was done, or it may not be opened. */
  #sizeToJudge(file: FoundFile, known: Verdict | undefined): number | null {
    if (known === undefined) return this.#mayLookInto(file) ? this.#sizeOf(file) : null;
    const size = known.recognition.is === 'maybe' ? this.#sizeOf(file) : known.size;
    return size === known.size ? null : size;
  }

  /** Whether a file that is seen for the first time may be opened, though its name may say nothing of metrics. */
  #mayLookInto(file: FoundFile): boolean {
    const isAny = !this.#mayHold(file) && this.formats.some(({ looksInto }) => looksInto?.(file.name) === true);
    if (!isAny || this.#lookedInto++ < MOST_LOOKED_INTO) return true;
    this.#unseen += 1;
    return false;
  }

  /** Adds a file to its source. False: the run has reached its limit of bytes. */
  #take(
    file: FoundFile,
    size: number,
    { format, ...recognition }: Extract<Recognition, { is: 'yes' }> & { format: MetricFormat },
  ): boolean {
    if (this.#bytes >= MOST_BYTES) {
      this.#overBytes += 1;
      return false;
    }
    this.#bytes += Math.max(0, size);
    this.#add(file, format, recognition);
    return true;
  }

  /** Size in bytes, with the files that belong to it; -1: it does not exist, or is not a regular file. */
  #sizeOf({ path, name }: FoundFile): number {
    const endings = this.#besides.flatMap((endingsOf) => endingsOf(name));
    return endings.reduce((sum, ending) => sum + Math.max(0, sizeOf(path + ending)), sizeOf(path));
  }

  #add({ path, place }: FoundFile, format: MetricFormat, { why, source }: { why: string; source?: string }): void {
    const id = `${format.name}\n${source ?? path}`;
    const known = this.#sources.get(id);
    if (known === undefined) {
      const kept = keptTables(this.#directory, place);
      const places = kept.map((copy) => relative(this.#directory, copy));
      this.#sources.set(id, { id, format, why, paths: [...kept, path], places: [...places, place], attempt: 0 });
      return;
    }
    // The arrays are copied once per look, as they are sorted once for all new files.
    if (!this.#grown.has(known)) Object.assign(known, { paths: [...known.paths], places: [...known.places] });
    this.#grown.add(known);
    (known.paths as string[]).push(path);
    (known.places as string[]).push(place);
  }

  #undecided(): FoundFile[] {
    const maybe = this.#folders.files.filter(({ path }) => this.#verdicts.get(path)?.recognition.is === 'maybe');
    return maybe.slice(0, MOST_MAYBE);
  }

  #sort(): void {
    for (const source of this.#grown) {
      const files = source.paths.map((path, index) => [path, source.places[index]!] as const);
      files.sort(([one], [other]) => naturalOrder(one, other));
      Object.assign(source, { paths: files.map(([path]) => path), places: files.map(([, place]) => place) });
    }
    this.#grown.clear();
    const attempts = new Map(this.#outside.written.files.map(({ path, attempt }) => [path, attempt]));
    // Files of the newest attempt come first, so that those of a failed one do not hide the metrics of the present one.
    const rankOf = ({ format, attempt, places }: FoundSource) =>
      [this.formats.findIndex(({ name }) => name === format.name), -attempt, depthOf(places.at(-1)!)] as const;
    for (const source of this.#sources.values()) source.attempt = attempts.get(source.paths.at(-1)!) ?? 0;
    const ranked = [...this.#sources.values()].map((source) => ({ source, rank: rankOf(source) }));
    ranked.sort(({ source: one, rank: a }, { source: other, rank: b }) => {
      return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || naturalOrder(one.paths.at(-1)!, other.paths.at(-1)!);
    });
    this.#order = ranked.map(({ source }) => source);
  }
}

/** The format of a file, as far as it can be recognised. */
export function recognised(file: FoundFile, formats: readonly MetricFormat[]): Pick<Verdict, 'recognition' | 'format'> {
  const why = whyUnread(file.name);
  const opened = openedOnce(file);
  let best: Recognition = why === undefined ? { is: 'no' } : { is: 'no', why };
  for (const format of formats.filter((each) => mayHave(each, file.name))) {
    const recognition = format.recognise(opened);
    if (recognition.is === 'yes') return { recognition, format };
    const isWord = recognition.is === 'maybe' ? best.is !== 'maybe' || recognition.why !== '' : best.is === 'no';
    if (isWord && (recognition.is === 'maybe' || recognition.why !== undefined)) best = recognition;
  }
  return { recognition: best, format: null };
}

/** The file, of which the beginning is read once, however many formats look at it. */
function openedOnce(file: FoundFile): FoundFile {
  let head: ReturnType<FoundFile['head']> | undefined;
  return { ...file, head: () => (head === undefined ? (head = file.head()) : head) };
}

function mayHave({ isNamed, looksInto }: MetricFormat, name: string): boolean {
  return isNamed?.(name) !== false || looksInto?.(name) === true;
}

function depthOf(place: string): number {
  return place.split('/').length;
}

/** Size in bytes; -1: the file does not exist, or is not a regular file. */
function sizeOf(path: string): number {
  const there = statRegular(path);
  return there.kind === 'file' ? there.stat.size : -1;
}
