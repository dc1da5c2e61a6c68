import * as z from 'zod';
import type { Parameters } from './scalar.js';

/**
 * How an attempt of a run ended.
 *
 * `done`: by itself with exit code 0 (or its `done` rule holds), or because `stop_when` was met (`rule` says which); `line`: the
 * failure with which its log ends nevertheless.
 * `failed`: it crashed. `oom`: it, or the system, ran out of memory, by its log or its cgroup. `timeout`: it used up its
 * `timeout`. `killed`: a person asked for it. `lost`: it was running, and nobody can know how it stopped.
 */
export const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), rule: z.string().optional(), line: z.string().optional() }),
  z.object({ kind: z.literal('failed'), code: z.int(), line: z.string().optional() }),
  z.object({ kind: z.literal('signal'), signal: z.string(), line: z.string().optional() }),
  z.object({ kind: z.literal('oom'), line: z.string() }),
  z.object({ kind: z.literal('timeout'), seconds: z.number() }),
  z.object({ kind: z.literal('killed') }),
  z.object({ kind: z.literal('lost'), reason: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** The classes of failure that `retry` in a sweep file can name. */
export const FailureClass = z.enum(['crash', 'oom', 'timeout', 'signal', 'lost']);
export type FailureClass = z.infer<typeof FailureClass>;

/** The class of failure of an outcome; null: it is no failure. */
export function failureClass({ kind }: Outcome): FailureClass | null {
  if (kind === 'failed') return 'crash';
  return kind === 'done' || kind === 'killed' ? null : kind;
}

/** The reason why an attempt failed, in words. */
export function failureReason(outcome: Exclude<Outcome, { kind: 'done' | 'killed' }>): string {
  switch (outcome.kind) {
    case 'failed':
      return outcome.line ?? `exit code ${outcome.code}`;
    case 'signal':
      return outcome.line === undefined ? outcome.signal : `${outcome.signal}: ${outcome.line}`;
    case 'oom':
      return outcome.line;
    case 'timeout':
      return `timed out after ${outcome.seconds} s`;
    case 'lost':
      return outcome.reason;
  }
}

/** What a run's directory says about its past. The planner of a sweep decides from it what is left to do. */
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
  /** Rows of the done rule's file that may show that the run is done; empty: there is no rule or no file. */
  doneRows: readonly Record<string, unknown>[];
  /** Where the done rule's file has a malformed line, as `line 3 of checkpoints.jsonl`; absent: nowhere. */
  malformed?: string;
  /**
   * Why the command of the done rule says that the run is not done, in words; absent: it was not called, or says that it is done.
   */
  doneWords?: string;
  /** Which of these files exist but cannot be read, in words; absent: none. */
  obstacle?: string;
};
