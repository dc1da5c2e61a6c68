import type { Parameters } from './scalar.js';

/** What a run's directory says about its past. Read by `store`; the sweep's planner judges from it what is left to do. */
export type RunFacts = {
  /** Whether the directory exists and holds a `run.json` of ours. */
  known: boolean;
  /** Identity in that `run.json`, or null. A different identity under the same name is a clash. */
  identity: string | null;
  /** Group in that `run.json`, or null. */
  group: string | null;
  /** Parameters at the last attempt, to see whether the budget grew. */
  parameters: Parameters | null;
  /** Attempts started so far. */
  attempts: number;
  /** Exit code of the last attempt; null when it left none (still running, lost, or never begun). */
  exitCode: number | null;
  /** The `stop_when` rule that ended the last attempt as done, or null. */
  stoppedBy: string | null;
  /** Rows of the done rule's file that may tell that the run is done, if it has one and the file exists. */
  doneRows: readonly Record<string, unknown>[];
  /** What of all this is there and could not be read, in words; absent: nothing. */
  obstacle?: string;
};
