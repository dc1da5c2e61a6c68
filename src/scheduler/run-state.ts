import type { GroupId, RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { Need, Slot } from './slot.js';

/** Why a run is being ended: a person asked, or its `stop_when` held. */
export type StopCause = { kind: 'asked' } | { kind: 'rule'; rule: string };

/** Where a run is in its life. Each state holds the facts that exist in it, and no others. Times: Unix ms. */
export type RunState =
  | { phase: 'waiting' }
  | { phase: 'starting'; slot: Slot; stop: StopCause | null }
  | { phase: 'running'; slot: Slot; pid: number; since: number }
  | { phase: 'stopping'; slot: Slot; pid: number; since: number; stop: StopCause; killAt: number }
  | { phase: 'killing'; slot: Slot; pid: number; since: number; stop: StopCause }
  | { phase: 'ended'; outcome: Outcome; since: number | null; at: number };

/** A state in which the run holds a slot. */
export type ActiveState = Extract<RunState, { slot: Slot }>;

export type Run = {
  readonly id: RunId;
  readonly sweep: string;
  readonly group: GroupId;
  /** Place in the queue: the order of submission, kept when the run is resumed. */
  readonly order: number;
  need: Need;
  graceMs: number;
  /** File that holds the command of the next launch. */
  plan: string;
  /** Number of the last launch; a launch never reuses a number. */
  attempt: number;
  /** Attempts whose process was up. */
  starts: number;
  state: RunState;
};

export function isActive(state: RunState): state is ActiveState {
  return 'slot' in state;
}
