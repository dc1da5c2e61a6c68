import type { GroupStart, Run, SchedulerState } from '../state.js';

/** The wall clock at a time of the scheduler's clock, as last read. Unix ms. */
export function wallTime({ boots }: Pick<SchedulerState, 'boots'>, at: number): number {
  return at + wallAhead(boots);
}

function wallAhead(boots: SchedulerState['boots']): number {
  return boots.at(-1)?.wallAhead ?? 0;
}

/** When the next group opens or closes, on the scheduler's clock; null: none does. */
export function nextStartCheck({ scheduled, groups, boots }: SchedulerState): number | null {
  let next = Infinity;
  for (const id of scheduled) next = Math.min(next, groups.get(id)!.start!.checkAt ?? Infinity);
  return next === Infinity ? null : next - wallAhead(boots);
}

/** Whether the start time of its group keeps the run from starting, whatever else it waits for. */
export function isTooEarly(state: Pick<SchedulerState, 'groups'>, run: Run): boolean {
  return closedStart(state, run) !== null;
}

/** When the run may start, by the wall clock; null: it does not wait for that. Unix ms. */
export function startsAt(state: Pick<SchedulerState, 'groups'>, run: Run): number | null {
  const isWaiting = run.state.phase === 'waiting' && run.hold === null && run.state.notBefore === null;
  return isWaiting ? (closedStart(state, run)?.opensAt ?? null) : null;
}

/** When the group opens for the run, as the clock shows it: `22:00`; null: it is open. */
export function openingText(state: Pick<SchedulerState, 'groups'>, run: Run): string | null {
  return closedStart(state, run)?.opens ?? null;
}

/** Whether the run may not start within a moment, so that what it needs is not to be looked at yet. */
export function isFarFromStart(state: Pick<SchedulerState, 'groups'>, run: Run): boolean {
  return closedStart(state, run)?.phase === 'later';
}

function closedStart({ groups }: Pick<SchedulerState, 'groups'>, { group, early }: Run): GroupStart | null {
  const start = early ? null : (groups.get(group)?.start ?? null);
  return start === null || start.phase === 'open' ? null : start;
}
