import type { GroupId, RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { Retry } from './event.js';
import type { Need, Slot } from './placement/slot.js';

/** Why a run is being ended: a person asked, its `stop_when` held, or it used up its time. */
export type StopCause = { kind: 'asked' } | { kind: 'rule'; rule: string } | { kind: 'timeout'; seconds: number };

/** Why a waiting run does not start, whatever room there is. `reason`: what the breaker saw, or which run met the target. */
type Hold = { by: 'person' } | { by: 'breaker'; reason: string } | { by: 'target'; reason: string };

/** How an attempt ended. `since`: when it was up; null: it never was. Unix ms. */
export type Ending = { outcome: Outcome; since: number | null; at: number };

/**
 * `notBefore`: an automatic retry waits for that moment; null: it may start as soon as there is room.
 * `last`: the ending that an automatic retry follows, so that whoever keeps records sees that attempt's end; null otherwise.
 */
type Waiting = { phase: 'waiting'; notBefore: number | null; last: Ending | null };

/** Where a run is in its life. Each state holds the facts that exist in it, and no others. Times: Unix ms. */
export type RunState =
  | Waiting
  | { phase: 'starting'; slot: Slot; stop: StopCause | null }
  /** `pausedAt`: null while it is not paused. `pausedMs`: its pauses so far, without the present one. */
  | { phase: 'running'; slot: Slot; pid: number; since: number; pausedAt: number | null; pausedMs: number }
  | { phase: 'stopping'; slot: Slot; pid: number; since: number; stop: StopCause; killAt: number }
  | { phase: 'killing'; slot: Slot; pid: number; since: number; stop: StopCause }
  | ({ phase: 'ended' } & Ending);

/** What a submit says of a run. `plan`: file that holds its command. */
export type Terms = {
  plan: string;
  need: Need;
  graceMs: number;
  /** The higher goes first. */
  priority: number;
  /** Longest time it may be up, without its pauses; null: for ever. */
  timeoutMs: number | null;
  retry: Retry;
};

/** A state in which the run holds a slot. */
export type ActiveState = Extract<RunState, { slot: Slot }>;

/** Waits, for nothing but its turn. */
export const inLine: Waiting = { phase: 'waiting', notBefore: null, last: null };

/** `plan` and the other terms are those of the present attempt, or of the next where there is none. */
export type Run = Terms & {
  readonly id: RunId;
  readonly sweep: string;
  /** Changes only when a file that was edited puts the run into another one. */
  group: GroupId;
  /** Place in the queue among runs of its priority: the order of submission, within a sweep that of its file; kept when it is resumed. */
  order: number;
  /** Place among the runs of its sweep: the order of the file. */
  place: number;
  /** Runs that must be done first; changed by `setNeededRuns` alone. */
  needs: readonly RunId[];
  /** Automatic retries used in a row. */
  retried: number;
  /** It ran out of memory on a GPU that it shared, and has the next one to itself. */
  alone: boolean;
  /** Null unless the run waits. */
  hold: Hold | null;
  /** Its budget was raised while it was up: what it goes on by when this attempt has ended. */
  next: Terms | null;
  /** Number of the last launch; a launch never reuses a number. */
  attempt: number;
  /** Attempts whose process was up. */
  starts: number;
  /** Attempts that were up and have ended, in their order. */
  past: readonly UpTime[];
  state: RunState;
};

/** From when to when a process was up. Unix ms. */
export type UpTime = readonly [since: number, at: number];

export function isActive(state: RunState): state is ActiveState {
  return 'slot' in state;
}

/** Whether it waits for a moment, rather than for room. */
export function isInBackoff(state: RunState): state is Waiting & { notBefore: number; last: Ending } {
  return state.phase === 'waiting' && state.notBefore !== null && state.last !== null;
}
