import type { ReportedRun } from '../analysis/analysed-run.js';
import { causeText, errorKinds, type FailureKind, failureSentence } from '../analysis/failures/failure-kinds.js';

/** A kind of failure in a report. `error`: what the messages of these runs share. `cause` null: chance may explain it. */
export type ReportedFailure = {
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

/** For scripts and tables. */
export function reportedFailure(kind: FailureKind<{ readonly name: string }>): ReportedFailure {
  const { words, runs, found } = kind;
  const sentence = failureSentence(kind);
  return { error: words, runs: runs.length, example: runs[0]!.name, cause: causeText(found), sentence };
}
