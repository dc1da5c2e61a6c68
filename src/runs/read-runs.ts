import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { redactedParameters, redactShapes } from '../text/redaction.js';
import { naturalOrder } from '../text/natural-order.js';
import { failureReason, type Outcome } from '../base/outcome.js';
import { endStateOf } from '../base/run-words.js';
import { runFiles } from '../contract/files.js';
import type { RunRecord } from '../contract/run-record.js';
import { exitCode } from '../files/run-directory/completion-facts.js';
import { readIfThere, readRunRecord } from '../files/run-directory/run-record-file.js';
import type { ReportedRun, ReportedState } from '../analysis/analysed-run.js';

/** All runs below a sweep's directory that hold a `run.json`, in natural order of name (N16 before N256). */
export function readRuns(sweepDirectory: string, known?: KnownStates): ReportedRun[] {
  return [...eachRun(sweepDirectory, known)];
}

/** The runs that have begun, and the known ones that have not, in natural order of name. Runs without their directory were deleted. */
export function withUnstarted(begun: readonly ReportedRun[], known: readonly ReportedRun[]): ReportedRun[] {
  const names = new Set(begun.map(({ name }) => name));
  const all = [...begun, ...known.filter(({ name, times }) => !names.has(name) && (times?.startedAt ?? null) === null)];
  return known.length === 0 ? all : all.sort((a, b) => naturalOrder(a.name, b.name));
}

/** States of runs by their supervisor, by name; they are more reliable than the files. */
type KnownStates = ReadonlyMap<string, ReportedState>;

export function statesOf(runs: readonly Pick<ReportedRun, 'name' | 'state'>[]): KnownStates {
  return new Map(runs.map(({ name, state }) => [name, state]));
}

/** The same, lazily, one by one. */
export function* eachRun(sweepDirectory: string, known?: KnownStates): Generator<ReportedRun> {
  const names = readdirSync(sweepDirectory, { withFileTypes: true })
    // A hidden folder is one that is being deleted.
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort(naturalOrder);
  for (const name of names) {
    const run = readRun(join(sweepDirectory, name));
    if (run !== null) yield { ...run, state: known?.get(run.name) ?? run.state };
  }
}

/** What the record of a run says; null: there is none. */
export function readRun(directory: string): ReportedRun | null {
  const record = readRunRecord(directory);
  if (record === null) return null;
  const { name, group, subgroup, metrics = {} } = record;
  // Secrets are redacted again, as an older version redacted fewer.
  const parameters = redactedParameters(record.parameters, redactShapes);
  const found = { parameters, state: stateOf(record, directory), config: readConfig(directory) };
  return { name, group, subgroup, directory, metrics, ...found, failure: failureOf(record.attempts.at(-1)?.outcome) };
}

function failureOf(outcome: Outcome | null | undefined): string | null {
  return !outcome || outcome.kind === 'done' || outcome.kind === 'killed' ? null : failureReason(outcome);
}

function stateOf(record: RunRecord, directory: string): ReportedState {
  const last = record.attempts.at(-1);
  if (last === undefined) return 'queued';
  if (last.outcome !== null) return record.state ?? endStateOf(last.outcome.kind);
  // The supervisor may have died before it recorded the run's end; the run's shim recorded the exit code.
  const code = exitCode(directory, last.number);
  if (code === null) return 'running';
  return code === 0 ? 'done' : 'failed';
}

/** `config.json` of a run; empty where there is none that can be read. */
export function readConfig(directory: string): Record<string, unknown> {
  const text = readIfThere(join(directory, runFiles.config));
  if (text === null) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    // The file is another program's.
    return {};
  }
}
