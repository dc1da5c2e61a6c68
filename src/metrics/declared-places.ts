import { readRunRecord } from '../files/run-record-file.js';
import type { LogPatterns } from './formats/log/log-rows.js';

/** Where a sweep says that the metrics of a run are. `folders`: beside the run's own, absolute. `patterns`: of the run's log. */
export type DeclaredPlaces = { readonly folders: readonly string[]; readonly patterns: LogPatterns };

/** What `run.json` says; nothing where there is none. */
export function declaredPlaces(runDirectory: string): DeclaredPlaces {
  const { folders = [], patterns = {} } = readRunRecord(runDirectory)?.metrics ?? {};
  return { folders, patterns };
}
