import type { DiskUsage } from '../../files/disk/disk-usage.js';
import type { LogSource } from '../../logs/log-source.js';
import type { Samples } from '../../logs/samples.js';
import {
  type MetricReader,
  type RunFilesPort,
  type Series,
  type UsageReading,
  OnItsWay,
} from '../../tui/state/port.js';
import { type FileAnswers, type FileQuestion, joined, sumOf, sumOfKeys } from './file-questions.js';

/** Asks the host that has a directory. @returns Rejects when the host cannot answer. */
export type Ask = <Question extends FileQuestion>(question: Question) => Promise<FileAnswers[Question['about']]>;

/** Parts of logs are asked for in blocks of so many bytes, and so many are kept. */
const BLOCK = 64 << 10;
const MOST_BLOCKS = 64;
/** Curves that were looked at last, of whatever run: those of the next run are asked for with its first question. */
const MOST_USUAL = 8;
/** What a run's curves may take of a slow line while they grow, bytes a second. */
const BYTES_A_SECOND = 16 << 10;
/** Between two questions about a run, ms; up to three times it is doubled where nothing new has come. */
const PERIOD_MS = 900;
const MOST_QUIET = 3;
/** Runs whose samples are kept. */
const MOST_SAMPLED = 4;

const noSamples: Samples = { all: [], files: [], isCut: false, images: [] };

type Tools = { readonly ask: Ask; readonly usual: UsualSeries; readonly arrived: () => void };

/**
 * The files of runs on another host, read by asking it. What has been answered is told at once and asked for again in the
 * background; what has not throws `OnItsWay`.
 */
export class HostFiles implements RunFilesPort {
  readonly #tools: Tools;
  readonly #listeners = new Set<() => void>();
  readonly #known = new Map<string, LastAnswer<unknown>>();
  /** Samples that were answered last, by directory, with their checksum. */
  readonly #samples = new Map<string, { readonly sum: number; readonly samples: Samples }>();

  constructor(ask: Ask) {
    const arrived = () => this.#listeners.forEach((listener) => listener());
    this.#tools = { ask, usual: new UsualSeries(), arrived };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  metrics(directory: string): MetricReader {
    return new HostMetrics(directory, this.#tools);
  }

  logTail(directory: string, count: number): readonly string[] {
    return this.#last({ about: 'log-end', directory, count });
  }

  runDetails(directory: string): FileAnswers['details'] {
    return this.#last({ about: 'details', directory });
  }

  openLog(directory: string): LogSource {
    return new HostLog(directory, this.#tools.ask, () => this.#last({ about: 'log-size', directory }));
  }

  fromSeeds(directory: string): readonly string[] {
    return this.#last({ about: 'seeds', directory });
  }

  usage(directory: string): UsageReading {
    return new HostUsage(this.#tools.ask({ about: 'usage', directory }));
  }

  /** Rejects when the host cannot say: an older program there does not know the question. */
  async samples(directory: string): Promise<Samples> {
    const { ask } = this.#tools;
    const known = this.#samples.get(directory);
    const { sum, samples } = await ask({ about: 'samples', directory, known: known?.sum ?? 0 });
    const last = samples ?? known?.samples ?? noSamples;
    this.#samples.delete(directory);
    this.#samples.set(directory, { sum, samples: last });
    if (this.#samples.size > MOST_SAMPLED) this.#samples.delete(this.#samples.keys().next().value!);
    return last;
  }

  /** What was answered last; asks again. */
  #last<Question extends FileQuestion>(question: Question): FileAnswers[Question['about']] {
    const key = JSON.stringify(question);
    const known = this.#known.get(key) ?? new LastAnswer(() => this.#tools.ask(question));
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > MOST_BLOCKS) this.#known.delete(this.#known.keys().next().value!);
    return known.read() as FileAnswers[Question['about']];
  }
}

/** An answer that may change. */
class LastAnswer<Answer> {
  readonly #ask: () => Promise<Answer>;
  #answer: { readonly value: Answer } | null = null;
  #asking: Promise<void> | null = null;

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask;
  }

  /** @throws {OnItsWay} Before the first answer. */
  read(): Answer {
    this.#asking ??= this.#ask()
      .then((value) => void (this.#answer = { value }))
      .catch(() => undefined)
      .finally(() => (this.#asking = null));
    if (this.#answer === null) throw new OnItsWay(this.#asking);
    return this.#answer.value;
  }
}

/** Which curves are usually looked at. */
class UsualSeries {
  #recent: { readonly key: string; readonly x: string }[] = [];

  get all(): readonly { readonly key: string; readonly x: string }[] {
    return this.#recent;
  }

  note(key: string, x: string): void {
    const others = this.#recent.filter((each) => each.key !== key || each.x !== x);
    this.#recent = [...others, { key, x }].slice(-MOST_USUAL);
  }
}

type KnownSeries = { readonly key: string; readonly x: string; line: Series; isKnown: boolean };

const nothing: Series = { x: new Float64Array(), y: new Float64Array() };

/** The metrics of a run: those curves that somebody has looked at. */
class HostMetrics implements MetricReader {
  readonly #directory: string;
  readonly #tools: Tools;
  readonly #series = new Map<string, KnownSeries>();
  #keys: readonly string[] = [];
  #clock: Exclude<MetricReader['clock'], undefined> = null;
  #report: FileAnswers['metrics']['report'] = null;
  #lines: NonNullable<FileAnswers['metrics']['lines']> = [];
  #isReportWanted = false;
  #isPartial = true;
  #hasNews = false;
  #asking: Promise<void> | null = null;
  /** When the line has had its rest, ms. */
  #dueAt = 0;
  /** Answers in a row that said nothing new. */
  #quiet = 0;

  constructor(directory: string, tools: Tools) {
    this.#directory = directory;
    this.#tools = tools;
    for (const { key, x } of tools.usual.all) this.#known(key, x);
  }

  /** Whether something that was asked for has not come yet. */
  get more(): boolean {
    return this.#isPartial || this.#isWaiting;
  }

  get clock(): Exclude<MetricReader['clock'], undefined> {
    return this.#clock;
  }

  refresh(): boolean {
    const hasNews = this.#hasNews;
    this.#hasNews = false;
    void this.#askSoon();
    if (!hasNews && this.more) throw new OnItsWay(this.#asking ?? Promise.resolve());
    return hasNews;
  }

  keys(): readonly string[] {
    return this.#keys;
  }

  series(key: string, x = 'step'): Series {
    this.#tools.usual.note(key, x);
    const known = this.#known(key, x);
    if (!known.isKnown) void this.#askSoon();
    return known.line;
  }

  lines(): NonNullable<FileAnswers['metrics']['lines']> {
    return this.#lines;
  }

  /** Undefined until it was asked for, and has come. */
  get describe(): MetricReader['describe'] {
    this.#isReportWanted = true;
    const report = this.#report;
    return report === null ? undefined : () => report;
  }

  get #isWaiting(): boolean {
    for (const { isKnown } of this.#series.values()) if (!isKnown) return true;
    return false;
  }

  #known(key: string, x: string): KnownSeries {
    const id = `${x}\n${key}`;
    const known = this.#series.get(id) ?? { key, x, line: nothing, isKnown: false };
    this.#series.set(id, known);
    return known;
  }

  /** At once where something is waited for, else as often as the line allows; one question at a time. */
  #askSoon(): Promise<void> | null {
    if (!this.more && performance.now() < this.#dueAt) return null;
    this.#asking ??= Promise.resolve()
      .then(() => this.#ask())
      .catch(() => this.#beRefused())
      .finally(() => (this.#asking = null));
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const asked = [...this.#series.values()];
    const answer = await this.#tools.ask({
      ...{ about: 'metrics', directory: this.#directory, keys: sumOfKeys(this.#keys), report: this.#isReportWanted },
      series: asked.map(({ key, x, line }) => ({ key, x, have: line.x.length, sum: sumOf(line, line.x.length) })),
    });
    let bytes = 0;
    answer.series.forEach((told, place) => {
      bytes += told.x.length + told.y.length;
      this.#take(asked[place]!, told);
    });
    this.#takeRest(answer);
    this.#quiet = this.#hasNews ? 0 : Math.min(this.#quiet + 1, MOST_QUIET);
    const rest = Math.max(PERIOD_MS * 2 ** this.#quiet, (1000 * bytes) / BYTES_A_SECOND);
    this.#dueAt = performance.now() + rest;
    if (this.#hasNews || this.#isWaiting) this.#tools.arrived();
  }

  /** The host cannot read it: what there is stays, and it is asked again later. */
  #beRefused(): void {
    for (const known of this.#series.values()) known.isKnown = true;
    this.#isPartial = false;
    this.#dueAt = performance.now() + PERIOD_MS * 2 ** MOST_QUIET;
  }

  #take(known: KnownSeries, { from, x, y }: FileAnswers['metrics']['series'][number]): void {
    if (!known.isKnown || x !== '' || from !== known.line.x.length) this.#hasNews = true;
    const { line } = known;
    known.isKnown = true;
    if (x !== '' || from !== line.x.length) known.line = { x: joined(line.x, from, x), y: joined(line.y, from, y) };
  }

  #takeRest({ keys, clock, report, isPartial, lines = [] }: FileAnswers['metrics']): void {
    if (JSON.stringify(lines) !== JSON.stringify(this.#lines)) {
      this.#hasNews = true;
      this.#lines = lines;
    }
    if (keys !== null || this.#isPartial !== isPartial) this.#hasNews = true;
    if (report !== null && JSON.stringify(report) !== JSON.stringify(this.#report)) this.#hasNews = true;
    this.#keys = keys ?? this.#keys;
    this.#clock = clock;
    this.#report = report ?? this.#report;
    this.#isPartial = isPartial;
  }
}

/** A log, by blocks that were asked for; of the last one, what there was. */
class HostLog implements LogSource {
  readonly #directory: string;
  readonly #ask: Ask;
  readonly #look: LogSource['look'];
  readonly #blocks = new Map<number, Buffer>();
  #seen: ReturnType<LogSource['look']> = null;

  constructor(directory: string, ask: Ask, look: LogSource['look']) {
    this.#directory = directory;
    this.#ask = ask;
    this.#look = look;
  }

  look(): ReturnType<LogSource['look']> {
    const found = this.#look();
    const isSame = found?.identity === this.#seen?.identity && (found?.size ?? 0) >= (this.#seen?.size ?? 0);
    if (!isSame) this.#blocks.clear();
    this.#seen = found;
    return found;
  }

  read(from: number, length: number): Buffer {
    const [first, end] = [Math.floor(from / BLOCK), Math.ceil((from + length) / BLOCK)];
    const blocks = Array.from({ length: end - first }, (_, at) => first + at);
    const missing = blocks.find((block) => this.#sizeOf(block) < Math.min(BLOCK, from + length - block * BLOCK));
    if (missing !== undefined) throw new OnItsWay(this.#fetch(missing, end));
    const parts = blocks.map((block) => this.#blocks.get(block)!);
    return Buffer.concat(parts).subarray(from - first * BLOCK, from - first * BLOCK + length);
  }

  #sizeOf(block: number): number {
    return this.#blocks.get(block)?.length ?? 0;
  }

  async #fetch(first: number, end: number): Promise<void> {
    const from = first * BLOCK + this.#sizeOf(first);
    const known = this.#blocks.get(first) ?? Buffer.alloc(0);
    const question = { about: 'log-part' as const, directory: this.#directory, from, length: end * BLOCK - from };
    const added = await this.#ask(question).catch(() => '');
    const bytes = Buffer.concat([known, Buffer.from(added, 'base64')]);
    for (let at = first; at < end; at++) this.#keep(at, bytes.subarray((at - first) * BLOCK, (at + 1 - first) * BLOCK));
  }

  #keep(block: number, bytes: Buffer): void {
    this.#blocks.delete(block);
    this.#blocks.set(block, bytes);
    if (this.#blocks.size > MOST_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!);
  }
}

class HostUsage implements UsageReading {
  usage: DiskUsage = { checkpoints: 0, logs: 0, metrics: 0, attempts: 0, other: 0, unread: 0 };
  isOver = false;

  constructor(asked: Promise<DiskUsage>) {
    asked
      .then((usage) => {
        this.usage = usage;
        this.isOver = true;
      })
      .catch(() => undefined);
  }

  step(): void {}

  close(): void {}
}
