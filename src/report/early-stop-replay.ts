import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { ReportedRun } from '../analysis/analysed-run.js';
import { grouped } from '../base/group-by.js';
import { UserError } from '../base/user-error.js';
import type { RunRecord } from '../contract/run-record.js';
import { readRunRecord } from '../files/run-directory/run-record-file.js';
import { openMetrics } from '../metrics/run-metrics.js';
import { lastWritten, type TimedRow, writtenRows } from '../metrics/written-rows.js';
import type { EarlyTerminate, Objective } from '../spec/planned-run.js';
import { EarlyStopping } from '../spec/policy/early-stop/early-stopping.js';
import { ruleWords } from '../spec/policy/policy-words.js';
import { plainAscii } from '../text/ascii.js';
import { lineText } from '../text/display-text.js';
import { truncate } from '../text/display-width.js';
import { durationText } from '../text/duration.js';
import { didYouMean } from '../text/nearest.js';
import { counted, shortNumber } from '../text/numbers.js';
import { type Column, tableLines } from '../text/table.js';
import { wrap } from '../text/wrap.js';
import { readRuns } from '../runs/read-runs.js';
import type { Page } from './report-lines.js';

export { parseObjective, parseRule } from '../spec/policy/early-stop/parse-rule.js';

/** A run of the replay. `iterations`: number of values of the objective; `final`: the last of them. */
type ReplayedRun = { run: string; group: string; iterations: number; final: number };
/** `iteration`: the one after which it would have ended. */
type StoppedRun = ReplayedRun & { iteration: number; why: string; savedMs: number };

type WouldStop = {
  sweep: string;
  /** The rule in words: `asha (min_iter 5, eta 3)`. */
  rule: string;
  objective: Objective;
  /** The stopped runs, in the order of their ends. */
  stopped: StoppedRun[];
  kept: ReplayedRun[];
  /** Runs that never wrote the metric. */
  silent: string[];
  /** Share of the total running time that would have been saved, 0 to 1. */
  savedShare: number;
  savedMs: number;
  /** Whether in every group the best run, or an equally good one, would have continued. */
  bestKept: boolean;
  /** Runs that were the best of their group, and would have been stopped before their end. */
  lostBest: string[];
};

type Replayed = { run: ReportedRun; rows: ObjectiveRows; stopped: { iteration: number; why: string } | null };

/**
 * Which runs a rule would have ended in a sweep that ran without it: passes the values of the runs to the rule in the order in
 * which they were written. The times of runs stay as they were, though slots would have become free earlier.
 *
 * @throws {UserError} When there is no such sweep, or no run of it wrote the metric.
 */
export function wouldStop(sweepDirectory: string, rule: EarlyTerminate, objective: Objective): WouldStop {
  const directory = resolve(sweepDirectory);
  if (!existsSync(directory)) {
    throw new UserError(
      `There is no sweep at ${directory}.`,
      'Name a sweep that was launched: `memrl-tui ls` lists them.',
    );
  }
  const runs = readRuns(directory).map((run): Replayed => {
    return { run, rows: readObjectiveRows(run.directory, objective.name), stopped: null };
  });
  const spoken = runs.filter(({ rows }) => rows.values.length > 0);
  if (spoken.length === 0) throw noMetric(directory, runs, objective.name);
  const groups = grouped(spoken, ({ run }) => run.group);
  const stopped = groups.flatMap((members) => replay(members, new EarlyStopping(rule, objective)));
  stopped.sort((a, b) => timeOfStop(a) - timeOfStop(b));
  return { sweep: basename(directory), rule: ruleWords(rule), objective, ...summary(runs, stopped, objective) };
}

/** Names of the metrics in a run's first rows, for an error message. */
function metricKeys({ directory }: ReportedRun): string[] {
  const metrics = openMetrics(directory);
  metrics.refresh();
  return metrics.keys();
}

function noMetric(directory: string, runs: readonly Replayed[], name: string): UserError {
  const known = [...new Set(runs.flatMap(({ run }) => metricKeys(run)))];
  if (known.length === 0) return new UserError(`No run in ${directory} has written metrics.`, 'Wait until one has.');
  return new UserError(
    `No run in ${directory} wrote a finite \`${name}\`. ${didYouMean(name, known)}`,
    "Name a metric of the runs: --metric 'minimize loss'.",
  );
}

/** Passes the values of one group to the rule, in the order of writing; returns the runs that it ended. */
function replay(members: readonly Replayed[], stopping: EarlyStopping): Replayed[] {
  const next = new Map(members.map((member) => [member, 0]));
  for (const member of inOrderOfTime(members)) {
    const index = next.get(member)!;
    next.set(member, index + 1);
    if (member.stopped !== null) continue;
    const why = stopping.note(member.run.name, member.rows.values[index]!);
    if (why !== null) member.stopped = { iteration: index + 1, why };
  }
  return members.filter((member) => member.stopped !== null);
}

/** The run of each value of the group in order of time; a run's own values keep their order. */
function* inOrderOfTime(members: readonly Replayed[]): Generator<Replayed> {
  const times = Float64Array.from(members.flatMap(({ rows }) => rows.times));
  const owners = Uint32Array.from(members.flatMap(({ rows }, owner) => rows.times.map(() => owner)));
  const order = Uint32Array.from(times.keys()).sort((a, b) => times[a]! - times[b]! || a - b);
  for (const place of order) yield members[owners[place]!]!;
}

function timeOfStop({ rows, stopped }: Replayed): number {
  return rows.times[stopped!.iteration - 1]!;
}

type Summary = Omit<WouldStop, 'sweep' | 'rule' | 'objective'>;

function summary(runs: readonly Replayed[], stopped: readonly Replayed[], objective: Objective): Summary {
  const upMs = runs.reduce((sum, { rows }) => sum + rows.upMs, 0);
  const ended = stopped.map((each): StoppedRun => {
    const { iteration, why } = each.stopped!;
    return { ...replayed(each), iteration, why, savedMs: Math.max(0, each.rows.upMs - each.rows.upAt[iteration - 1]!) };
  });
  const savedMs = ended.reduce((sum, each) => sum + each.savedMs, 0);
  const spoken = runs.filter(({ rows }) => rows.values.length > 0);
  const lostBest = grouped(spoken, ({ run }) => run.group).flatMap((members) => bestIfLost(members, objective));
  return {
    stopped: ended,
    kept: spoken.filter(({ stopped: end }) => end === null).map(replayed),
    silent: runs.filter(({ rows }) => rows.values.length === 0).map(({ run }) => run.name),
    savedShare: upMs > 0 ? savedMs / upMs : 0,
    savedMs,
    bestKept: lostBest.length === 0,
    lostBest,
  };
}

function replayed({ run, rows }: Replayed): ReplayedRun {
  return { run: run.name, group: run.group, iterations: rows.values.length, final: rows.values.at(-1)! };
}

function bestIfLost(members: readonly Replayed[], { goal }: Objective): string[] {
  const sign = goal === 'maximize' ? -1 : 1;
  const score = ({ rows }: Replayed) => sign * rows.values.at(-1)!;
  const best = Math.min(...members.map(score));
  const winners = members.filter((member) => score(member) === best);
  return winners.every(({ stopped }) => stopped !== null) ? [winners[0]!.run.name] : [];
}

/** The finite values of a run's objective in the order of writing, with the time of each (Unix ms). */
type ObjectiveRows = {
  values: number[];
  times: number[];
  /** Total running time of all attempts, ms. */
  upMs: number;
  /** Running time before each value, ms. */
  upAt: number[];
};

type Row = { value: number; step: number | null; time: number | null; index: number };

/**
 * Reads the values of a run's objective. A row with a smaller step means a resume: the rows from that step on are replaced. The
 * time of a row is its own if it has one, else by its place among all rows between the start and the end of the run.
 */
function readObjectiveRows(directory: string, key: string): ObjectiveRows {
  const { rows, count } = readRows(directory, key);
  const spans = spansOf(readRunRecord(directory), directory);
  const upMs = spans.reduce((sum, { from, to }) => sum + (to - from), 0);
  let latest = -Infinity;
  const times = rows.map(({ time, index }) => {
    const place = time ?? timeAt(spans, (upMs * (index + 1)) / count);
    // A clock that was set back must not change the order of a run's rows.
    return (latest = Math.max(latest, place));
  });
  return { values: rows.map(({ value }) => value), times, upMs, upAt: times.map((time) => upBefore(spans, time)) };
}

function readRows(directory: string, key: string): { rows: Row[]; count: number } {
  const rows: Row[] = [];
  let count = 0;
  for (const row of writtenRows(directory, key)) take(rows, row, { key, index: count++ });
  return { rows, count };
}

function take(rows: Row[], { values, step, time }: TimedRow, { key, index }: { key: string; index: number }): void {
  if (step !== null) dropFrom(rows, step, false);
  const value = values[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) return;
  if (step !== null) dropFrom(rows, step, true);
  rows.push({ value, step, time, index });
}

/** Removes the rows of later steps, and of the step itself if its value is replaced. */
function dropFrom(rows: Row[], step: number, isReplaced: boolean): void {
  for (let last = rows.at(-1); last !== undefined && last.step !== null; last = rows.at(-1)) {
    if (last.step < step || (last.step === step && !isReplaced)) return;
    rows.pop();
  }
}

type Span = { from: number; to: number };

/** The periods in which the run was up. An attempt without a recorded end counts until the last row. */
function spansOf(record: RunRecord | null, directory: string): Span[] {
  const written = lastWritten(directory);
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

/** The result as text: what the rule would have saved and cost, then each run with the reason. */
export function wouldStopLines(result: WouldStop, { width, ascii }: Page): string[] {
  const spell = ascii ? (text: string) => plainAscii(lineText(text)) : lineText;
  const { name, goal } = result.objective;
  const head = `${result.sweep} · what ${result.rule} would have ended, to ${goal} ${name}`;
  const table = result.stopped.length === 0 ? [] : ['', ...tableLines(columns(result.stopped, spell), width)];
  const lines = [
    truncate(spell(head), width),
    '',
    ...sentences(result).flatMap((sentence) => wrap(spell(sentence), width)),
    ...table,
  ];
  // The remaining symbols are rules and ellipses, one column each.
  return lines.map(spell);
}

function sentences({ stopped, kept, silent, savedShare, savedMs, lostBest }: WouldStop): string[] {
  const saved = `${Math.round(savedShare * 100)} % of the run time (${roughly(savedMs)})`;
  const best =
    lostBest.length === 0
      ? 'The best run of every group would have kept running.'
      : `It would have cost the best run of ${lostBest.length === 1 ? 'a group' : `${lostBest.length} groups`}: ${lostBest.join(', ')}.`;
  return [
    stopped.length === 0
      ? `None of ${counted(kept.length, 'run')} would have ended early.`
      : `${stopped.length} of ${counted(stopped.length + kept.length, 'run')} would have ended early; ${saved} would have been saved.`,
    ...(stopped.length === 0 ? [] : [best]),
    ...(silent.length === 0 ? [] : [`${counted(silent.length, 'run')} never wrote the metric: ${silent.join(', ')}.`]),
  ];
}

/** A duration with at most two units: `2h3m`, `45s`. */
function roughly(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const unit = seconds < 600 ? 1 : seconds < 36_000 ? 60 : 3600;
  return durationText(Math.round(seconds / unit) * unit);
}

function columns(stopped: readonly StoppedRun[], spell: (text: string) => string): Column[] {
  const column = (title: string, align: Column['align'], cellOf: (run: StoppedRun) => string): Column => ({
    title: spell(title),
    align,
    cells: stopped.map((run) => spell(cellOf(run))),
    spare: 0,
  });
  return [
    column('run', 'left', ({ run }) => run),
    column('ended at', 'right', ({ iteration }) => String(iteration)),
    column('of', 'right', ({ iterations }) => String(iterations)),
    { ...column('final', 'right', ({ final }) => shortNumber(final)), spare: 1 },
    column('why', 'left', ({ why }) => why.replace(/^\w+: /, '')),
  ];
}
