import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { parseJsonLine } from '../contract/json-line.js';
import { statRegular } from '../files/regular-file.js';
import type { RunRecord } from '../contract/run-record.js';
import { readRunRecord } from '../files/run-record-file.js';
import { stepKeyOf } from '../metrics/step-key.js';
import { Tail } from '../files/tail.js';

/** The finite values of a run's objective in the order of its file, with the time at which each was written (Unix ms). */
export type ObjectiveRows = {
  values: number[];
  times: number[];
  /** Time that the run was up, ms, in all attempts. */
  upMs: number;
  /** Up time before each value, ms. */
  upAt: number[];
};

type Row = { value: number; step: number | null; stamp: number | null; index: number };

/**
 * Reads what a run said of its objective. A row of a smaller step is a resume: the rows from that step on are replaced.
 * The time of a row is its own time stamp if it has one, else its place in the file between the start and the end of the run.
 */
export function readObjectiveRows(directory: string, key: string): ObjectiveRows {
  const path = join(directory, runFiles.metrics);
  const { rows, count } = readRows(path, key);
  const spans = spansOf(readRunRecord(directory), path);
  const upMs = spans.reduce((sum, { from, to }) => sum + (to - from), 0);
  let latest = -Infinity;
  const times = rows.map(({ stamp, index }) => {
    const place = stamp ?? timeAt(spans, (upMs * (index + 1)) / count);
    // A clock that was set back must not bring a run's own rows out of order.
    return (latest = Math.max(latest, place));
  });
  return { values: rows.map(({ value }) => value), times, upMs, upAt: times.map((time) => upBefore(spans, time)) };
}

function readRows(path: string, key: string): { rows: Row[]; count: number } {
  const tail = new Tail(path);
  const rows: Row[] = [];
  let count = 0;
  for (let more = true; more;) {
    const read = tail.read();
    more = read.more;
    for (const line of read.lines) {
      const fields = parseJsonLine(line);
      if (fields === null) continue;
      take(rows, fields, { key, index: count });
      count += 1;
    }
  }
  return { rows, count };
}

function take(rows: Row[], fields: Record<string, unknown>, { key, index }: { key: string; index: number }): void {
  const step = stepOf(fields);
  if (step !== null) dropFrom(rows, step, false);
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) return;
  if (step !== null) dropFrom(rows, step, true);
  rows.push({ value, step, stamp: stampOf(fields), index });
}

/** Forgets the rows of later steps, and of the step itself where its value is about to be replaced. */
function dropFrom(rows: Row[], step: number, isReplaced: boolean): void {
  for (let last = rows.at(-1); last !== undefined && last.step !== null; last = rows.at(-1)) {
    if (last.step < step || (last.step === step && !isReplaced)) return;
    rows.pop();
  }
}

function stepOf(fields: Record<string, unknown>): number | null {
  const counter = stepKeyOf(Object.keys(fields));
  const step = counter?.counts ? fields[counter.key] : null;
  return typeof step === 'number' ? step : null;
}

const stampKeys = ['_timestamp', 'timestamp', 'wall_time', 'time', 'ts'];

/** Unix ms. A small number is no date but a time since the start, or that a step took. */
function stampOf(fields: Record<string, unknown>): number | null {
  for (const key of stampKeys) {
    const stamp = fields[key];
    if (typeof stamp === 'number' && stamp > 1e9) return stamp > 1e11 ? stamp : stamp * 1000;
    if (typeof stamp === 'string' && !Number.isNaN(Date.parse(stamp))) return Date.parse(stamp);
  }
  return null;
}

type Span = { from: number; to: number };

/** When the run was up. An attempt whose end nobody noted ended with the last row, as far as one can know. */
function spansOf(record: RunRecord | null, path: string): Span[] {
  const there = statRegular(path);
  const written = there.kind === 'file' ? there.stat.mtimeMs : 0;
  const attempts = record?.attempts ?? [];
  return attempts.map(({ startedAt, endedAt }) => ({ from: startedAt, to: Math.max(startedAt, endedAt ?? written) }));
}

function timeAt(spans: readonly Span[], upMs: number): number {
  let left = upMs;
  for (const { from, to } of spans) {
    if (left <= to - from) return from + left;
    left -= to - from;
  }
  return spans.at(-1)?.to ?? upMs;
}

function upBefore(spans: readonly Span[], time: number): number {
  return spans.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, time) - from), 0);
}
