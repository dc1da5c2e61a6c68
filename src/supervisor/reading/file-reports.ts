import type { FSWatcher } from 'chokidar';
import { statRegular } from '../../files/regular-file.js';

/** A reading of a live run, whose files are `monitor.paths`. */
export type Reported = {
  readonly monitor: { readonly paths: readonly string[] };
  /** Whether the system reports changes of its files; `wanted`: as soon as there is one. */
  reports: 'not yet' | 'wanted' | 'on';
  /** Whether a reported change caused a read since the last poll. */
  isFresh: boolean;
};

/** Interval of reads of a file that the system reports as changed, ms. */
const LOOK_MS = 100;
/**
 * Limit on the live runs that are watched by system reports, and read ten times a second. Each report takes half a ms of CPU time
 * over all threads.
 */
const REPORTED_RUNS = 16;

/** Asks the system to report changes of the files of live runs. */
export class FileReports<Reading extends Reported> {
  /** Called for a reading whose files have changed. */
  readonly #changed: (reading: Reading) => void;
  readonly #byPath = new Map<string, Reading>();
  readonly #live = new Set<Reading>();
  readonly #due = new Set<Reading>();
  #reported = 0;
  #look: NodeJS.Timeout | null = null;
  #files: Promise<FSWatcher> | null = null;

  constructor(changed: (reading: Reading) => void) {
    this.#changed = changed;
  }

  /** The run is up from now on. */
  expect(reading: Reading): void {
    this.#live.add(reading);
    for (const path of reading.monitor.paths) this.#byPath.set(path, reading);
  }

  drop(reading: Reading): void {
    const { paths } = reading.monitor;
    this.#live.delete(reading);
    for (const path of paths) if (this.#byPath.get(path) === reading) this.#byPath.delete(path);
    this.#due.delete(reading);
    if (reading.reports === 'on') this.#reported -= 1;
    void this.#files?.then((files) => files.unwatch(paths.filter((path) => !this.#byPath.has(path))));
  }

  /** Watches existing files. For missing ones the folder would be watched, and searched at every write of any of its files. */
  want(reading: Reading): void {
    if (reading.reports === 'on' || !this.#live.has(reading)) return;
    reading.reports = 'wanted';
    if (this.#reported >= REPORTED_RUNS) return;
    const paths = reading.monitor.paths.filter((path) => this.#byPath.has(path) && statRegular(path).kind === 'file');
    if (paths.length === 0) return;
    reading.reports = 'on';
    this.#reported += 1;
    void this.#fileWatcher().then((files) => this.#live.has(reading) && files.add(paths));
  }

  async close(): Promise<void> {
    if (this.#look !== null) clearTimeout(this.#look);
    await (await this.#files)?.close();
  }

  /** The file watcher, loaded with the first run that is up for a while. */
  #fileWatcher(): Promise<FSWatcher> {
    this.#files ??= import('chokidar').then(({ watch }) =>
      watch([], {
        ignoreInitial: true,
        ignored: (path, stats) => stats !== undefined && !stats.isFile() && this.#byPath.has(path),
      })
        .on('all', (_event, path) => this.#soon(this.#byPath.get(path)))
        // There are too many files for inotify, or a folder disappeared: polling continues.
        .on('error', () => undefined),
    );
    return this.#files;
  }

  #soon(reading: Reading | undefined): void {
    if (reading === undefined) return;
    this.#due.add(reading);
    this.#look ??= setTimeout(() => {
      this.#look = null;
      const due = [...this.#due];
      this.#due.clear();
      for (const each of due) {
        each.isFresh = each.reports === 'on';
        this.#changed(each);
      }
    }, LOOK_MS).unref();
  }
}
