import { runFiles } from '../contract/files.js';
import { statRegular } from '../files/regular-file.js';
import { naturalOrder } from '../text/natural-order.js';
import type { FoundFile, MetricFormat, Recognition } from './formats/format.js';
import { whyUnread } from './formats/registry.js';
import { expectedFiles, RunFolders } from './run-folders.js';
import { OutsidePlaces } from './run-places.js';

/** One source of a run: the files of one format that are read as one. `why`: what it was told by. */
export type FoundSource = {
  readonly id: string;
  readonly format: MetricFormat;
  readonly why: string;
  /** Grows as files are found. In order of name. */
  paths: readonly string[];
  places: readonly string[];
};

/** A file that is like one of metrics, and is none, or is not yet. */
type PassedOver = { readonly place: string; readonly why: string };

/** `mayHold`: whether its name is one of files of metrics. */
type Verdict = { recognition: Recognition; format: MetricFormat | null; size: number; mayHold: boolean };

/** Files that cannot be told yet, of which there are so many looked at again each time. */
const MOST_MAYBE = 32;
/** Budget of one run: files that may hold metrics and are looked into, and bytes of those after which no further file is taken. */
const MOST_FILES = 1024;
const MOST_BYTES = 4 * 2 ** 30;
/** Files that are told apart in one look, by what they cost: a few ms. One that may hold metrics is opened. */
const COST_OF_LOOK = 1024;
const COST_OF_FILE = 16;
const COST_OF_FOLDER = 32;

/**
 * Finds the sources of a run, and keeps finding those that come later. The first format that knows a file has it; where two
 * sources say something of the same metric, the format that stands first counts, then what the last attempt wrote elsewhere, then
 * the file that is less deep, then by name.
 */
export class Detection {
  readonly #folders: RunFolders;
  readonly #outside: OutsidePlaces;
  /** In order of precedence. */
  readonly formats: readonly MetricFormat[];
  readonly #expected: readonly FoundFile[];
  readonly #besides: readonly ((name: string) => readonly string[])[];
  /** Paths of expected files that are not there. */
  #absent: ReadonlySet<string> = new Set();
  /** By path. */
  readonly #verdicts = new Map<string, Verdict>();
  readonly #sources = new Map<string, FoundSource>();
  #order: readonly FoundSource[] = [];
  #maybe: readonly FoundFile[] = [];
  /** Files that have come and have not been told apart yet, from `#nextFile` on. */
  #unjudged: readonly FoundFile[] = [];
  #nextFile = 0;
  /** A look at the folders that is not at its end. */
  #walk: Generator<void, boolean> | null = null;
  /** Sources that gained a file in this look. */
  readonly #grown = new Set<FoundSource>();
  /** Size of all files of the sources when they were found. */
  #bytes = 0;
  #overFiles = 0;
  #overBytes = 0;

  constructor(directory: string, folders: readonly string[], formats: readonly MetricFormat[]) {
    this.#folders = new RunFolders(directory);
    this.#outside = new OutsidePlaces(directory, folders);
    this.#folders.place(this.#outside.folders, this.#outside.files);
    this.formats = formats;
    this.#besides = formats.flatMap(({ besides = [] }) => besides);
    this.#expected = expectedFiles(directory);
    for (const file of this.#expected) this.#judge(file);
    this.#sort();
  }

  /** In order of precedence. */
  get sources(): readonly FoundSource[] {
    return this.#order;
  }

  /** How many folders were looked into. `isCut`: there are more. */
  get looked(): { folders: number; isCut: boolean } {
    return { folders: this.#folders.folders, isCut: this.#folders.isCut };
  }

  /** Where the run writes beside its directory, as of the last look. */
  get outside(): OutsidePlaces {
    return this.#outside;
  }

  get passedOver(): PassedOver[] {
    return this.#folders.files.flatMap(({ path, place }) => {
      const recognition = this.#verdicts.get(path)?.recognition;
      if (recognition === undefined || recognition.is === 'yes') return [];
      return recognition.why === undefined ? [] : [{ place, why: recognition.why }];
    });
  }

  /** Whether it is known, as of the last look, that there is nothing of it to be read. */
  isAbsent({ paths: [path, ...others] }: FoundSource): boolean {
    return others.length === 0 && this.#absent.has(path!);
  }

  /** Whether another look would tell further files apart at once. */
  get more(): boolean {
    return this.#walk !== null || this.#nextFile < this.#unjudged.length;
  }

  /** Files beyond the budget of a run, in words; null: there are none. */
  get leftOut(): string | null {
    const count = this.#overFiles + this.#overBytes;
    if (count === 0) return this.#folders.isCut ? 'not all folders of this run were searched for metrics' : null;
    const limit = this.#overFiles > 0 ? `${MOST_FILES} files` : `${MOST_BYTES / 2 ** 30} GiB`;
    const atLeast = this.#folders.isCut ? 'at least ' : '';
    return `the metrics of this run are read from ${limit} at most: ${atLeast}${count} more ${count === 1 ? 'is' : 'are'} left out`;
  }

  /**
   * Looks for new files, for a few ms; true if there are sources or files that were not there before, or some are not the run's
   * any more.
   */
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

  /** True if the run writes elsewhere than before. */
  #hasMoved(): boolean {
    // To ask for each of a thousand runs whether it is there costs more than to read those that are.
    const mayBeThere = !this.#folders.isAbsent(runFiles.written) || this.#outside.files.length > 0;
    if (!mayBeThere || !this.#outside.look()) return false;
    this.#folders.place(this.#outside.folders, this.#outside.files);
    return true;
  }

  /** Whether files came or went; null: that takes another look. What was found before is told apart first. */
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

  /** Files have come or gone: those that are new are told apart next, as far as the budget goes. */
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

  /** Whether the name is one of files of metrics. */
  #mayHold({ name }: FoundFile): boolean {
    return this.formats.some(({ isNamed }) => isNamed?.(name) === true);
  }

  /** Tells apart as many files as one look may; true if some belong to a source, which was not known before. */
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

  /** Forgets sources that have a file which is another run's now; what is left of them is found anew. True if there were some. */
  #dropOthers(): boolean {
    const own = new Set([...this.#expected, ...this.#folders.files].map(({ path }) => path));
    const lost = [...this.#sources.values()].filter(({ paths }) => paths.some((path) => !own.has(path)));
    for (const { id, paths } of lost) {
      this.#sources.delete(id);
      for (const path of paths) this.#verdicts.delete(path);
    }
    return lost.length > 0;
  }

  /** True if an expected file is there that was not. */
  #hasCome(): boolean {
    const before = this.#absent;
    this.#absent = new Set(this.#expected.filter(({ name }) => this.#folders.isAbsent(name)).map(({ path }) => path));
    return [...before].some((path) => !this.#absent.has(path));
  }

  /** True if it belongs to a source, which was not known before. */
  #judge(file: FoundFile): boolean {
    const known = this.#verdicts.get(file.path);
    const size = known === undefined || known.recognition.is === 'maybe' ? this.#sizeOf(file) : known.size;
    if (known?.size === size) return false;
    const { recognition, format } = recognised(file, this.formats);
    const isPassing = recognition.is === 'maybe' && recognition.isPassing === true;
    const mayHold = known?.mayHold ?? this.#mayHold(file);
    this.#verdicts.set(file.path, { recognition, format, size: isPassing ? NaN : size, mayHold });
    return recognition.is === 'yes' && this.#take(file, size, { ...recognition, format: format! });
  }

  /** False: the run has had all bytes that it may. */
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

  /** Bytes, with those of what belongs to it; -1: not there, or no file. */
  #sizeOf({ path, name }: FoundFile): number {
    const endings = this.#besides.flatMap((endingsOf) => endingsOf(name));
    return endings.reduce((sum, ending) => sum + Math.max(0, sizeOf(path + ending)), sizeOf(path));
  }

  #add({ path, place }: FoundFile, format: MetricFormat, { why, source }: { why: string; source?: string }): void {
    const id = `${format.name}\n${source ?? path}`;
    const known = this.#sources.get(id);
    if (known === undefined) {
      this.#sources.set(id, { id, format, why, paths: [path], places: [place] });
      return;
    }
    // Put in order once for all files that a look finds.
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
    // Of files elsewhere, what an attempt wrote that failed must not stand for the one that goes on.
    const rankOf = ({ format, paths, places }: FoundSource) =>
      [this.formats.indexOf(format), -(attempts.get(paths.at(-1)!) ?? 0), depthOf(places[0]!)] as const;
    const ranked = [...this.#sources.values()].map((source) => ({ source, rank: rankOf(source) }));
    ranked.sort(({ source: one, rank: a }, { source: other, rank: b }) => {
      return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || naturalOrder(one.paths[0]!, other.paths[0]!);
    });
    this.#order = ranked.map(({ source }) => source);
  }
}

/** Of which format a file is, as far as it can be told. */
export function recognised(file: FoundFile, formats: readonly MetricFormat[]): Pick<Verdict, 'recognition' | 'format'> {
  const why = whyUnread(file.name);
  let best: Recognition = why === undefined ? { is: 'no' } : { is: 'no', why };
  for (const format of formats.filter(({ isNamed }) => isNamed?.(file.name) !== false)) {
    const recognition = format.recognise(file);
    if (recognition.is === 'yes') return { recognition, format };
    if (recognition.is === 'maybe' || (recognition.why !== undefined && best.is === 'no')) best = recognition;
  }
  return { recognition: best, format: null };
}

function depthOf(place: string): number {
  return place.split('/').length;
}

/** Bytes; -1: not there, or no file. */
function sizeOf(path: string): number {
  const there = statRegular(path);
  return there.kind === 'file' ? there.stat.size : -1;
}
