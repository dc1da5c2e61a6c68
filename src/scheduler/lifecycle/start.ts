/**
 * Opens and closes groups by their start times. Every event but the reading of a clock moves the time on, and the supervisor sends
 * one at the time of the next change. All instants here are of the wall clock, which the state knows by `clock-read`.
 */
import type { GroupId } from '../../base/ids.js';
import { clockText } from '../../text/zoned-time.js';
import { groupOf } from '../queue/groups.js';
import { requeue } from '../queue/queues.js';
import { isTooEarly, wallTime } from '../start/group-start.js';
import { earliestStart, openingAt, type StartTimes } from '../start/start-times.js';
import type { Group, GroupStart, Run, SchedulerState, StepContext } from '../state.js';
import { continueRun, pause } from './move.js';

/** How long before it opens a group counts as about to open, ms: what its runs need has to be looked at first. */
const SOON_MS = 30_000;

/**
 * Gives a group its start times, counted from now. A group with runs that wait or are up keeps equal ones that it has: a file that
 * is launched again does not put off what was launched before.
 */
export function setStart(turn: StepContext, id: GroupId, times: StartTimes | undefined): void {
  const group = groupOf(turn.state, id);
  const isKept = JSON.stringify(group.start?.times) === JSON.stringify(times);
  if (isKept && (times === undefined || hasLiveRuns(turn.state, group))) return;
  for (const run of group.runs) turn.state.runs.get(run)!.early = false;
  const now = wallTime(turn.state, turn.at);
  change(turn, group, times === undefined ? null : startFrom(times, earliestStart(times, now), now));
}

function hasLiveRuns({ active, runs }: SchedulerState, { id, waiting }: Group): boolean {
  return waiting.size > 0 || [...active].some((run) => runs.get(run)!.group === id);
}

/** Opens and closes the groups whose time has come. */
export function passStartTimes(turn: StepContext): void {
  const { scheduled } = turn.state;
  if (scheduled.size === 0) return;
  const now = wallTime(turn.state, turn.at);
  for (const id of scheduled) {
    const group = groupOf(turn.state, id);
    const { times, notBefore, checkAt } = group.start!;
    if (checkAt !== null && checkAt <= now) change(turn, group, startFrom(times, notBefore, now));
  }
}

/** Makes the next event look at all groups again, as the wall clock was set. */
export function lookAgain({ scheduled, groups }: SchedulerState): void {
  for (const id of scheduled) {
    const group = groups.get(id)!;
    if (group.start!.checkAt !== null) group.start = { ...group.start!, checkAt: 0 };
  }
}

/** Pauses a run that came up after its window had ended. */
export function pauseIfOutside(turn: StepContext, run: Run): void {
  const { start } = groupOf(turn.state, run.group);
  if (start?.times.pauses === true && isTooEarly(turn.state, run)) pause(turn, run, 'window');
}

/** What the times allow at an instant. `notBefore`: by `at` and `after`; null: that has passed, and stays so if the clock is put back. */
function startFrom(times: StartTimes, notBefore: number | null, now: number): GroupStart {
  const from = Math.max(notBefore ?? now, now);
  const opening = openingAt(times, from);
  const still = from > now ? notBefore : null;
  const opensAt = opening.isOpen ? from : opening.opensAt;
  // Worked out once, as thousands of runs say it.
  const opens = clockText(times.zone, opensAt, now);
  const common = { times, notBefore: still, opensAt, opens };
  if (opening.isOpen && from === now) return { ...common, phase: 'open', checkAt: opening.until };
  const isSoon = opensAt - now <= SOON_MS;
  return { ...common, phase: isSoon ? 'soon' : 'later', checkAt: isSoon ? opensAt : opensAt - SOON_MS };
}

function change(turn: StepContext, group: Group, next: GroupStart | null): void {
  const { state, touched } = turn;
  const wasOpen = group.start === null || group.start.phase === 'open';
  group.start = next;
  if (next === null) state.scheduled.delete(group.id);
  else state.scheduled.add(group.id);
  for (const id of group.waiting) {
    requeue(state, state.runs.get(id)!);
    touched.add(id);
  }
  for (const id of group.runs) {
    const run = state.runs.get(id)!;
    if (next === null || next.phase === 'open') openFor(turn, run);
    // A run that a user continues outside of its window is left alone.
    else if (wasOpen) pauseIfOutside(turn, run);
  }
}

/** Continues a run that was paused when the window ended. */
function openFor(turn: StepContext, run: Run): void {
  run.early = false;
  if (run.state.phase === 'running' && run.state.pausedBy === 'window') continueRun(turn, run);
}
