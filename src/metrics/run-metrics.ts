import { isSystemMetric } from '../contract/metric-names.js';
import { type Bounds, defaultBounds } from './curve.js';
import { CurveNames } from './curve-names.js';
import { Detection } from './detection.js';
import { type Clock, type Line, noLine, placedByTime, relativeTime, sinceStart, spark, wallTime } from './line.js';
import { unnamedWords } from './metric-table.js';
import type { MetricFormat, StatedProgress } from './formats/format.js';
import { isLog, LogTail } from './formats/log/log.js';
import { metricFormats, trainingFormats } from './formats/registry.js';
import type { MetricRow } from './row-numbers.js';
import { type DeclaredPlaces, declaredPlaces } from './run-places.js';
import { identityOf, Source, type SourcesIdentity } from './source.js';

export type { StatedProgress } from './formats/format.js';
export type { MetricRow } from './row-numbers.js';
export { relativeTime, wallTime } from './line.js';

type MetricListener = {
  /**
   * Receives each row as it is read, also one that replaces an earlier step, without metrics for which another source takes
   * precedence. `isPast`: it was there before (see `hasPast`). Null saves a third of the time.
   */
  row: ((row: MetricRow, isPast: boolean) => void) | null;
  /** The source was replaced: its rows come again from the first, all of them new. */
  restart: () => void;
};

type MetricsOptions = {
  listener?: MetricListener;
  /** How much of each series to keep; the default suffices for interactive use. */
  keep?: Bounds;
  /** Whether data at the first look is of an earlier attempt, so that its rows are marked as past. */
  hasPast?: boolean;
  /** Where else the run writes; absent: read from `run.json`. */
  places?: DeclaredPlaces;
  formats?: readonly MetricFormat[];
  /** Whether to include what the supervisor sampled of the run's use of the machine; true by default. */
  hasUsage?: boolean;
};

/** The result of reading a part. `changed`: something new was read. `more`: a further part could be read at once. */
export type PartRead = { changed: boolean; bytes: number; more: boolean };

/** Yields to other work between two parts of a long read. */
export type Pause = () => Promise<void>;

/** Bytes read per refresh: some 50 ms of work, so that a long file does not block the screen. */
const DEFAULT_BYTES = 8 << 20;
/** Bytes read between two pauses: some 2 ms of work. */
const BYTES_BETWEEN_PAUSES = 1 << 18;
/** A file with fewer rows does not count as one of metrics yet, so the log is still read. */
const ROWS_OF_A_FILE = 2;
/** Cost of checking whether a file has grown, and of opening one, as the number of bytes that could be read in the same time. */
const COST_OF_LOOK = 256;
const COST_OF_OPENING = 4096;
/** Time between two searches for further files of a run whose files grow, ms. */
const PAUSE_OF_LOOKS_MS = 500;

/** The metrics of the run in this directory, in whatever format they are written. Nothing is read before `refresh`. */
export function openMetrics(runDirectory: string, options: MetricsOptions = {}): RunMetrics {
  return new RunMetrics(runDirectory, options);
}

/**
 * The metrics of one run, followed as they grow, in bounded memory.
 *
 * Sources are found and read by their formats, and stored as `MetricTable` describes. A metric is taken from the
 * first source that has it, in the order of `Detection`; from a snapshot only if no other source has more values of it. The log
 * counts while no file has metrics, or if the sweep has patterns for it. Series longer than about 30,000 points are exact at their
 * end and reduced to lowest and highest values before.
 */
export class RunMetrics {
  readonly detection: Detection;
  readonly #listener: MetricListener | null;
  readonly #keep: Bounds;
  readonly #patterns: DeclaredPlaces['patterns'];
  readonly #tail: LogTail;
  #lookedAt = -Infinity;
  /** Whether the first search is unfinished, so that what it finds was written before. */
  #isLookingAtPast: boolean;
  /** The sources in order of precedence; `#told`: those that count. */
  #sources: readonly Source[] = [];
  #told: readonly Source[] = [];
  /** Whether some file has metrics. */
  #hasFile = false;
  /** Index of the source that is read next. */
  #next = 0;
  #names = new CurveNames([], null);

  /** Use `openMetrics` instead. */
  constructor(directory: string, { listener, keep, hasPast, hasUsage = true, ...options }: MetricsOptions) {
    const { folders, patterns } = options.places ?? declaredPlaces(directory);
    const formats = options.formats ?? (hasUsage ? metricFormats(patterns) : trainingFormats(patterns));
    this.detection = new Detection(directory, folders, formats);
    this.#patterns = patterns;
    this.#listener = listener ?? null;
    this.#keep = keep ?? defaultBounds;
    this.#tail = new LogTail(directory);
    this.#isLookingAtPast = hasPast ?? false;
    this.detection.look();
    this.#takeUp();
  }

  /** Paths of files of metrics, existing or expected: a caller may watch these for changes. */
  get paths(): string[] {
    return this.#sources.flatMap(({ found }) => (isLog(found.format) ? [] : found.paths));
  }

  /** All sources, existing or expected, in order of precedence. */
  get all(): readonly Source[] {
    return this.#sources;
  }

  /** The sources that count, in order of precedence. */
  get told(): readonly Source[] {
    return this.#told;
  }

  /** Number of rows, without those of replaced steps. */
  get rows(): number {
    return this.told.reduce((sum, { table }) => sum + table.rows, 0);
  }

  /** Whether the last refresh stopped at its limit of bytes: call it again to catch up. */
  get more(): boolean {
    return this.#next > 0 || this.detection.more || this.#told.some((source) => source.more);
  }

  /** Whether data from before the first look has not all been read yet; false without `hasPast`. */
  get isInPast(): boolean {
    return this.#isLookingAtPast || this.told.some((source) => source.isInPast);
  }

  /** What cannot be read, or is left out because the run has too many files, in words; null: nothing. */
  get obstacle(): string | null {
    const words = this.told.flatMap(({ reader, table }) => [reader.obstacle, unnamedWords(table.leftOut)]);
    const said = new Set([...words, this.detection.leftOut].filter((each) => each !== null));
    return said.size === 0 ? null : [...said].join('; ');
  }

  /** When the first of the files that count was made, and the last of them written, Unix ms; null: nothing was read yet. */
  get written(): { readonly from: number; readonly to: number } | null {
    const times = this.told.flatMap(({ reader }) => reader.written ?? []);
    if (times.length === 0) return null;
    return { from: Math.min(...times.map(({ from }) => from)), to: Math.max(...times.map(({ to }) => to)) };
  }

  /** Identifies the present content of the sources without reading it; null: that is not possible, or a file is not readable. */
  identity(): SourcesIdentity | null {
    while (this.detection.more) this.#look();
    // What is left out of a file that can be read is left out again whenever it is read.
    const isHindered = this.told.some(({ reader }) => reader.isHindered);
    const identity = isHindered ? null : identityOf(this.detection.sources);
    return identity && { ...identity, text: identity.text + JSON.stringify(this.#patterns) };
  }

  /** Where the times of values come from. */
  get clock(): Clock {
    const clocks = this.told.map(({ table }) => table.clock);
    return clocks.find((clock) => clock === 'values') ?? clocks.find((clock) => clock !== null) ?? null;
  }

  /** The progress of the run by its output (a progress bar); null: it shows none. Checked at most once a second. */
  get progress(): StatedProgress | null {
    const log = this.told.find(({ found }) => isLog(found.format));
    return log === undefined ? this.#tail.progress() : (log.reader.progress ?? null);
  }

  /** Reads a part of what has been written since the last call. If there is nothing new, it checks each file and folder only. */
  refresh(maxBytes = DEFAULT_BYTES): PartRead {
    if (this.detection.more) this.#look();
    const read = this.#readPart(maxBytes);
    // While known files grow, new ones can wait a moment.
    const isEnough = read.changed && performance.now() - this.#lookedAt < PAUSE_OF_LOOKS_MS;
    if (read.more || isEnough) return read;
    if (!this.#look()) return { ...read, more: this.more };
    const { changed, bytes, more } = this.#readPart(maxBytes - read.bytes);
    return { changed: read.changed || changed, bytes: read.bytes + bytes, more };
  }

  /** Makes the next refresh include new files at once, and looks at the progress anew: for a run that has ended. */
  look(): void {
    this.#tail.lookAgain();
    this.#look();
  }

  /** Searches for sources; returns true if they have changed. */
  #look(): boolean {
    this.#lookedAt = performance.now();
    const isNew = this.detection.look();
    if (isNew) this.#takeUp();
    this.#isLookingAtPast &&= this.detection.more;
    return isNew;
  }

  /** Continues with the source after the one that was read last. */
  #readPart(maxBytes: number): PartRead {
    let changed = false;
    let [bytes, cost] = [0, 0];
    // By index, as a restart replaces the sources that have to be read again.
    for (; this.#next < this.#sources.length; this.#next++) {
      const source = this.#sources[this.#next]!;
      if (!this.#counts(source) || this.#isMissing(source)) continue;
      if (cost > 0 && cost >= maxBytes) return { changed, bytes, more: true };
      const { offset } = source.reader;
      const isRead = source.read(Math.max(0, maxBytes - cost), this.#teller(source), () => this.#restart(source));
      const taken = Math.max(0, source.reader.offset - offset);
      bytes += taken;
      cost += isRead ? Math.max(COST_OF_OPENING, taken) : COST_OF_LOOK;
      if (!isRead) continue;
      changed = true;
      this.#names.grew(source);
      if (!this.#hasFile) this.#chooseTold();
      // Whoever judges rows by their names gets all of them again.
      if (this.#isRenamed()) this.#restart(null, this.isInPast);
    }
    this.#next = 0;
    return { changed, bytes, more: this.more };
  }

  #isRenamed(): boolean {
    return this.#listener !== null && this.#told.length > 1 && this.#names.renamed();
  }

  /** Whether a source is known not to exist. Checking each file of a thousand runs costs more than reading the existing ones. */
  #isMissing({ found, more, isInPast }: Source): boolean {
    return this.detection.isAbsent(found) && !more && !isInPast;
  }

  /** Reads everything up to the present end at once. */
  readNow(): this {
    this.#look();
    do this.refresh();
    while (this.more);
    return this;
  }

  /** Reads up to the present end, in small parts if a pause is given. */
  async readToEnd(pause?: Pause): Promise<this> {
    if (pause === undefined) return this.readNow();
    this.#look();
    do {
      this.refresh(BYTES_BETWEEN_PAUSES);
      await pause();
    } while (this.more);
    return this;
  }

  /** Names of all curves, in the order of their first appearance. @param asked Names that are listed, too, if they mean a curve. */
  keys(asked: readonly string[] = []): string[] {
    const { told } = this;
    const named = (source: Source) => source.keys().map((key) => this.nameIn(source, key));
    const keys = new Set(told.length === 1 ? told[0]!.keys() : told.flatMap(named));
    for (const name of asked) if (!keys.has(name) && this.sourceOf(name) !== undefined) keys.add(name);
    return [...keys];
  }

  /** One metric over another, or over `wallTime` or `relativeTime`, like `MetricTable.series`. Valid until the next refresh. */
  series(name: string, xName = 'step'): Line {
    const { key, source } = this.#curve(name) ?? {};
    if (source === undefined) return noLine;
    const isPlaced = source.found.format.isTimed === true && xName !== wallTime && xName !== relativeTime;
    if (isPlaced) return this.#placedByTime(source.series(key!, wallTime), xName) ?? this.#relative(source, key!);
    return xName === relativeTime ? this.#relative(source, key!) : source.series(key!, this.#xIn(source, xName));
  }

  /** The key of an axis in a source. */
  #xIn(source: Source, xName: string): string {
    const x = source.table.has(xName) ? undefined : this.#curve(xName);
    return x?.source === source ? x.key : xName;
  }

  /** On the axis of the first source that has it; null: none has. */
  #placedByTime(line: Line, xKey: string): Line | null {
    const source = xKey === 'step' ? this.told.find(({ table }) => table.hasSteps) : this.sourceOf(xKey);
    return source === undefined ? null : placedByTime(line, source.table, xKey);
  }

  #relative(from: Source, key: string): Line {
    const origin = Math.min(...this.told.map((source) => source.table.firstTime ?? Infinity));
    return sinceStart(from.series(key, wallTime), origin / 1000);
  }

  /** The source that a metric is taken from; undefined: no source has it. */
  sourceOf(name: string): Source | undefined {
    return this.#curve(name)?.source;
  }

  /** The name under which a metric of a source is told, whichever source it is taken from. */
  nameIn(source: Source, key: string): string {
    return this.#names.of(source, key)?.name ?? key;
  }

  /** The names of curves among which this one does not tell; none: it is clear. The first of them counts. */
  among(name: string): string[] {
    const first = this.#names.find(name);
    const names = this.#names.among(name).map((each) => each.name);
    return names.length < 2 ? [] : [first!.name, ...names.filter((each) => each !== first!.name)];
  }

  /** A curve as it is in the source that it is taken from. */
  #curve(name: string): { readonly key: string; readonly source: Source } | undefined {
    const curve = this.#names.find(name);
    if (curve === undefined) return undefined;
    const { key, sources } = curve;
    const first = sources.find((source) => source.has(key));
    if (first === undefined) return undefined;
    if (first.found.format.isSnapshot !== true) return { key, source: first };
    const count = ({ table }: Source): number => table.series(key).y.length;
    const isFuller = (each: Source) => each.found.format.isSnapshot !== true && count(each) > count(first);
    return { key, source: sources.find((each) => each.has(key) && isFuller(each)) ?? first };
  }

  /** The last value of every metric; null where it is NaN. @param asked As in `keys`. */
  last(asked: readonly string[] = []): Record<string, number | null> {
    const lastOf = new Map(this.told.flatMap((source) => (source.isEmpty ? [] : [[source, source.last()]])));
    const last = lastOf.size === 1 ? [...lastOf.values()][0]! : {};
    for (const name of lastOf.size === 1 ? asked : this.keys(asked)) {
      const curve = name in last ? undefined : this.#curve(name);
      const value = curve && lastOf.get(curve.source)?.[curve.key];
      if (value !== undefined) last[name] = value;
    }
    return last;
  }

  /** A sparkline of one metric, see `spark`; empty for an unknown key. */
  spark(key: string): (number | null)[] {
    return spark(this.series(key).y);
  }

  /** Whether a source counts. The log does only while no file has metrics, or if there are patterns for it. */
  #counts({ found }: Source): boolean {
    return !isLog(found.format) || this.#hasPatterns || !this.#hasFile;
  }

  get #hasPatterns(): boolean {
    return Object.keys(this.#patterns).length > 0;
  }

  /** Selects the sources that count, after some were found, read or restarted. */
  #chooseTold(): void {
    this.#hasFile = this.#sources.some(({ found: { format, places }, table }) => {
      const isOther = isLog(format) || format.isSnapshot === true || format.isTimed === true;
      if (isOther || table.keys().every(isSystemMetric)) return false;
      return table.rows >= (places[0] === format.looksFor ? 1 : ROWS_OF_A_FILE);
    });
    const told = this.#sources.filter((source) => this.#counts(source));
    if (told.length === this.#told.length && told.every((source, place) => source === this.#told[place])) return;
    this.#told = told;
    this.#names = new CurveNames(told, this.#names);
  }

  /** Sorts the found sources, and opens new ones. */
  #takeUp(): void {
    const open = new Map(this.#sources.map((source) => [source.found, source]));
    const hasPast = this.#isLookingAtPast;
    this.#sources = this.detection.sources.map((found) => open.get(found) ?? new Source(found, this.#keep, hasPast));
    this.#next = 0;
    const isAllThere = this.#sources.filter((source) => open.has(source.found)).length === open.size;
    if (!isAllThere) this.#restart(null);
    this.#chooseTold();
  }

  /** Passes on the last row of a source; null: nobody listens to rows. */
  #teller(source: Source): (() => void) | null {
    const tell = this.#listener?.row ?? null;
    return tell === null ? null : () => this.#tell(source, tell);
  }

  #tell(source: Source, tell: NonNullable<MetricListener['row']>): void {
    const row = source.table.lastRow();
    const told = this.#told.length > 1 ? this.#named(source, row) : row;
    if (Object.keys(told).length > 0) tell(told, source.isReadingPast);
  }

  /** A row without metrics that are taken from another source, under the names of its curves. The step always stays with it. */
  #named(source: Source, row: MetricRow): MetricRow {
    this.#names.took(source, row);
    const named: MetricRow = {};
    for (const key in row) {
      const name = this.nameIn(source, key);
      const isOwn = key === 'step' || this.sourceOf(key) === source;
      if (isOwn) named[key] = row[key]!;
      if (name !== key && this.sourceOf(name) === source) named[name] = row[key]!;
    }
    return named;
  }

  /** @param source A source that restarts by itself; null: none does. @param hasPast Whether what is there is from before. */
  #restart(source: Source | null, hasPast = false): void {
    // The listener drops all rows, so those of other sources have to be read again as well.
    if (this.#listener !== null && this.#listener.row !== null)
      this.#sources = this.#sources.map((other) => (other === source ? source : other.reopened(hasPast)));
    this.#told = [];
    this.#chooseTold();
    this.#listener?.restart();
  }
}
