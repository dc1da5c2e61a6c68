import type { RunId } from '../base/ids.js';
import type { Slot } from './placement/slot.js';
import type { SchedulerState } from './state.js';

/** Everything the scheduler can ask for, as data; the supervisor carries it out. */
export type SchedulerAction =
  /**
   * `resumed`: an earlier attempt was up, so the run may find its own checkpoints. `isUp`: the process is up already, or was a
   * moment ago; the supervisor adopts it and starts nothing.
   */
  | { type: 'launch'; id: RunId; attempt: number; slot: Slot; resumed: boolean; isUp?: true }
  /** Send SIGTERM. */
  | { type: 'terminate'; id: RunId; attempt: number }
  /** Sends SIGKILL to the whole process tree. */
  | { type: 'kill'; id: RunId; attempt: number }
  /** Suspends the whole process tree until `continue`. */
  | { type: 'pause'; id: RunId; attempt: number }
  | { type: 'continue'; id: RunId; attempt: number };

/** The processing of one event: the state to change, the time of the event, and the resulting actions. */
export type StepContext = {
  readonly state: SchedulerState;
  readonly at: number;
  readonly actions: SchedulerAction[];
  /** Runs whose own state changed. (The reason why others wait may have changed too.) */
  readonly touched: Set<RunId>;
};
