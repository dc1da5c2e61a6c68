import { failureClass, type Outcome } from '../../base/outcome.js';
import { demandOf, occupy, vacate } from '../placement/placement.js';
import type { Slot } from '../placement/slot.js';
import { completionChanged, groupOf, neededRunChanged } from '../queue/groups.js';
import { requeue } from '../queue/queues.js';
import { isTooEarly, nextStartCheck } from '../start/group-start.js';
import {
  type Ending,
  type Group,
  inLine,
  isActive,
  isInBackoff,
  type Run,
  type RunState,
  type SchedulerState,
  type StepContext,
  type StopCause,
} from '../state.js';

/** Moves one run to its next state and keeps every index correct. The only place where a run's state is written. */
export function move(turn: StepContext, run: Run, next: RunState): void {
  const { state, touched } = turn;
  const group = groupOf(state, run.group);
  const done = group.done.size;
  const hadEnded = run.state.phase === 'ended';
  if (isActive(run.state) && slotOf(next) !== run.state.slot) vacate(state, run.id, run.state.slot);
  run.state = next;
  if (next.phase !== 'waiting') run.hold = null;
  file(state, run, group);
  touched.add(run.id);
  if (next.phase === 'waiting' || group.done.size !== done || group.dropped.has(run.id))
    completionChanged(state, group);
  if (hadEnded || next.phase === 'ended') neededRunChanged(turn, run.id);
}

/** Changes properties that a run has in any state. */
export function amend(
  { state, touched }: StepContext,
  run: Run,
  facts: Partial<Pick<Run, 'hold' | 'early' | 'priority' | 'order' | 'place'>>,
): void {
  Object.assign(run, facts);
  touched.add(run.id);
  index(state, run);
}

/** Enters a run into every index by its present state. */
export function file(state: SchedulerState, run: Run, group: Group): void {
  const { id, state: now } = run;
  if (isActive(now)) occupy(state, id, now.slot, demandOf(state, run));
  mark(state.active, id, isActive(now));
  mark(group.waiting, id, now.phase === 'waiting');
  mark(group.done, id, now.phase === 'ended' && now.outcome.kind === 'done');
  mark(group.broken, id, now.phase === 'ended' && now.outcome.kind !== 'done');
  index(state, run);
}

function index(state: SchedulerState, run: Run): void {
  setDeadline(state, run);
  requeue(state, run);
}

function slotOf(next: RunState): Slot | null {
  return isActive(next) ? next.slot : null;
}

function mark<Id>(set: Set<Id>, id: Id, belongs: boolean): void {
  if (belongs) set.add(id);
  else set.delete(id);
}

/** Keeps a waiting run from starting until a user releases it. A run that is up is left alone. */
export function hold(turn: StepContext, run: Run): void {
  if (run.state.phase === 'waiting' && run.hold?.by !== 'person') amend(turn, run, { hold: { by: 'person' } });
}

/** Keeps a waiting run from starting because a run of its group met its target; a user may release it. */
export function holdForTarget(turn: StepContext, run: Run, reason: string): void {
  if (run.state.phase === 'waiting' && run.hold === null) amend(turn, run, { hold: { by: 'target', reason } });
}

/** Keeps a waiting run from starting because of the failures of its group. */
export function holdForBreaker(turn: StepContext, run: Run, reason: string, values: string | null): void {
  if (run.state.phase !== 'waiting' || (run.hold !== null && run.hold.by !== 'breaker')) return;
  amend(turn, run, { hold: { by: 'breaker', reason, ...(values === null ? {} : { values }) } });
}

/** Lets a held run start, whoever held it; one that is not held, before its start time. */
export function release(turn: StepContext, run: Run): void {
  if (run.hold === null) {
    if (run.state.phase === 'waiting' && isTooEarly(turn.state, run)) amend(turn, run, { early: true });
    return;
  }
  amend(turn, run, { hold: null });
  trustAgain(turn, run);
}

/** Releases a run that the breaker holds, as a user wants it to start. */
export function liftBreaker(turn: StepContext, run: Run): void {
  if (run.hold?.by === 'breaker') release(turn, run);
}

/** Resets the failures of a run's group and reopens it, because a user has acted on it. */
export function trustAgain({ state }: StepContext, run: Run): void {
  const group = groupOf(state, run.group);
  group.quickFailures.clear();
  if (group.open?.closed?.by === 'breaker') group.open = { ...group.open, closed: null };
}

/** Changes a run's priority in the queue; for a run that is up, in the queue after its end. */
export function setPriority(turn: StepContext, run: Run, priority: number): void {
  if (run.priority !== priority) amend(turn, run, { priority });
}

/** Pauses a running run. `by`: the end of its window asks for it, not a user. It keeps its slot; its timeout is paused too. A run that is not up is left alone. */
export function pause(turn: StepContext, run: Run, by?: 'window'): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt !== null) return;
  move(turn, run, { ...state, pausedAt: turn.at, ...(by === undefined ? {} : { pausedBy: by }) });
  turn.actions.push({ type: 'pause', id, attempt });
}

/** Continues a paused run. */
export function continueRun(turn: StepContext, run: Run): void {
  const { state, id, attempt } = run;
  if (state.phase !== 'running' || state.pausedAt === null) return;
  const { phase, slot, pid, since } = state;
  const pausedMs = state.pausedMs + Math.max(0, turn.at - state.pausedAt);
  move(turn, run, { phase, slot, pid, since, pausedAt: null, pausedMs });
  turn.actions.push({ type: 'continue', id, attempt });
}

/**
 * Ends a run: with SIGTERM if it is up (paused or not), at once if it waits, and as soon as it is up if it is starting. A second
 * call changes nothing, except that a user's request replaces a timeout as the cause, as a run that a user ended is not retried.
 */
export function stop(turn: StepContext, run: Run, cause: StopCause): void {
  const { at } = turn;
  const was = run.state;
  switch (was.phase) {
    case 'waiting':
      return move(turn, run, { phase: 'ended', outcome: { kind: 'killed' }, since: null, at });
    case 'starting':
      return move(turn, run, { ...was, stop: was.stop ?? cause });
    case 'running': {
      const { slot, pid, since } = was;
      move(turn, run, { phase: 'stopping', slot, pid, since, stop: cause, killAt: at + run.graceMs });
      turn.actions.push({ type: 'terminate', id: run.id, attempt: run.attempt });
      return;
    }
    case 'ended':
      return;
    default: // On its way out.
      if (was.stop.kind === 'timeout' && cause.kind === 'asked') move(turn, run, { ...was, stop: cause });
  }
}

/** Sends SIGKILL to a run whose grace period is over. */
export function kill(turn: StepContext, run: Run, { slot, pid, since, stop: cause }: Stopping): void {
  move(turn, run, { phase: 'killing', slot, pid, since, stop: cause });
  turn.actions.push({ type: 'kill', id: run.id, attempt: run.attempt });
}

type Stopping = Extract<RunState, { phase: 'stopping' }>;

/** The outcome that counts: a run that was told to stop was stopped, whatever its exit code. */
export function countedOutcome(was: RunState, outcome: Outcome): Outcome {
  const cause = 'stop' in was ? was.stop : null;
  switch (cause?.kind) {
    case undefined:
      return outcome;
    case 'asked':
      return { kind: 'killed' };
    case 'rule':
      return { kind: 'done', rule: cause.rule };
    case 'timeout':
      return { kind: 'timeout', seconds: cause.seconds };
  }
}

/** Upper limit of the doubling backoff, ms. */
const LONGEST_BACKOFF = 3_600_000;

/** Whether the run is retried automatically after this outcome. */
export function isRetried({ retry, retried }: Run, outcome: Outcome): boolean {
  const failure = failureClass(outcome);
  return failure !== null && retried < retry.max && retry.on.includes(failure);
}

/** Puts a failed run back in the queue after its backoff. `slot`: its last slot. */
export function retryLater(turn: StepContext, run: Run, ending: Ending, slot: Slot | null): void {
  const wait = backoffMs(run);
  run.retried += 1;
  if (ending.outcome.kind === 'oom' && slot?.kind === 'gpu' && run.need.perGpu > 1) run.alone = true;
  move(turn, run, { ...inLine, notBefore: wait === 0 ? null : ending.at + wait, last: ending });
}

/**
 * Puts an ended run back in the queue, and lets one that waits for a retry or is held by the breaker start at once. Its automatic
 * retries are counted from zero.
 */
export function resume(turn: StepContext, run: Run): void {
  const { state } = run;
  if (state.phase === 'ended') return requeueByHand(turn, run);
  if (state.phase !== 'waiting') return;
  run.retried = 0;
  if (isInBackoff(state)) move(turn, run, { ...state, notBefore: null });
  liftBreaker(turn, run);
}

/** Puts an ended run back in the queue at a user's request. */
function requeueByHand(turn: StepContext, run: Run): void {
  run.retried = 0;
  trustAgain(turn, run);
  move(turn, run, inLine);
}

function backoffMs({ retry, retried }: Run): number {
  return Math.max(retry.backoffMs, Math.min(LONGEST_BACKOFF, retry.backoffMs * 2 ** retried));
}

/**
 * When `time-passed` is needed next, Unix ms; null while no run has a deadline and no group a start time. While runs are still to be added, that is at once.
 */
export function nextDeadline(state: SchedulerState): number | null {
  const [intake] = state.intakes;
  if (intake !== undefined) return intake.submission.at;
  const times = [nextRunDeadline(state), nextStartCheck(state)].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The first deadline of a run; null: none has one. */
export function nextRunDeadline({ deadlines }: SchedulerState): number | null {
  return deadlines.firstRank()?.[0] ?? null;
}

/** The first run whose deadline has passed, or null. */
export function due({ deadlines, runs }: SchedulerState, at: number): Run | null {
  const rank = deadlines.firstRank();
  return rank === null || rank[0] > at ? null : runs.get(deadlines.first()!)!;
}

/** Must be called when a run has changed. */
function setDeadline({ deadlines }: SchedulerState, run: Run): void {
  const at = deadlineOf(run);
  if (at === null) deadlines.delete(run.id);
  else deadlines.set(run.id, [at, run.order]);
}

/** The time of the next change that needs no event: its kill, its retry, or its timeout. */
function deadlineOf({ state, hold, timeoutMs }: Run): number | null {
  switch (state.phase) {
    case 'waiting':
      return hold === null ? state.notBefore : null;
    case 'running':
      return timeoutMs === null || state.pausedAt !== null ? null : state.since + timeoutMs + state.pausedMs;
    case 'stopping':
      return state.killAt;
    default:
      return null;
  }
}
