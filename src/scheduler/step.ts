/**
 * The whole scheduling policy: one event in, the actions to take out.
 *
 * Deterministic in its inputs: it reads no clock, starts no process, writes no file, so tests and
 * crash recovery can play the journal through it and get the same states. The state is changed in
 * place, and an event costs the same whether there are ten runs or ten thousand.
 */
import { assertNever } from '../base/assert-never.js';
import type { GpuIndex, RunId } from '../base/ids.js';
import { failureClass, type Outcome } from '../base/outcome.js';
import type { Breaker, EventOf, SchedulerAction, SchedulerEvent } from './event.js';
import {
  amend,
  continueRun,
  countedOutcome,
  due,
  hold,
  holdForBreaker,
  holdForTarget,
  isRetried,
  kill,
  move,
  pause,
  release,
  resume,
  retryLater,
  setPriority,
  stop,
} from './lifecycle/move.js';
import { lookAgain, passStartTimes, pauseIfOutside } from './lifecycle/start.js';
import { forget, submit, takeIn } from './lifecycle/submit.js';
import { demandOf, freeSlot, hasShare, isPossibleNow, spareCpu, usableGpus } from './placement/placement.js';
import { type Slot, slotName } from './placement/slot.js';
import { closeGroups, groupOf } from './queue/groups.js';
import { isBefore, openHeads } from './queue/queues.js';
import {
  type ActiveState,
  type Ending,
  type GpuDevice,
  type GpuPool,
  type Group,
  inLine,
  isActive,
  type Run,
  type SchedulerState,
  type StepContext,
} from './state.js';

/** The result of an event. `touched`: runs whose own state changed. */
type Step = { actions: readonly SchedulerAction[]; touched: ReadonlySet<RunId> };

export function step(state: SchedulerState, event: SchedulerEvent): Step {
  const turn: StepContext = { state, at: event.at, actions: [], touched: new Set() };
  // A supervisor reads the clock before it knows which runs are up: what follows from that waits for the next event.
  if (event.type !== 'clock-read') passStartTimes(turn);
  react(turn, event);
  launchWaiting(turn);
  return turn;
}

function react(turn: StepContext, event: SchedulerEvent): void {
  switch (event.type) {
    case 'slots-changed':
      return changeSlots(turn.state, event);
    case 'gpus-seen':
      return seeGpus(turn.state, event);
    case 'drain-requested':
      return drain(turn.state, event);
    case 'runs-submitted':
      return submit(turn, event);
    case 'sweep-forgotten':
      return forget(turn, event.sweep);
    case 'groups-closed':
      return closeGroups(turn.state, event.groups, event.reason);
    case 'time-passed':
      return passTime(turn);
    case 'clock-read':
      return noteClock(turn.state, event);
    default:
      return 'ids' in event ? applyRequest(turn, event) : applyAttemptEvent(turn, event);
  }
}

/**
 * Gives free slots to waiting runs: the highest priority first, then the oldest.
 *
 * A later run never takes the GPUs or cores for which an earlier one waits: they are kept for it, so it cannot starve. A run that
 * could not start even if no other run of this supervisor were up is passed over, as keeping room would not help it. Nothing is
 * launched while runs are still being added: the first one in order may be among those.
 */
function launchWaiting(turn: StepContext): void {
  if (turn.state.intakes.length > 0) return;
  for (let next = nextLaunch(turn.state); next !== null; next = nextLaunch(turn.state)) {
    const { run, slot } = next;
    const resumed = run.starts > 0;
    run.attempt += 1;
    move(turn, run, { phase: 'starting', slot, stop: null });
    turn.actions.push({ type: 'launch', id: run.id, attempt: run.attempt, slot, resumed });
  }
}

/** The first run in line for which there is room that is not kept for an earlier one. */
function nextLaunch(state: SchedulerState): { run: Run; slot: Slot } | null {
  const kept = { gpus: new Set<GpuIndex>(), cores: 0 };
  for (const run of line(state)) {
    const demand = demandOf(state, run);
    const slot = freeSlot(state, demand, kept);
    if (slot !== null) return { run, slot };
    kept.cores += demand.cores;
    if (demand.gpus > 0) for (const { index } of usableGpus(state, demand)) kept.gpus.add(index);
  }
  return null;
}

/** The first run of each queue that could start now if it were alone, in the order of their turns. */
function line(state: SchedulerState): Run[] {
  const heads = openHeads(state).filter((run) => isPossibleNow(state, demandOf(state, run)));
  return heads.sort((a, b) => (isBefore(a, b) ? -1 : 1));
}

/** Applies an event of one attempt. */
function applyAttemptEvent(
  turn: StepContext,
  event: EventOf<'run-started' | 'run-ended' | 'launch-failed' | 'launch-withdrawn' | 'rule-met'>,
): void {
  switch (event.type) {
    case 'run-started':
      return started(turn, event);
    case 'run-ended':
      return ended(turn, event, event.outcome);
    case 'launch-failed':
      return ended(turn, event, { kind: 'failed', code: 126, line: event.reason });
    case 'launch-withdrawn':
      return withdrawn(turn, event);
    case 'rule-met':
      return ruleMet(turn, event);
    default:
      return assertNever(event);
  }
}

type Request = Extract<SchedulerEvent, { ids: unknown }>;

/** Applies a request to each of its runs, independently of the others. */
function applyRequest(turn: StepContext, event: Request): void {
  const act = orderOf(event);
  for (const id of event.ids) {
    const run = turn.state.runs.get(id);
    if (run !== undefined) act(turn, run);
  }
}

type Order = (turn: StepContext, run: Run) => void;

/** What each request does to a run; the type makes the table complete. */
const orders: { readonly [Type in Request['type']]: (event: EventOf<Type>) => Order } = {
  'stop-requested': () => (turn, run) => stop(turn, run, { kind: 'asked' }),
  'resume-requested': () => resume,
  'retry-requested': () => resume,
  'hold-requested': ({ reason, breaker }) => {
    if (reason === undefined) return hold;
    if (breaker === undefined) return (turn, run) => holdForTarget(turn, run, reason);
    return (turn, run) => holdForBreaker(turn, run, reason, breaker.values);
  },
  'release-requested': () => release,
  'pause-requested': () => pause,
  'continue-requested': () => continueRun,
  'priority-requested':
    ({ priority }) =>
    (turn, run) =>
      setPriority(turn, run, priority),
};

function orderOf(event: Request): Order {
  // The table maps each type to a function of an event of that type.
  const order = orders[event.type] as (event: Request) => Order;
  return order(event);
}

/** Handles all deadlines up to now, in their order, and adds some more of the submitted runs. */
function passTime(turn: StepContext): void {
  takeIn(turn);
  for (let run = due(turn.state, turn.at); run !== null; run = due(turn.state, turn.at)) meetDeadline(turn, run);
}

/** Handles the deadline of a run. The change of state removes the deadline, so it is never handled twice. */
function meetDeadline(turn: StepContext, run: Run): void {
  const { state } = run;
  if (state.phase === 'waiting') move(turn, run, { ...state, notBefore: null });
  else if (state.phase === 'running') stop(turn, run, { kind: 'timeout', seconds: run.timeoutMs! / 1000 });
  else if (state.phase === 'stopping') kill(turn, run, state);
}

/** Records the clocks; no action follows. */
function noteClock(state: SchedulerState, { at, bootId, bootMs, wallMs }: EventOf<'clock-read'>): void {
  const { boots } = state;
  const last = boots.at(-1);
  const wallAhead = wallMs - at;
  if (last?.bootId === bootId && last.bootMs <= bootMs) boots[boots.length - 1] = { ...last, wallAhead };
  else boots.push({ bootId, from: at, bootMs, wallAhead });
  lookAgain(state);
}

type News = { id: RunId; attempt: number; at: number };

/**
 * Records that an attempt is up. Its slot and number are facts: a newer version that replays the journal may have decided
 * otherwise, and is corrected here.
 */
function started(turn: StepContext, event: EventOf<'run-started'>): void {
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
function ended(turn: StepContext, event: EndNews, outcome: Outcome): void {
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
function withdrawn(turn: StepContext, { id, attempt }: EventOf<'launch-withdrawn'>): void {
  const run = turn.state.runs.get(id);
  if (run?.state.phase === 'waiting') run.attempt = Math.max(run.attempt, attempt);
  if (run === undefined || !isActive(run.state) || run.attempt !== attempt) return;
  if (run.state.phase !== 'starting') run.starts -= 1;
  takeBack(turn, run);
}

/** Ends a run because one of its own rules was met. */
function ruleMet(turn: StepContext, { id, attempt, rule }: EventOf<'rule-met'>): void {
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

/** Changes the slots that may be used. Runs on other slots stay there until they end. */
function changeSlots({ cpu, gpu }: SchedulerState, { cpus, gpus, chosen }: EventOf<'slots-changed'>): void {
  cpu.slots = cpus;
  cpu.chosen = chosen?.cpus ?? false;
  gpu.chosen = chosen?.gpus ?? false;
  gpu.gpus = [...new Set(gpus.map(({ index }) => index))];
  for (const { index, uuid, memory } of gpus) {
    const known = deviceOf(gpu, index);
    gpu.devices.set(index, { ...known, uuid: uuid ?? known.uuid, memory: memory ?? known.memory });
  }
}

/** Records the observed GPUs. Frees no slot: a run on a GPU that is gone has yet to end. */
function seeGpus({ gpu }: SchedulerState, { gpus }: EventOf<'gpus-seen'>): void {
  for (const device of gpu.devices.values()) gpu.devices.set(device.index, { ...device, present: false });
  for (const { memory, present = true, ...seen } of gpus) {
    const known = deviceOf(gpu, seen.index);
    gpu.devices.set(seen.index, { ...known, ...seen, memory: memory ?? known.memory, present });
  }
}

function drain({ gpu }: SchedulerState, { gpus, drained, reason }: EventOf<'drain-requested'>): void {
  for (const index of gpus) gpu.devices.set(index, { ...deviceOf(gpu, index), drained, drainReason: reason });
}

/** What is known of a GPU; one that was never observed counts as present and free. */
function deviceOf({ devices }: GpuPool, index: GpuIndex): GpuDevice {
  const known = devices.get(index);
  if (known !== undefined) return known;
  const usage = { memory: null, foreignMemory: 0, foreign: [], leasedBy: null };
  return { index, uuid: null, ...usage, drained: false, present: true };
}

/**
 * Records the memory that a run of the group took. A run that was interrupted early may have taken less than its siblings will, so
 * it can raise a known figure but not set the first. `gpuMemory`: the most on one GPU, MiB.
 */
function learnMemory({ state }: StepContext, run: Run, outcome: Outcome, gpuMemory: number | undefined): void {
  const group = groupOf(state, run.group);
  if (gpuMemory === undefined || gpuMemory <= (group.peakMemory ?? 0)) return;
  if (group.peakMemory !== null || isFullGrown(outcome)) group.peakMemory = gpuMemory;
}

function isFullGrown({ kind }: Outcome): boolean {
  return kind === 'done' || kind === 'oom' || kind === 'timeout';
}
