import type { RunId } from '../base/ids.js';
import { groupOf, unmetNeed } from './groups.js';
import { queueHeads } from './launch.js';
import { freeSlot, isPossible, roomyGpus } from './placement.js';
import type { Run } from './run-state.js';
import type { Group, SchedulerState } from './state.js';

/** Why a run waits, in words for a person; null for a run that does not wait. */
export function waitingReason(state: SchedulerState, id: RunId): string | null {
  const run = state.runs.get(id);
  if (run?.state.phase !== 'waiting') return null;
  const needed = unmetNeed(state, groupOf(state, run.group));
  if (needed !== null) return needReason(state, needed);
  if (!isPossible(state, run.need)) return impossibleReason(state, run);
  return freeSlot(state, run.need) === null ? busyReason(state, run) : turnReason(state, run);
}

/** Whether nothing runs and nothing that waits can start by itself. */
export function isSettled(state: SchedulerState): boolean {
  return state.active.size === 0 && queueHeads(state).length === 0;
}

function needReason(state: SchedulerState, needed: Group): string {
  const name = nameOf(needed.id);
  const [broken] = needed.broken;
  if (broken === undefined) return `waiting for ${name} (${needed.done.size} of ${needed.runs.size} done)`;
  const was = state.runs.get(broken)!.state;
  const how = was.phase === 'ended' ? endings[was.outcome.kind] : 'failed';
  return `needs ${name}, which ${how}`;
}

const endings = {
  done: 'is done',
  failed: 'failed',
  signal: 'failed',
  oom: 'ran out of memory',
  timeout: 'ran out of time',
  killed: 'was killed',
  lost: 'was lost',
} as const;

function impossibleReason({ gpu }: SchedulerState, { need }: Run): string {
  if (need.gpus === 0) return 'needs a CPU slot, and there are none';
  return `needs ${need.gpus} GPU${need.gpus === 1 ? '' : 's'}, and ${gpu.gpus.length} may be used`;
}

function busyReason({ cpu, gpu }: SchedulerState, { need }: Run): string {
  if (need.gpus === 0) return `waiting for a slot (${cpu.holders.size} of ${cpu.slots} busy)`;
  const busy = gpu.gpus.length - roomyGpus(gpu, need).length;
  const what = need.gpus === 1 ? 'a GPU' : `${need.gpus} GPUs`;
  return `waiting for ${what} (${busy} of ${gpu.gpus.length} busy)`;
}

function turnReason(state: SchedulerState, { need }: Run): string {
  const head = queueHeads(state).find((other) => other.need.gpus > 0 === need.gpus > 0);
  return head === undefined ? 'about to start' : `waiting behind ${nameOf(head.id)}`;
}

/** What stands after the sweep's name in an id. */
function nameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}
