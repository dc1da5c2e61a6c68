import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import type { RunRecord } from '../contract/run-record.js';
import { nothingWritten, type WrittenFiles } from '../contract/written-files.js';
import { statRegular } from '../files/regular-file.js';
import { readRunRecord } from '../files/run-directory/run-record-file.js';
import { readWrittenFiles } from '../files/run-directory/supervisor-notes.js';
import { isDatabase } from './formats/databases/database.js';
import type { LogPatterns } from './formats/log/log-rows.js';

/**
 * Where the metrics of a run are by its sweep. `folders`: absolute paths beside the run's own directory. `patterns`: for the run's
 * log.
 */
export type DeclaredPlaces = { readonly folders: readonly string[]; readonly patterns: LogPatterns };

/** The places in a run's record; by default in its `run.json`, none if there is no such file. */
export function declaredPlaces(
  runDirectory: string,
  { folders = [], patterns = {} }: RunRecord['metrics'] & {} = readRunRecord(runDirectory)?.metrics ?? {},
): DeclaredPlaces {
  return { folders, patterns };
}

/** Files that the manager creates in a run's directory. */
const own: ReadonlySet<string> = new Set([
  ...[runFiles.attempts, runFiles.record, runFiles.annotation, runFiles.usage, runFiles.log],
]);

/**
 * Whether a run has certainly written nothing, as most do that last a moment: only the manager's files exist, and the log is empty.
 * May be false for a run that wrote nothing. Takes some 30 µs.
 *
 * @param folders Further folders in which the run may write, by its sweep.
 */
export function hasLeftNothing(runDirectory: string, folders: readonly string[]): boolean {
  if (folders.length > 0) return false;
  const log = statRegular(join(runDirectory, runFiles.log));
  if (log.kind !== 'file' || log.stat.size > 0) return false;
  try {
    const entries = opendirSync(runDirectory);
    try {
      // The first foreign entry decides: there may be ten thousand.
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync())
        if (!own.has(entry.name)) return false;
    } finally {
      entries.closeSync();
    }
    return true;
  } catch {
    return false;
  }
}

/** Whether there is nothing to read of a run: it has left nothing, and ended before anything was measured of it. */
export function hasNoMetrics(runDirectory: string, folders: readonly string[]): boolean {
  return hasLeftNothing(runDirectory, folders) && statRegular(join(runDirectory, runFiles.usage)).kind === 'absent';
}

/**
 * Where a run writes outside its directory, for all readers of its metrics: the folders that the sweep declares and no other run
 * uses, and the files that the supervisor attributed to the run (`written.json`). More may be found while the run is up.
 */
export class OutsidePlaces {
  readonly #directory: string;
  readonly #declared: readonly string[];
  #written: WrittenFiles = nothingWritten;
  #seen = '';

  constructor(directory: string, declared: readonly string[]) {
    this.#directory = directory;
    this.#declared = declared;
    this.look();
  }

  /** Looks again; returns true if anything has changed. */
  look(): boolean {
    const there = statRegular(join(this.#directory, runFiles.written));
    const seen = there.kind === 'file' ? `${there.stat.ino} ${there.stat.size} ${there.stat.mtimeMs}` : '';
    if (seen === this.#seen) return false;
    this.#seen = seen;
    this.#written = readWrittenFiles(this.#directory) ?? nothingWritten;
    return true;
  }

  get written(): WrittenFiles {
    return this.#written;
  }

  get folders(): string[] {
    return this.#declared.filter((folder) => !this.#written.shared.includes(folder));
  }

  get files(): string[] {
    return this.#written.files.map(({ path }) => path);
  }

  /** Databases that several runs share, of which each may have runs of its own. */
  get databases(): string[] {
    return this.#written.refused.flatMap(({ path }) => (isDatabase(path) ? [path] : []));
  }
}
