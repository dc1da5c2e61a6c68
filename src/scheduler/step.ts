/**
 * The whole scheduling policy: one event in, the actions to take out.
 *
 * Deterministic in its inputs: it reads no clock, starts no process, writes no file, so tests and
 * crash recovery can play the journal through it and get the same states. The state is changed in
 * place, and an event costs the same whether there are ten runs or ten thousand.
 */
import type { RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { SchedulerAction } from './action.js';
import type { EventOf, SchedulerEvent } from './event.js';
import { launchWaiting } from './launch.js';
import { move } from './move.js';
import { isActive, type Run } from './run-state.js';
import type { SchedulerState } from './state.js';
import { killOverdue, stop, verdict } from './stop.js';
import { forget, submit } from './submit.js';
import type { Turn } from './turn.js';

/** What came of an event. `touched`: runs whose own state changed. */
export type Step = { actions: readonly SchedulerAction[]; touched: ReadonlySet<RunId> };

export function step(state: SchedulerState, event: SchedulerEvent): Step {
  const turn: Turn = { state, at: event.at, actions: [], touched: new Set() };
  react(turn, event);
  launchWaiting(turn);
  return turn;
}

function react(turn: Turn, event: SchedulerEvent): void {
  switch (event.type) {
    case 'slots-changed':
      return changeSlots(turn.state, event);
    case 'runs-submitted':
      return submit(turn, event);
    case 'run-started':
      return started(turn, event);
    case 'run-ended':
      return ended(turn, event, event.outcome);
    case 'launch-failed':
      return ended(turn, event, { kind: 'failed', code: 126, line: event.reason });
    case 'launch-withdrawn':
      return withdrawn(turn, event);
    case 'rule-met':
      return forAttempt(turn, event, (run) => stop(turn, run, { kind: 'rule', rule: event.rule }));
    default:
      return reactToRequest(turn, event);
  }
}

function reactToRequest(turn: Turn, event: Exclude<SchedulerEvent, EventOf<'slots-changed'>>): void {
  switch (event.type) {
    case 'stop-requested':
      return forEachKnown(turn, event.ids, (run) => stop(turn, run, { kind: 'asked' }));
    case 'resume-requested':
      return forEachKnown(turn, event.ids, (run) => resume(turn, run));
    case 'time-passed':
      return killOverdue(turn);
    case 'sweep-forgotten':
      return forget(turn, event.sweep);
    default: // The rest of the policy is still to come.
  }
}

function changeSlots(state: SchedulerState, { cpus, gpus }: EventOf<'slots-changed'>): void {
  state.cpu.slots = cpus;
  state.gpu.gpus = gpus.map(({ index }) => index).sort((a, b) => a - b);
}

function started(turn: Turn, event: EventOf<'run-started'>): void {
  forAttempt(turn, event, (run) => {
    if (run.state.phase !== 'starting') return;
    const { slot, stop: cause } = run.state;
    run.starts += 1;
    move(turn, run, { phase: 'running', slot, pid: event.pid, since: event.at });
    if (cause !== null) stop(turn, run, cause);
  });
}

function ended(turn: Turn, event: { id: RunId; attempt: number; at: number }, outcome: Outcome): void {
  forAttempt(turn, event, (run) => {
    const since = 'since' in run.state ? run.state.since : null;
    move(turn, run, { phase: 'ended', outcome: verdict(run.state, outcome), since, at: event.at });
  });
}

function withdrawn(turn: Turn, event: EventOf<'launch-withdrawn'>): void {
  forAttempt(turn, event, (run) => {
    if (run.state.phase !== 'starting') return;
    const { stop: cause } = run.state;
    move(turn, run, { phase: 'waiting' });
    if (cause !== null) stop(turn, run, cause);
  });
}

function resume(turn: Turn, run: Run): void {
  if (run.state.phase === 'ended') move(turn, run, { phase: 'waiting' });
}

/** Acts on the run if it holds a slot and the news is of its present attempt: late news of the dead is not an error. */
function forAttempt({ state }: Turn, { id, attempt }: { id: RunId; attempt: number }, act: (run: Run) => void): void {
  const run = state.runs.get(id);
  if (run !== undefined && run.attempt === attempt && isActive(run.state)) act(run);
}

function forEachKnown({ state }: Turn, ids: readonly RunId[], act: (run: Run) => void): void {
  for (const id of ids) {
    const run = state.runs.get(id);
    if (run !== undefined) act(run);
  }
}
