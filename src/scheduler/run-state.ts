import type { GroupId, RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { Retry } from './event.js';
import type { Need, Slot } from './placement/slot.js';

/** Why a run is being ended: a user asked, its `stop_when` rule was met, or it exceeded its timeout. */
export type StopCause = { kind: 'asked' } | { kind: 'rule'; rule: string } | { kind: 'timeout'; seconds: number };

/**
 * Why a waiting run is not started even if there is room. `reason`: which failures the breaker saw, or which run met the target.
 * `values`: those that these failures and this run have in common; absent: the whole group is held.
 */
type Hold = { by: 'person' } | { by: 'breaker'; reason: string; values?: string } | { by: 'target'; reason: string };

/** How an attempt ended. `since`: when it came up; null: it never did. Unix ms. */
export type Ending = { outcome: Outcome; since: number | null; at: number };

/**
 * `notBefore`: the time of an automatic retry; null: the run may start as soon as there is room. `last`: the ending that an
 * automatic retry follows, so that records show it; null otherwise.
 */
type Waiting = { phase: 'waiting'; notBefore: number | null; last: Ending | null };

/** Where a run is in its life. Each state holds the facts that exist in it, and no others. Times: Unix ms. */
export type RunState =
  | Waiting
  | { phase: 'starting'; slot: Slot; stop: StopCause | null }
  /**
   * `pausedAt`: null while it is not paused. `pausedMs`: total of its earlier pauses. `pausedBy`: set while it is paused because the
   * window of its group has ended.
   */
  | {
      phase: 'running';
      slot: Slot;
      pid: number;
      since: number;
      pausedAt: number | null;
      pausedMs: number;
      pausedBy?: 'window';
    }
  | { phase: 'stopping'; slot: Slot; pid: number; since: number; stop: StopCause; killAt: number }
  | { phase: 'killing'; slot: Slot; pid: number; since: number; stop: StopCause }
  | ({ phase: 'ended' } & Ending);

/** The part of a submission that governs a run's attempts. `plan`: file that holds its command. */
export type Terms = {
  plan: string;
  need: Need;
  graceMs: number;
  /** Runs of a higher priority start first. */
  priority: number;
  /** Longest time it may be up, without its pauses; null: no limit. */
  timeoutMs: number | null;
  retry: Retry;
};

/** A state in which the run holds a slot. */
export type ActiveState = Extract<RunState, { slot: Slot }>;

/** The state of a run that waits for nothing but a slot. */
export const inLine: Waiting = { phase: 'waiting', notBefore: null, last: null };

/** `plan` and the other terms are those of the present attempt, or of the next where there is none. */
export type Run = Terms & {
  readonly id: RunId;
  readonly sweep: string;
  /** Changes only when an edited file moves the run to another group. */
  group: GroupId;
  /**
   * Place in the queue among runs of its priority: the order of submission, and within a sweep that of its file; a resumed run
   * keeps it.
   */
  order: number;
  /** Place among the runs of its sweep: the order of the file. */
  place: number;
  /** Runs that must be done first; only `setNeededRuns` changes it. */
  needs: readonly RunId[];
  /** Number of automatic retries in a row. */
  retried: number;
  /** It ran out of memory on a shared GPU, and gets the next one to itself. */
  alone: boolean;
  /** Null unless the run waits. */
  hold: Hold | null;
  /** A user has let it start before the start time of its group, until that opens. */
  early: boolean;
  /** Its budget was raised while it was up: the terms by which it continues when this attempt has ended. */
  next: Terms | null;
  /** Number of the last launch; a launch never reuses a number. */
  attempt: number;
  /** Number of attempts whose process came up. */
  starts: number;
  /** Times of the attempts that were up and have ended, in their order. */
  past: readonly UpTime[];
  state: RunState;
};

/** Start and end of a process, Unix ms. */
export type UpTime = readonly [since: number, at: number];

export function isActive(state: RunState): state is ActiveState {
  return 'slot' in state;
}

/** Whether the run waits for the time of a retry, rather than for room. */
export function isInBackoff(state: RunState): state is Waiting & { notBefore: number; last: Ending } {
  return state.phase === 'waiting' && state.notBefore !== null && state.last !== null;
}
