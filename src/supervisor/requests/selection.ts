import type { RunId } from '../../base/ids.js';
import type { Ack } from '../../protocol/message.js';
import { isActive } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { refusalOf, type RunCommand } from './run-verbs.js';

/** A command on runs, reduced to those it makes sense for. `refusals`: one for each of the others, in words. */
export type Selection = { ids: RunId[]; refusals: string[] };

/** The runs of the command that it can be done to. */
export function select(state: SchedulerState, command: RunCommand): Selection {
  const selection: Selection = { ids: [], refusals: [] };
  for (const id of new Set(command.ids)) {
    const run = state.runs.get(id);
    const refusal = run === undefined ? 'is not known here' : refusalOf(command, run);
    if (refusal === null) selection.ids.push(id);
    else selection.refusals.push(`${id} ${refusal}`);
  }
  return selection;
}

/** `done`: the verb in the past tense. Refused when there is not one run to act on. */
export function selectionAck({ ids, refusals }: Selection, done: string): Ack {
  const [first] = refusals;
  if (ids.length === 0) return { ok: false, message: first ?? 'there are no such runs', fix: null };
  const rest = first === undefined ? '' : `; ${refusals.length} not: ${first}`;
  return { ok: true, message: `${ids.length} run${ids.length === 1 ? '' : 's'} ${done}${rest}` };
}

/** The ids of all runs of a sweep that have not ended. */
export function unfinished(state: SchedulerState, sweep: string): RunId[] {
  return [...(state.sweeps.get(sweep) ?? [])].filter((id) => state.runs.get(id)?.state.phase !== 'ended');
}

/** Why a sweep cannot be forgotten; null when it can. */
export function forgetRefusal(state: SchedulerState, sweep: string): string | null {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined) return `no sweep ${sweep} is known here`;
  const active = [...ids].filter((id) => isActive(state.runs.get(id)!.state)).length;
  return active === 0 ? null : `${active} of its runs are still running`;
}
