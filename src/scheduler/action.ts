import type { RunId } from '../base/ids.js';
import type { Slot } from './placement/slot.js';
import type { SchedulerState } from './state.js';

/** Everything the scheduler can ask for. Orders, as data; the supervisor carries them out. */
export type SchedulerAction =
  /**
   * `resumed`: an earlier attempt was up, so the run may find its own checkpoints. `isUp`: the attempt before it lives, or did a
   * moment ago: it is this one, and nothing is started.
   */
  | { type: 'launch'; id: RunId; attempt: number; slot: Slot; resumed: boolean; isUp?: true }
  /** Send SIGTERM. */
  | { type: 'terminate'; id: RunId; attempt: number }
  /** The whole tree, now. */
  | { type: 'kill'; id: RunId; attempt: number }
  /** The whole tree is suspended, until `continue`. */
  | { type: 'pause'; id: RunId; attempt: number }
  | { type: 'continue'; id: RunId; attempt: number };

/** One event being worked on: the state to change, the time of the event, and what came of it. */
export type StepContext = {
  readonly state: SchedulerState;
  readonly at: number;
  readonly actions: SchedulerAction[];
  /** Runs whose own state changed. (The reason why others wait may have changed too.) */
  readonly touched: Set<RunId>;
};
