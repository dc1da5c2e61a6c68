import type { ReportedRun, ReportedState } from '../analysis/analysed-run.js';
import { causeText, errorKinds, type FailureKind, failureSentence } from '../analysis/failures/failure-kinds.js';
import type { Finding } from '../analysis/health/finding.js';
import type { GpuHours } from '../analysis/health/resources.js';
import type { RunValue } from '../analysis/run-value.js';
import type { Annotation } from '../base/annotation.js';
import type { MetricRow } from './metric-summary.js';
import type { FoundLine, FoundStudy } from './studies/found-studies.js';

/**
 * The table of one group. `title`: from the sweep file. `declared`: parameters that only the programs of its runs have declared; they
 * make no rows. `goals`: which end of a metric is good, if known.
 */
export type Section = {
  group: string;
  title: string | null;
  settings: Settings;
  declared: Settings;
  kind: 'metrics';
  keys: string[];
  goals: Partial<Record<string, 'minimize' | 'maximize'>>;
  rows: MetricRow[];
  /** Which setting is best, and what cannot be told apart from it, in sentences; empty: nothing can be said. */
  answer: string[];
};

/** Each parameter of a group's runs with its different values, in the order of the runs; undefined: some do not have it. Paths are left out. */
export type Settings = readonly (readonly [key: string, values: readonly unknown[]])[];

/** `word`: `diverged`, `collapsed` or `nan`; `reason`: the evidence in words. */
export type RunMark = Finding & { readonly run: string };

/** The results of the runs of a sweep, so far. Everything is computed from the files of the runs. */
export type Report = {
  sweep: string;
  counts: Partial<Record<ReportedState, number>>;
  /** Ended runs with a problem that their state does not show, group by group. */
  marks: readonly RunMark[];
  failures: readonly ReportedFailure[];
  /** Which value of a metric stands for a run in the tables. */
  value: RunValue;
  sections: Section[];
  /** Runs with a star, tags or a note, in natural order of name. */
  annotations: ({ run: string } & Annotation)[];
  /** The hours of GPUs under its runs; absent: no run has samples of one. */
  gpuHours?: GpuHours;
  /** What programs have to say beyond metrics, of the sweep, then of its runs. */
  studies: readonly FoundStudy[];
  /** Lines that studies declare for charts. */
  chartLines: readonly FoundLine[];
};

/** A replacer for `JSON.stringify`: Infinity, which JSON lacks, becomes the text `infinite`; NaN becomes null. */
export function reportReplacer(_key: string, value: unknown): unknown {
  if (value === Infinity) return 'infinite';
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}

/** A kind of failure in a report. `error`: what the messages of these runs share. `cause` null: chance may explain it. */
type ReportedFailure = {
  readonly error: string;
  readonly runs: number;
  /** The name of the first of these runs. */
  readonly example: string;
  readonly cause: string | null;
  /** All of it in a sentence. */
  readonly sentence: string;
};

/** What went wrong in failed runs, the most frequent kind first, with the parameters that go with it. */
export function failuresOf(runs: readonly ReportedRun[]): ReportedFailure[] {
  return errorKinds(runs.map((run) => ({ ...run, reason: run.failure ?? null }))).map(reportedFailure);
}

/** A kind of failure as scripts and tables have it. */
export function reportedFailure(kind: FailureKind<{ readonly name: string }>): ReportedFailure {
  const { words, runs, found } = kind;
  const sentence = failureSentence(kind);
  return { error: words, runs: runs.length, example: runs[0]!.name, cause: causeText(found), sentence };
}
