import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeIn } from '../contract/exit-code.js';
import { runFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import type { RunFacts } from '../base/run-facts.js';
import type { RunRecord } from '../contract/run-record.js';
import { readIfThere, readRunRecord } from './run-record-file.js';

/** When a run counts as done: exit code 0, or a row of a JSON-lines file in its directory. */
export type DoneEvidence = { exit: 0 } | { file: string; where: string };

/**
 * What the run's directory says about its past: `run.json`, the shim's exit files, and the file the done rule looks at.
 * A missing directory gives facts of a run that never was. Reads only; about 50 µs a directory.
 */
export function readRunFacts(directory: string, done: DoneEvidence): RunFacts {
  // Most runs of a new sweep: asking first is far cheaper than failing to read four files.
  if (!existsSync(directory)) return unknownRun;
  const record = readRunRecord(directory);
  const attempts = Math.max(lastRecorded(record), lastClaimed(directory));
  return {
    known: record !== null,
    identity: record?.identity ?? null,
    group: record?.group ?? null,
    parameters: record?.parameters ?? null,
    attempts,
    exitCode: attempts === 0 ? null : exitCode(directory, attempts),
    stoppedBy: stoppedBy(record, attempts),
    doneRows: 'file' in done ? rowsOf(join(directory, done.file)) : [],
  };
}

const unknownRun: RunFacts = {
  known: false,
  identity: null,
  group: null,
  parameters: null,
  attempts: 0,
  exitCode: null,
  stoppedBy: null,
  doneRows: [],
};

function lastRecorded(record: RunRecord | null): number {
  return Math.max(0, ...(record?.attempts ?? []).map(({ number }) => number));
}

/** The highest numbered folder below `attempts/`: the shim makes one before `run.json` may say so. */
function lastClaimed(directory: string): number {
  try {
    const names = readdirSync(join(directory, runFiles.attempts));
    return Math.max(0, ...names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number));
  } catch {
    return 0;
  }
}

/** The exit code of an attempt; null: not known. Only the last one counts: an earlier 0 says nothing once a longer run was asked for. */
export function exitCode(directory: string, attempt: number): number | null {
  const folder = join(directory, runFiles.attempts, String(attempt));
  return exitCodeIn(readIfThere(join(folder, runFiles.exit)), () => readIfThere(join(folder, runFiles.pid)));
}

function stoppedBy(record: RunRecord | null, attempt: number): string | null {
  const outcome = record?.attempts.find(({ number }) => number === attempt)?.outcome;
  return outcome?.kind === 'done' ? (outcome.rule ?? null) : null;
}

function rowsOf(path: string): Record<string, unknown>[] {
  const lines = (readIfThere(path) ?? '').split('\n');
  return lines
    .filter((line) => line !== '')
    .map(parseJsonLine)
    .filter((row) => row !== null);
}
