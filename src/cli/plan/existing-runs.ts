import { join } from 'node:path';
import { hasEnded } from '../../base/run-words.js';
import type { RunSummary } from '../../client/fleet.js';
import type { RunRecord } from '../../contract/run-record.js';
import { eachRunRecord } from '../../files/run-record-file.js';
import { identityOf } from '../../spec/expand/identity.js';
import type { KnownRun } from '../../spec/expand/kept-names.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** A run of the sweep before a launch. `record`: its run.json; null: it has none. */
export type ExistingRun = KnownRun & { readonly record: RunRecord | null };

/** The existing runs of a sweep: those with a directory, and those that only the supervisor knows. */
export function existingRuns(runsDirectory: string, sweep: string, rows: Iterable<RunSummary>): ExistingRun[] {
  const runs = new Map<string, ExistingRun>();
  for (const record of eachRunRecord(join(runsDirectory, sweep))) {
    const { name, group, identity, parameters, attempts } = record;
    runs.set(name, { name, group, identity, parameters, attempts, isStarted: true, record });
  }
  for (const { name, group, parameters, attempt, state, ...row } of rows) {
    if (row.sweep !== sweep || runs.has(name)) continue;
    const isStarted = attempt > 0 && !hasEnded(state);
    runs.set(name, { name, group, parameters, identity: null, attempts: [], isStarted, record: null });
  }
  return [...runs.values()];
}

/**
 * A key that is equal for commands that differ only in the notation of numbers and the order of options, which may change with the
 * file's keys.
 */
function commandKey(argv: readonly string[]): string {
  const words = argv.map(plainly);
  const isOption = (word: string) => /^-|=/.test(word);
  return JSON.stringify([words.filter((word) => !isOption(word)), words.filter(isOption).sort()]);
}

/** A word with its number in one notation: `--lr=1e-3` as `--lr=0.001`. */
function plainly(word: string): string {
  return word.replace(/(?<=^|=)[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, (number) => String(Number(number)));
}

/**
 * The start parameters that have changed since a run's last attempt, by key of the sweep file. Empty if its budget differs, as the
 * command contains that.
 *
 * @param run Without secrets, like records.
 * @param environment Digest of its environment; the record of an older build has none.
 */
export function changedSince(run: PlannedRun, environment: string, record: RunRecord): string[] {
  if (identityOf('', run.parameters, []) !== identityOf('', record.parameters, [])) return [];
  const cwd = (place: { cwd: string; snapshot?: { cwd: string } | undefined }) => place.snapshot?.cwd ?? place.cwd;
  const isSnapshot = run.snapshot !== undefined || record.snapshot !== undefined;
  return [
    ...(commandKey(run.argv) === commandKey(record.argv) ? [] : ['command']),
    // A snapshot's paths in the environment differ.
    ...(isSnapshot || (record.environmentDigest ?? environment) === environment ? [] : ['env']),
    ...(cwd(run) === cwd(record) ? [] : ['cwd']),
  ];
}
