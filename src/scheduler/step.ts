/**
 * The whole scheduling policy: one event in, the actions to take out.
 *
 * Deterministic in its inputs: it reads no clock, starts no process, writes no file, so tests and
 * crash recovery can play the journal through it and get the same states. The state is changed in
 * place, and an event costs the same whether there are ten runs or ten thousand.
 */
import { assertNever } from '../base/assert-never.js';
import type { RunId } from '../base/ids.js';
import type { SchedulerAction, StepContext } from './action.js';
import type { EventOf, SchedulerEvent } from './event.js';
import { ended, ruleMet, started, withdrawn } from './lifecycle/attempts.js';
import { due } from './lifecycle/deadlines.js';
import { continueRun, hold, holdForBreaker, holdForTarget, pause, release, setPriority } from './lifecycle/hold.js';
import { move } from './lifecycle/move.js';
import { resume } from './lifecycle/retry.js';
import { lookAgain, passStartTimes } from './lifecycle/start.js';
import { kill, stop } from './lifecycle/stop.js';
import { forget, submit, takeIn } from './lifecycle/submit.js';
import { changeSlots, drain, seeGpus } from './placement/gpu-inventory.js';
import { closeGroups } from './queue/open-groups.js';
import { launchWaiting } from './queue/launch.js';
import type { Run } from './run-state.js';
import type { SchedulerState } from './state.js';

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
