import type { Levels } from '../../analysis/health/divergence.js';
import type { Ending } from '../../analysis/health/ending.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { ObjectiveValues } from '../../spec/search/trials.js';
import type { MonitoredMetrics } from '../publish/run-view.js';

/** What the reader needs of a planned run. */
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
  /** Why its stop rule is not used, in words; absent: it is, or there is none. */
  readonly ruleFault?: string;
};

/**
 * What the watcher tells the reader to do. `ticket`: number of one reading of one attempt; no two readings have the same.
 *
 * `watch`: follow the attempt, which is up `since` ms. `hasPast`: some rows may be older than this reader. `catch-up`: read what
 * is there before that of others, and say `caught-up`. `finish`: the attempt has ended; read its last rows, say `read`, and let
 * go. `recall`: the same for a run of the past. `drop`: let go now. `forget`: the run is no longer known.
 */
export type ReaderOrder =
  | { type: 'watch'; ticket: number; run: ReadRun; attempt: number; since: number; hasPast: boolean }
  | { type: 'catch-up' | 'finish' | 'drop'; ticket: number }
  | { type: 'recall'; ticket: number; run: ReadRun }
  | { type: 'forget'; id: PlannedRun['id'] };

/** The metric by which it is seen whether a run diverges, and its levels so far. */
export type JudgedLevels = { name: string; levels: Levels | null };

/**
 * What the reader says. `told`: what the metrics of a run say now. `rule`: the rule that its rows have met, or null. `isUpToDate`:
 * all that the run had written is in it. `read`: all rows of a run that has ended are.
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

/** What is waited for is read before that of others for so long, ms. */
export const CATCH_UP_MS = 2000;

/**
 * What the reader is busy with, in memory that its thread shares with the supervisor: if the thread dies or does not go on, that is
 * the likely cause. [0] ticket of the reading; 0: none. [1] 1 while a rule is evaluated. [2] a number that is another one with each
 * part that is read.
 */
export type Busy = Int32Array<SharedArrayBuffer>;

export function newBusy(): Busy {
  return new Int32Array(new SharedArrayBuffer(12));
}

/** What is said of a run whose rule is not used. */
export function ruleIsOff({ stopWhen }: Pick<ReadRun, 'stopWhen'>, why: string): string {
  return `stop_when is switched off (${stopWhen?.when}): ${why}`;
}
