import { type MetricReader, type RunFilesPort, readOrWait } from '../state/port.js';

/** Time between two looks at the files of the selection, in ms; `live`: while the answer to what is typed is awaited. */
const period = 1000;
const livePeriod = 100;
/** The selection is read once it has rested this long, in ms, so scrolling through a list reads nothing. */
const rest = 40;
/** Number of runs whose metrics stay in memory after the selection has moved on. */
const kept = 12;
/** Minimum time between two notifications while long files are being read, in ms. */
const patience = 300;

export type Wanted = {
  /** Run directories whose metrics are shown. */
  readonly metrics: readonly string[];
  /** The run directory whose log is shown, or null. `logLines`: the number of lines read from its end. */
  readonly log: string | null;
  readonly logLines: number;
  /** Whether somebody waits for what the log will say. */
  readonly isLive?: boolean;
};

/**
 * Reads the metrics and the log of the selection, repeatedly while it stays selected.
 *
 * Each turn of the event loop reads a small part of one file, never in answer to a key, so keys do not wait for a disk. Every file
 * is started before any is continued, so that the first picture does not wait for the longest file.
 */
export class History {
  readonly #files: RunFilesPort;
  readonly #changed: () => void;
  /** Least recently used first. */
  readonly #readers = new Map<string, MetricReader>();
  readonly #loaded = new Set<string>();
  /** The lines for the charts of each run when its files were read last. */
  readonly #lines = new Map<string, ReturnType<NonNullable<MetricReader['lines']>>>();
  #wanted: Wanted = { metrics: [], log: null, logLines: 0 };
  #log: readonly string[] = [];
  #logOf: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Runs for a while after each notification; news in between is reported when it ends. */
  #pause: NodeJS.Timeout | null = null;
  /** Whether something was read since the last notification. */
  #hasNews = false;
  /** Whether everything wanted has been read and the timer is for the next pass. */
  #isResting = false;
  /** Whether data from another host arrived during the current pass. */
  #hasArrived = false;
  #isClosed = false;
  #version = 0;
  readonly #unsubscribe: () => void;

  /** `changed` is called after something new was read. */
  constructor(files: RunFilesPort, changed: () => void) {
    this.#files = files;
    this.#changed = changed;
    this.#unsubscribe = files.subscribe?.(this.#arrived) ?? (() => undefined);
  }

  /** Increases with every change. */
  get version(): number {
    return this.#version;
  }

  want(wanted: Wanted): void {
    if (isSame(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#forgetOthers();
    this.#schedule(rest, () => this.#pass());
  }

  /** The metrics of a run that has been read; undefined if it has not. */
  reader(directory: string): MetricReader | undefined {
    return this.#loaded.has(directory) ? this.#readers.get(directory) : undefined;
  }

  /** The last lines of the log, if this log has been read. */
  log(directory: string): readonly string[] {
    return directory === this.#logOf ? this.#log : [];
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#pause !== null) clearTimeout(this.#pause);
  }

  #schedule(delay: number, task: () => void): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#isClosed ? null : setTimeout(task, delay);
  }

  /** Called when awaited data has arrived: starts a pass at once, or after the current one. */
  readonly #arrived = (): void => {
    if (this.#isResting) this.#schedule(0, () => this.#pass());
    else this.#hasArrived = true;
  };

  /** Reads everything wanted once, continues long files to their end, then rests. */
  #pass(): void {
    this.#isResting = this.#hasArrived = false;
    const directories = [...this.#wanted.metrics];
    const count = directories.length;
    let begun = 0;
    if (this.#readLog()) this.#hasNews = true;
    const turn = (): void => {
      const directory = directories.shift();
      if (directory === undefined) {
        this.#tell();
        this.#isResting = true;
        const pause = this.#wanted.isLive === true ? livePeriod : period;
        this.#schedule(this.#hasArrived ? 0 : pause, () => this.#pass());
        return;
      }
      const hasNews = this.#readMetrics(directory);
      if (hasNews === true) this.#hasNews = true;
      if (hasNews !== undefined && this.#readers.get(directory)?.more === true) directories.push(directory);
      begun++;
      if (begun >= count && directories.length > 0) this.#tell();
      this.#schedule(0, turn);
    };
    this.#schedule(0, turn);
  }

  /** Reports news, if any, no more often than a new picture is worthwhile. */
  #tell(): void {
    if (!this.#hasNews || this.#pause !== null) return;
    this.#pause = setTimeout(
      () => {
        this.#pause = null;
        this.#tell();
      },
      this.#wanted.isLive === true ? livePeriod : patience,
    );
    this.#hasNews = false;
    this.#version++;
    this.#changed();
  }

  #readLog(): boolean {
    const { log, logLines } = this.#wanted;
    if (log === null) return false;
    const lines = readOrWait(() => this.#files.logTail(log, logLines), this.#arrived);
    if (lines === undefined) return false;
    const isNews =
      log !== this.#logOf || lines.length !== this.#log.length || lines.some((line, at) => line !== this.#log[at]);
    this.#log = lines;
    this.#logOf = log;
    return isNews;
  }

  /** Whether there is something new; undefined: the data has not arrived yet. */
  #readMetrics(directory: string): boolean | undefined {
    const reader = this.#readers.get(directory) ?? this.#files.metrics(directory);
    this.#readers.set(directory, reader);
    const hasNews = readOrWait(() => reader.refresh(), this.#arrived);
    if (hasNews === undefined) return undefined;
    // The first part of a long file may not contain any metric yet.
    const isNew = !this.#loaded.has(directory) && (reader.more !== true || reader.keys().length > 0);
    if (isNew) this.#loaded.add(directory);
    return this.#hasOtherLines(directory, reader) || hasNews || isNew;
  }

  #hasOtherLines(directory: string, reader: MetricReader): boolean {
    const lines = reader.lines?.();
    if (lines === undefined || lines === this.#lines.get(directory)) return false;
    this.#lines.set(directory, lines);
    return true;
  }

  #forgetOthers(): void {
    for (const directory of this.#wanted.metrics) {
      const reader = this.#readers.get(directory);
      if (reader === undefined) continue;
      this.#readers.delete(directory);
      this.#readers.set(directory, reader);
    }
    const most = kept + this.#wanted.metrics.length;
    for (const directory of [...this.#readers.keys()].slice(0, Math.max(0, this.#readers.size - most))) {
      this.#readers.delete(directory);
      this.#loaded.delete(directory);
      this.#lines.delete(directory);
    }
  }
}

function isSame(a: Wanted, b: Wanted): boolean {
  return (
    a.log === b.log &&
    a.logLines === b.logLines &&
    a.isLive === b.isLive &&
    a.metrics.length === b.metrics.length &&
    a.metrics.every((directory, index) => directory === b.metrics[index])
  );
}
