import type { RunId } from '../../base/ids.js';
import { isActive } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { actOnRuns } from './act-on-runs.js';
import type { CommandHandler } from './request.js';

const stopSweep: CommandHandler<'stop-sweep'> = ({ sweep }, tools) =>
  actOnRuns({ verb: 'kill', ids: unfinished(tools.state, sweep) }, tools);

const forgetSweep: CommandHandler<'forget-sweep'> = async ({ sweep }, { state, ask, now }) => {
  const refusal = forgetRefusal(state, sweep);
  if (refusal !== null) return { ok: false, message: refusal, fix: 'Stop them first.' };
  await ask({ type: 'sweep-forgotten', at: now(), sweep });
  return { ok: true, message: `${sweep} is forgotten; its files stay` };
};

/** What can be asked for whole sweeps. */
export const sweepRequests = { 'stop-sweep': stopSweep, 'forget-sweep': forgetSweep };

/** The ids of all runs of a sweep that have not ended. */
function unfinished(state: SchedulerState, sweep: string): RunId[] {
  return [...(state.sweeps.get(sweep) ?? [])].filter((id) => state.runs.get(id)?.state.phase !== 'ended');
}

/** Why a sweep cannot be forgotten; null when it can. */
function forgetRefusal(state: SchedulerState, sweep: string): string | null {
  const ids = state.sweeps.get(sweep);
  if (ids === undefined) return `no sweep ${sweep} is known here`;
  const active = [...ids].filter((id) => isActive(state.runs.get(id)!.state)).length;
  return active === 0 ? null : `${active} of its runs are still running`;
}
