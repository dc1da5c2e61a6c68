import { type Bounds, defaultBounds } from './bounded-series.js';
import { Detection } from './detection.js';
import { type Line, spark } from './downsample.js';
import { type Clock, noLine, relativeTime, sinceStart, wallTime } from './filing.js';
import type { MetricFormat, StatedProgress } from './formats/format.js';
import { isLog } from './formats/log/log.js';
import { LogTail } from './formats/log/log-tail.js';
import { metricFormats } from './formats/registry.js';
import type { MetricRow } from './row-numbers.js';
import { type DeclaredPlaces, declaredPlaces } from './run-places.js';
import { Source } from './source.js';
import { identityOf, type SourcesIdentity } from './sources-identity.js';

export type { StatedProgress } from './formats/format.js';
export type { MetricRow } from './row-numbers.js';
export { relativeTime, wallTime } from './filing.js';

type MetricListener = {
  /**
   * Each row as it is read, also one that replaces an earlier step, without what another source counts for. `isPast`: it was
   * there before (see `hasPast`). Null: to make one for nobody takes a third of the time.
   */
  row: ((row: MetricRow, isPast: boolean) => void) | null;
  /** What was written was replaced: the rows come again from the first, all of them new. */
  restart: () => void;
};

type MetricsOptions = {
  listener?: MetricListener;
  /** How much of each series to keep; what a person looks at needs no more than the default. */
  keep?: Bounds;
  /** What is there at the first look was written before, by an earlier attempt, and its rows are told as such. */
  hasPast?: boolean;
  /** Where else the run writes; what `run.json` says unless it is known already. */
  places?: DeclaredPlaces;
  formats?: readonly MetricFormat[];
};

/** What reading a part amounted to. `changed`: something new was read. `more`: a further part could be read at once. */
export type PartRead = { changed: boolean; bytes: number; more: boolean };

/** Lets others work between two parts of a long reading. */
export type Pause = () => Promise<void>;

/** Read per refresh: some 50 ms of work, so that a long file does not stop the screen. */
const DEFAULT_BYTES = 8 << 20;
/** Read between two pauses: some 2 ms of work. */
const BYTES_BETWEEN_PAUSES = 1 << 18;
/** Rows of a file that make it one of metrics: with fewer, what the run prints is still read. */
const ROWS_OF_A_FILE = 2;
/** What it costs to look whether a file has grown, and to open one, in bytes that could be read meanwhile. */
const COST_OF_LOOK = 256;
const COST_OF_OPENING = 4096;
/** Between looks for further files of a run whose files grow, ms. */
const PAUSE_OF_LOOKS_MS = 500;

/** The metrics of the run of this directory, in whatever format they are written. Nothing is read before `refresh`. */
export function openMetrics(runDirectory: string, options: MetricsOptions = {}): RunMetrics {
  return new RunMetrics(runDirectory, options);
}

/**
 * The metrics of one run, kept up with as they grow, in memory that does not grow with them.
 *
 * Sources are found and read by their formats, and filed as `MetricTable` and `PointTable` say. Of a metric that several have,
 * the first counts, in the order of `Detection`; but a snapshot only where no other source has more values of it. What the run
 * prints counts while no file has metrics, or where the sweep says what to look for in it. Series longer than about 30,000
 * points are exact at their end and lowest-and-highest before.
 */
export class RunMetrics {
  readonly detection: Detection;
  readonly #listener: MetricListener | null;
  readonly #keep: Bounds;
  readonly #patterns: DeclaredPlaces['patterns'];
  readonly #tail: LogTail;
  #lookedAt = 0;
  /** The first look at all files is not at its end, and what it finds was written before. */
  #isLookingAtPast: boolean;
  /** In order of precedence; `#told`: those that count. */
  #sources: readonly Source[] = [];
  #told: readonly Source[] = [];
  /** Whether some file has metrics. */
  #hasFile = false;
  /** Place of the source that is read next. */
  #next = 0;
  #owners = new KeyOwners([]);

  /** Use `openMetrics`. */
  constructor(directory: string, { listener, keep, hasPast, formats, places }: MetricsOptions) {
    const { folders, patterns } = places ?? declaredPlaces(directory);
    this.detection = new Detection(directory, folders, formats ?? metricFormats(patterns));
    this.#patterns = patterns;
    this.#listener = listener ?? null;
    this.#keep = keep ?? defaultBounds;
    this.#tail = new LogTail(directory);
    this.#isLookingAtPast = hasPast ?? false;
    this.detection.look();
    this.#takeUp();
  }

  /** Files of metrics, there or expected: who waits for a change may watch these. */
  get paths(): string[] {
    return this.#sources.flatMap(({ found }) => (isLog(found.format) ? [] : found.paths));
  }

  /** All sources, there or expected, in order of precedence. */
  get all(): readonly Source[] {
    return this.#sources;
  }

  /** The sources that count, in order of precedence. */
  get told(): readonly Source[] {
    return this.#told;
  }

  /** Rows kept: those of replaced steps do not count. */
  get rows(): number {
    return this.told.reduce((sum, { table }) => sum + table.rows, 0);
  }

  /** Whether the last refresh stopped at its limit of bytes: call it again to catch up. */
  get more(): boolean {
    return this.#next > 0 || this.detection.more || this.#told.some((source) => source.more);
  }

  /** Whether what was there at the first look has not all been read yet; false without `hasPast`. */
  get isInPast(): boolean {
    return this.#isLookingAtPast || this.told.some((source) => source.isInPast);
  }

  /** What cannot be read, or is left out because the run has too many files, in words; null: nothing. */
  get obstacle(): string | null {
    for (const { reader } of this.told) if (reader.obstacle !== null) return reader.obstacle;
    return this.detection.leftOut;
  }

  /** What it is read from, known without reading it; null: that cannot be told, or something of it cannot be read. */
  identity(): SourcesIdentity | null {
    while (this.detection.more) this.#look();
    const isHindered = this.told.some(({ reader }) => reader.isHindered || reader.obstacle !== null);
    const identity = isHindered ? null : identityOf(this.detection.sources);
    return identity && { ...identity, text: identity.text + JSON.stringify(this.#patterns) };
  }

  /** Where it is known from when the values were written. */
  get clock(): Clock {
    const clocks = this.told.map(({ table }) => table.clock);
    return clocks.find((clock) => clock === 'values') ?? clocks.find((clock) => clock !== null) ?? null;
  }

  /** How far the run says that it is in what it prints (a progress bar); null: it does not. Looks at most once a second. */
  get progress(): StatedProgress | null {
    const log = this.told.find(({ found }) => isLog(found.format));
    return log === undefined ? this.#tail.progress() : (log.reader.progress ?? null);
  }

  /** Takes in a part of what has been written since the last call. Where nothing was, that costs a look at each file and folder. */
  refresh(maxBytes = DEFAULT_BYTES): PartRead {
    if (this.detection.more) this.#look();
    const read = this.#readPart(maxBytes);
    // While files grow that are known, others can wait a moment.
    const isEnough = read.changed && Date.now() - this.#lookedAt < PAUSE_OF_LOOKS_MS;
    if (read.more || isEnough) return read;
    if (!this.#look()) return { ...read, more: this.more };
    const { changed, bytes, more } = this.#readPart(maxBytes - read.bytes);
    return { changed: read.changed || changed, bytes: read.bytes + bytes, more };
  }

  /** Lets the next refresh read what has come beside the files that are known, without a wait for its turn: nothing more is to come. */
  look(): void {
    this.#look();
  }

  /** True if there are other sources than before. */
  #look(): boolean {
    this.#lookedAt = Date.now();
    const isNew = this.detection.look();
    if (isNew) this.#takeUp();
    this.#isLookingAtPast &&= this.detection.more;
    return isNew;
  }

  /** Goes on with the source behind the one that was read last. */
  #readPart(maxBytes: number): PartRead {
    let changed = false;
    let [bytes, cost] = [0, 0];
    // By place: a restart puts others in the places of those that have to be read again.
    for (; this.#next < this.#sources.length; this.#next++) {
      const source = this.#sources[this.#next]!;
      if (!this.#counts(source) || this.#isMissing(source)) continue;
      if (cost > 0 && cost >= maxBytes) return { changed, bytes, more: true };
      const { offset } = source.reader;
      const wasTold = (): void => this.#tell(source);
      const isRead = source.read(Math.max(0, maxBytes - cost), wasTold, () => this.#restart(source));
      const taken = Math.max(0, source.reader.offset - offset);
      bytes += taken;
      cost += isRead ? Math.max(COST_OF_OPENING, taken) : COST_OF_LOOK;
      if (!isRead) continue;
      changed = true;
      this.#owners.grew(source);
      if (!this.#hasFile) this.#chooseTold();
    }
    this.#next = 0;
    return { changed, bytes, more: this.more };
  }

  /** To ask for each of a thousand runs whether its files are there yet costs more than to read those that are. */
  #isMissing({ found, more, isInPast }: Source): boolean {
    return this.detection.isAbsent(found) && !more && !isInPast;
  }

  /** Reads to the present end, at once, whatever it takes. */
  readNow(): this {
    this.#look();
    do this.refresh();
    while (this.more);
    return this;
  }

  /** Reads to the present end, in small parts where there is a pause to be made between them. */
  async readToEnd(pause?: Pause): Promise<this> {
    if (pause === undefined) return this.readNow();
    this.#look();
    do {
      this.refresh(BYTES_BETWEEN_PAUSES);
      await pause();
    } while (this.more);
    return this;
  }

  /** Keys that had a number or null in some row, in the order of their first appearance. */
  keys(): string[] {
    const { told } = this;
    if (told.length === 1) return told[0]!.keys();
    const keys = new Set<string>();
    for (const source of told) for (const key of source.keys()) keys.add(key);
    return [...keys];
  }

  /** One metric against another, or over `wallTime` or `relativeTime`, as `Filing.series` gives it. Valid until the next refresh. */
  series(key: string, xKey = 'step'): Line {
    const table = this.sourceOf(key)?.table;
    if (table === undefined) return noLine;
    if (xKey !== relativeTime) return table.series(key, xKey);
    const origin = this.told.reduce(
      (first, { table: { firstTime } }) => Math.min(first, firstTime ?? Infinity),
      Infinity,
    );
    return sinceStart(table.series(key, wallTime), origin / 1000);
  }

  /** The source that counts for a metric; undefined: none has it. */
  sourceOf(key: string): Source | undefined {
    const first = this.#owners.firstWith(key);
    if (first?.found.format.isSnapshot !== true) return first;
    const others = this.told.filter((source) => source !== first && source.table.has(key));
    const count = ({ table }: Source): number => table.series(key).y.length;
    return others.find((other) => other.found.format.isSnapshot !== true && count(other) > count(first)) ?? first;
  }

  /** The last value of every metric; null where it is NaN. */
  last(): Record<string, number | null> {
    const tables = this.told.filter(({ table }) => table.rows > 0);
    const known = tables.map((source) => ({ source, last: source.last() }));
    if (known.length <= 1) return known[0]?.last ?? {};
    const lastOf = new Map(known.map(({ source, last }) => [source, last]));
    return Object.fromEntries(this.keys().map((key) => [key, lastOf.get(this.sourceOf(key)!)?.[key] ?? null]));
  }

  /** A small picture of one metric, as `spark` gives it; empty for an unknown key. */
  spark(key: string): (number | null)[] {
    return spark(this.series(key).y);
  }

  /** What is printed does only while no file says more. */
  #counts({ found }: Source): boolean {
    return !isLog(found.format) || this.#hasPatterns || !this.#hasFile;
  }

  get #hasPatterns(): boolean {
    return Object.keys(this.#patterns).length > 0;
  }

  /** Sources have come, were read, or begin again. */
  #chooseTold(): void {
    this.#hasFile = this.#sources.some(({ found: { format, places }, table }) => {
      if (isLog(format) || format.isSnapshot === true) return false;
      return table.rows >= (places[0] === format.looksFor ? 1 : ROWS_OF_A_FILE);
    });
    const told = this.#sources.filter((source) => this.#counts(source));
    if (told.length === this.#told.length && told.every((source, place) => source === this.#told[place])) return;
    this.#told = told;
    this.#owners = new KeyOwners(told);
  }

  /** Puts what was found in order, and opens what is new. */
  #takeUp(): void {
    const open = new Map(this.#sources.map((source) => [source.found, source]));
    const hasPast = this.#isLookingAtPast;
    this.#sources = this.detection.sources.map((found) => open.get(found) ?? new Source(found, this.#keep, hasPast));
    this.#next = 0;
    const isAllThere = this.#sources.filter((source) => open.has(source.found)).length === open.size;
    if (!isAllThere) this.#restart(null);
    this.#chooseTold();
  }

  #tell(source: Source): void {
    const tell = this.#listener?.row ?? null;
    if (tell === null) return;
    const row = source.table.lastRow();
    if (this.#told.length > 1) {
      this.#owners.took(source, row);
      for (const key of Object.keys(row)) if (this.#countsElsewhere(key, source)) delete row[key];
    }
    if (Object.keys(row).length > 0) tell(row, source.isReadingPast);
  }

  /** The step of a row stays with it. */
  #countsElsewhere(key: string, source: Source): boolean {
    return key !== 'step' && this.sourceOf(key) !== source;
  }

  /** @param source That begins again by itself; null: none does. */
  #restart(source: Source | null): void {
    // Who listens forgets all rows, so those of other sources have to come again as well.
    if (this.#listener !== null && this.#listener.row !== null)
      this.#sources = this.#sources.map((other) => (other === source ? source : other.reopened()));
    this.#told = [];
    this.#chooseTold();
    this.#listener?.restart();
  }
}

/** Which of several sources, in order of precedence, is the first that has a key. */
class KeyOwners {
  readonly #places: ReadonlyMap<Source, number>;
  readonly #first = new Map<string, Source>();
  /** Sources that may have keys which are not known here. */
  readonly #grown: Set<Source>;

  constructor(sources: readonly Source[]) {
    this.#places = new Map(sources.map((source, place) => [source, place]));
    this.#grown = new Set(sources);
  }

  grew(source: Source): void {
    if (this.#places.has(source)) this.#grown.add(source);
  }

  took(source: Source, row: MetricRow): void {
    if (this.#places.has(source)) for (const key in row) this.#claim(key, source);
  }

  firstWith(key: string): Source | undefined {
    const known = this.#first.get(key);
    // Rows that were replaced may have been all that had the key.
    if (known !== undefined && !known.table.has(key)) this.#forgetAll();
    for (const source of this.#grown) for (const own of source.table.keys()) this.#claim(own, source);
    this.#grown.clear();
    return this.#first.get(key);
  }

  #forgetAll(): void {
    this.#first.clear();
    for (const source of this.#places.keys()) this.#grown.add(source);
  }

  #claim(key: string, source: Source): void {
    const first = this.#first.get(key);
    if (first === source) return;
    if (first === undefined || this.#places.get(source)! < this.#places.get(first)!) this.#first.set(key, source);
  }
}
