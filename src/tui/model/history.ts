import { readOrWait } from '../state/on-its-way.js';
import type { MetricReader, RunFilesPort } from '../state/port.js';

/** How often the files of the selection are looked at again, in ms. */
const period = 1000;
/** A selection that rests this long is read: going down a long list reads nothing. */
const rest = 40;
/** Runs whose metrics stay in memory after the selection has moved on. */
const kept = 12;
/** While long files are being read, what has come is told this often, in ms. */
const patience = 300;

export type Wanted = {
  /** Run directories whose metrics are shown. */
  readonly metrics: readonly string[];
  /** The run directory whose log is shown, or null, and how many of its last lines. */
  readonly log: string | null;
  readonly logLines: number;
};

/**
 * Reads the metrics and the log of what is selected, and goes on reading while it stays selected.
 *
 * A small part of one file per turn of the event loop, never in answer to a key: a key must not wait for a disk. All
 * files are begun before any is gone on with, so that the first picture does not wait for the longest file.
 */
export class History {
  readonly #files: RunFilesPort;
  readonly #changed: () => void;
  /** Oldest use first. */
  readonly #readers = new Map<string, MetricReader>();
  readonly #loaded = new Set<string>();
  #wanted: Wanted = { metrics: [], log: null, logLines: 0 };
  #log: readonly string[] = [];
  #logOf: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Runs for a while after something was told; what comes meanwhile is told at its end. */
  #pause: NodeJS.Timeout | null = null;
  /** Something was read that has not been told. */
  #hasNews = false;
  /** All that is wanted has been looked at; the timer is for the next time. */
  #isResting = false;
  /** Something has come from another host meanwhile. */
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

  /** Grows with everything read. */
  get version(): number {
    return this.#version;
  }

  want(wanted: Wanted): void {
    if (isSame(wanted, this.#wanted)) return;
    this.#wanted = wanted;
    this.#forgetOthers();
    this.#schedule(rest, () => this.#pass());
  }

  /** The metrics of a run that has been read; undefined before. */
  reader(directory: string): MetricReader | undefined {
    return this.#loaded.has(directory) ? this.#readers.get(directory) : undefined;
  }

  /** The end of the log, if it is the one that has been read. */
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

  /** What is waited for is there: it is read at once, or after the pass that goes on. */
  readonly #arrived = (): void => {
    if (this.#isResting) this.#schedule(0, () => this.#pass());
    else this.#hasArrived = true;
  };

  /** Looks at everything wanted once, and at long files until they have been read; then rests. */
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
        this.#schedule(this.#hasArrived ? 0 : period, () => this.#pass());
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

  /** Tells of news if there are any, but not more often than a picture is worth making. */
  #tell(): void {
    if (!this.#hasNews || this.#pause !== null) return;
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#tell();
    }, patience);
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

  /** Undefined: they are on their way. */
  #readMetrics(directory: string): boolean | undefined {
    const reader = this.#readers.get(directory) ?? this.#files.metrics(directory);
    this.#readers.set(directory, reader);
    const hasNews = readOrWait(() => reader.refresh(), this.#arrived);
    if (hasNews === undefined) return undefined;
    // Of a long file, nothing is known yet after the first part.
    const isNew = !this.#loaded.has(directory) && (reader.more !== true || reader.keys().length > 0);
    if (isNew) this.#loaded.add(directory);
    return hasNews || isNew;
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
    }
  }
}

function isSame(a: Wanted, b: Wanted): boolean {
  return (
    a.log === b.log &&
    a.logLines === b.logLines &&
    a.metrics.length === b.metrics.length &&
    a.metrics.every((directory, index) => directory === b.metrics[index])
  );
}
