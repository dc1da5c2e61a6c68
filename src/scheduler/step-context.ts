import type { RunId } from '../base/ids.js';
import type { SchedulerAction } from './action.js';
import type { SchedulerState } from './state.js';

/** One event being worked on: the state to change, the time of the event, and what came of it. */
export type StepContext = {
  readonly state: SchedulerState;
  readonly at: number;
  readonly actions: SchedulerAction[];
  /** Runs whose own state changed. (The reason why others wait may have changed too.) */
  readonly touched: Set<RunId>;
};
