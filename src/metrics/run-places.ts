import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { nothingWritten, type WrittenFiles } from '../contract/written-files.js';
import { statRegular } from '../files/regular-file.js';
import { readRunRecord } from '../files/run-record-file.js';
import { readWrittenFiles } from '../files/written-files-file.js';
import type { LogPatterns } from './formats/log/log-rows.js';

/** Where a sweep says that the metrics of a run are. `folders`: beside the run's own, absolute. `patterns`: of the run's log. */
export type DeclaredPlaces = { readonly folders: readonly string[]; readonly patterns: LogPatterns };

/** What `run.json` says; nothing where there is none. */
export function declaredPlaces(runDirectory: string): DeclaredPlaces {
  const { folders = [], patterns = {} } = readRunRecord(runDirectory)?.metrics ?? {};
  return { folders, patterns };
}

/** What the manager itself puts into the directory of a run, and the log that it opens there. */
const own: ReadonlySet<string> = new Set([runFiles.attempts, runFiles.record, runFiles.annotation, runFiles.log]);

/**
 * Whether a run has left nothing to be read, as most do that last a moment: no file but our own, and nothing printed. It may be
 * said that there is something where there is not. Some 30 µs.
 *
 * @param folders Where else the sweep says that it writes.
 */
export function hasLeftNothing(runDirectory: string, folders: readonly string[]): boolean {
  if (folders.length > 0) return false;
  const log = statRegular(join(runDirectory, runFiles.log));
  if (log.kind !== 'file' || log.stat.size > 0) return false;
  try {
    const entries = opendirSync(runDirectory);
    try {
      // The first that is another's settles it: there may be ten thousand.
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

/**
 * Where a run writes beside its directory, for all who read its metrics: the folders that the sweep declares and no other run
 * has, and the files that the supervisor found to be the run's (`written.json`). More may be found while the run is up.
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

  /** Looks again; true if anything is different. */
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
}
