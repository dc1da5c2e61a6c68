import type { Levels } from '../../analysis/health/divergence.js';
import type { Ending } from '../../analysis/health/ending.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { ObjectiveValues } from '../../spec/search/trials.js';
import type { MonitoredMetrics } from '../publish/run-view.js';

/** The part of a planned run that the reader needs. */
export type ReadRun = Pick<
  PlannedRun,
  | 'id'
  | 'sweep'
  | 'group'
  | 'name'
  | 'directory'
  | 'parameters'
  | 'metrics'
  | 'objective'
  | 'earlyTerminate'
  | 'stopWhen'
> & {
  /** Why its stop rule is not applied, in words; absent: it is, or there is none. */
  readonly ruleFault?: string;
};

export function readRun(run: PlannedRun): ReadRun {
  const { id, sweep, group, name, directory, parameters, metrics, objective, earlyTerminate, stopWhen } = run;
  return { id, sweep, group, name, directory, parameters, metrics, objective, earlyTerminate, stopWhen };
}

/**
 * Orders to the reader. `ticket`: unique number of one reading of one attempt.
 *
 * `watch`: follow the attempt, which is up since `since` ms. `hasPast`: some rows may be older than this reader. `catch-up`: read
 * its present rows before those of others, and reply `caught-up`. `finish`: the attempt has ended; read its last rows, reply
 * `read`, and stop. `recall`: the same for a past run. `drop`: stop now. `forget`: the run has been removed.
 */
export type ReaderOrder =
  | { type: 'watch'; ticket: number; run: ReadRun; attempt: number; since: number; hasPast: boolean }
  | { type: 'catch-up' | 'finish' | 'drop'; ticket: number }
  | { type: 'recall'; ticket: number; run: ReadRun }
  | { type: 'forget'; id: PlannedRun['id'] };

/** The metric that decides whether a run diverges, and its levels so far. */
export type NamedLevels = { name: string; levels: Levels | null };
export type JudgedLevels = NamedLevels & { loss: NamedLevels | null };

/**
 * Replies of the reader. `told`: the present values of a run's metrics. `rule`: the rule that its rows have met, or null.
 * `isUpToDate`: whether all that the run had written is included. `read`: all rows of an ended run have been read.
 */
export type ReaderNews =
  | {
      type: 'told';
      ticket: number;
      vitals: MonitoredMetrics;
      objective: ObjectiveValues | null;
      rule: string | null;
      rows: number;
      isUpToDate: boolean;
      judged: JudgedLevels | null;
    }
  | { type: 'hindered'; ticket: number; words: string | null }
  | { type: 'target-reached'; ticket: number; words: string }
  | { type: 'caught-up'; ticket: number }
  | { type: 'read'; ticket: number; ending: Ending | null };

/** Time limit for reading a run before others, ms. */
export const CATCH_UP_MS = 2000;

/**
 * The present activity of the reader, in memory that it shares with the supervisor: if the thread dies or hangs, that is the
 * probable cause. [0] ticket of the reading; 0: none. [1] 1 while a rule is evaluated. [2] a number that changes with each part
 * that is read.
 */
export type Busy = Int32Array<SharedArrayBuffer>;

export function newBusy(): Busy {
  return new Int32Array(new SharedArrayBuffer(12));
}

/** The warning of a run whose rule is not applied. */
export function ruleIsOff({ stopWhen }: Pick<ReadRun, 'stopWhen'>, why: string): string {
  return `stop_when is switched off (${stopWhen?.when}): ${why}`;
}

/** A reader that is at work. */
export type ReaderLink = { post: (order: ReaderOrder) => void; close: () => Promise<void> };

/** What a reader is opened with. `ended`: it has died, and why. */
export type ReaderHooks = {
  heard: (news: ReaderNews) => void;
  ended: (why: string) => void;
  now: () => number;
  busy: Busy;
};
