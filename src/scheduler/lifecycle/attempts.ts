import type { GpuIndex, RunId } from '../../base/ids.js';
import { failureClass, type Outcome } from '../../base/outcome.js';
import type { StepContext } from '../action.js';
import type { Breaker, EventOf } from '../event.js';
import { learnMemory } from '../placement/gpu-inventory.js';
import { demandOf, freeSlot, hasShare, spareCpu } from '../placement/placement.js';
import { type Slot, slotName } from '../placement/slot.js';
import { groupOf } from '../queue/groups.js';
import { type ActiveState, type Ending, inLine, isActive, type Run } from '../run-state.js';
import type { Group } from '../state.js';
import { amend, move } from './move.js';
import { pauseIfOutside } from './start.js';
import { isRetried, retryLater } from './retry.js';
import { countedOutcome, stop } from './stop.js';

type News = { id: RunId; attempt: number; at: number };

/**
 * Records that an attempt is up. Its slot and number are facts: a newer version that replays the journal may have decided
 * otherwise, and is corrected here.
 */
export function started(turn: StepContext, event: EventOf<'run-started'>): void {
  const run = turn.state.runs.get(event.id);
  if (run === undefined || !couldBeUp(run, event.attempt)) return;
  const cause = run.state.phase === 'starting' ? run.state.stop : null;
  const told = event.slot ?? likelySlot(turn, run);
  // The run keeps the object that it has: else it would leave its slot for a moment.
  const slot = isHeld(run, told) ? run.state.slot : told;
  run.attempt = event.attempt;
  run.starts += 1;
  makeRoom(turn, run, slot);
  move(turn, run, { phase: 'running', slot, pid: event.pid, since: event.at, pausedAt: null, pausedMs: 0 });
  if (cause !== null) stop(turn, run, cause);
  else pauseIfOutside(turn, run);
}

type EndNews = News & { gpuMemory?: number | undefined; agoMs?: number | undefined };

/** Records the end of an attempt. `gpuMemory`: the most it held on one GPU, MiB. `agoMs`: how long ago it ended. */
export function ended(turn: StepContext, event: EndNews, outcome: Outcome): void {
  const run = turn.state.runs.get(event.id);
  if (run === undefined || !couldHaveEnded(run, event.attempt)) return;
  const { state: was } = run;
  const since = 'since' in was ? was.since : null;
  const ending = { outcome: countedOutcome(was, outcome), since, at: timeOfEnd(event, since) };
  run.attempt = event.attempt;
  if (since !== null) run.past = [...run.past, [since, ending.at]];
  learnMemory(turn, run, ending.outcome, event.gpuMemory);
  const goesOn = run.next !== null && ending.outcome.kind === 'done' && ending.outcome.rule === undefined;
  takeNextTerms(run);
  // One ms later, so that a client that polls sees the end of this attempt before the next one starts.
  if (goesOn) move(turn, run, { ...inLine, notBefore: ending.at + 1, last: ending });
  else if (isRetried(run, ending.outcome)) retryLater(turn, run, ending, isActive(was) ? was.slot : null);
  else move(turn, run, { phase: 'ended', ...ending });
  watchForBreakage(turn, run, ending);
}

/** Time of the end, never before the start, which a clock that was set could imply. */
function timeOfEnd({ at, agoMs = 0 }: EndNews, since: number | null): number {
  return Math.max(since ?? -Infinity, at - agoMs);
}

/** Switches to the terms that were submitted while the run was up, for its next attempt. */
function takeNextTerms(run: Run): void {
  if (run.next !== null) Object.assign(run, run.next, { next: null, retried: 0 });
}

/** Takes back a launch that did not happen, even if it seemed to; its number stays used. */
export function withdrawn(turn: StepContext, { id, attempt }: EventOf<'launch-withdrawn'>): void {
  const run = turn.state.runs.get(id);
  if (run?.state.phase === 'waiting') run.attempt = Math.max(run.attempt, attempt);
  if (run === undefined || !isActive(run.state) || run.attempt !== attempt) return;
  if (run.state.phase !== 'starting') run.starts -= 1;
  takeBack(turn, run);
}

/** Ends a run because one of its own rules was met. */
export function ruleMet(turn: StepContext, { id, attempt, rule }: EventOf<'rule-met'>): void {
  const run = turn.state.runs.get(id);
  if (run !== undefined && run.attempt === attempt && isActive(run.state)) stop(turn, run, { kind: 'rule', rule });
}

/** Whether news of a start can be true. Late news of an attempt that is over is ignored. */
function couldBeUp({ state, attempt }: Run, started: number): boolean {
  return state.phase === 'starting' ? started >= attempt : !isActive(state) && started > attempt;
}

function couldHaveEnded({ state, attempt }: Run, ended: number): boolean {
  return isActive(state) ? ended === attempt : state.phase === 'waiting' && ended > attempt;
}

/** The probable slot of a run for which the journal does not name one, as in version 1. */
function likelySlot({ state }: StepContext, run: Run): Slot {
  if (run.state.phase === 'starting') return run.state.slot;
  return freeSlot(state, demandOf(state, run)) ?? spareCpu(state.cpu);
}

/**
 * Counts quick failures in the group; when enough runs in a row failed soon after their start, all waiting runs of the group,
 * retries included, are held, as they would probably fail for the same reason. A run that fails again after a retry tells nothing
 * about the others and does not count.
 */
function watchForBreakage(turn: StepContext, run: Run, ending: Ending): void {
  const group = groupOf(turn.state, run.group);
  const { breaker } = group;
  if (breaker === null || ending.outcome.kind === 'killed') return;
  const before = group.quickFailures.size;
  if (isQuickFailure(ending, breaker)) group.quickFailures.add(run.id);
  else group.quickFailures.clear();
  const { size } = group.quickFailures;
  if (size < breaker.failures) return;
  if (before < breaker.failures) group.trips++;
  const reason = reasonOf(group, breaker);
  if (group.open !== null) group.open = { ...group.open, closed: group.open.closed ?? { by: 'breaker', reason } };
  for (const id of group.waiting) {
    const other = turn.state.runs.get(id)!;
    if (other.hold === null) amend(turn, other, { hold: { by: 'breaker', reason } });
  }
}

function isQuickFailure({ outcome, since, at }: Ending, { withinMs }: Breaker): boolean {
  return failureClass(outcome) !== null && (since === null || at - since <= withinMs);
}

function reasonOf({ quickFailures, trips }: Group, { withinMs }: Breaker): string {
  const runs = quickFailures.size === 1 ? 'a run' : `${quickFailures.size} runs in a row`;
  return `${runs} failed within ${withinMs / 1000} s of starting${trips > 1 ? ', again' : ''}`;
}

/** Puts a run that is not up after all back in the queue; one that was to be stopped has ended. */
function takeBack(turn: StepContext, run: Run): void {
  const cause = 'stop' in run.state ? run.state.stop : null;
  if (run.next !== null) Object.assign(run, run.next, { next: null });
  move(turn, run, inLine);
  if (cause !== null) stop(turn, run, cause);
}

/**
 * Frees a slot for a run that is known to be there. A launch that was decided for the same room cannot have happened, and is undone
 * with its number: the journal still has to report that attempt.
 */
function makeRoom(turn: StepContext, run: Run, slot: Slot): void {
  if (isHeld(run, slot)) return;
  if (slot.kind === 'cpu') clearCpu(turn, slot.index);
  else slot.gpus.forEach((gpu) => clearGpu(turn, run, gpu));
}

function isHeld(run: Run, slot: Slot): run is Run & { state: ActiveState } {
  return isActive(run.state) && slotName(run.state.slot) === slotName(slot);
}

function clearCpu(turn: StepContext, index: number): void {
  const { cpu, runs } = turn.state;
  const holder = cpu.holders.get(index);
  const other = holder === undefined ? undefined : runs.get(holder)!;
  if (other?.state.phase === 'starting') undo(turn, other);
  // The slot of the other run was a guess.
  else if (other !== undefined && isActive(other.state)) move(turn, other, { ...other.state, slot: spareCpu(cpu) });
}

function clearGpu(turn: StepContext, run: Run, gpu: GpuIndex): void {
  const { state } = turn;
  const { perGpu } = demandOf(state, run);
  const holders = state.gpu.shares.get(gpu) ?? new Map<RunId, number>();
  for (const id of [...holders.keys()].reverse()) {
    if (hasShare(holders, perGpu)) return;
    const other = state.runs.get(id)!;
    if (other.state.phase === 'starting' && other !== run) undo(turn, other);
  }
}

function undo(turn: StepContext, run: Run): void {
  run.attempt -= 1;
  takeBack(turn, run);
}
