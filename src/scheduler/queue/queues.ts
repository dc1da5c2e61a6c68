import type { RunId } from '../../base/ids.js';
import { type Demand, demandOf, isPossibleNow } from '../placement/placement.js';
import { isTooEarly } from '../start/group-start.js';
import type { Run, SchedulerState } from '../state.js';
import { RunHeap } from './run-heap.js';

/** Puts a run in its queue, or removes it from any. Must be called when something that decides about its queue has changed. */
export function requeue(state: SchedulerState, run: Run): void {
  const key = isInLine(state, run) ? queueKey(state, run) : null;
  const was = state.queued.get(run.id);
  if (was !== undefined && was !== key) leaveQueue(state, run.id);
  if (key === null) return;
  const queue = state.queues.get(key) ?? new RunHeap();
  state.queues.set(key, queue);
  state.queued.set(run.id, key);
  queue.set(run.id, [-run.priority, run.order]);
}

/** Takes a run out of its queue, if it is in one. */
export function leaveQueue(state: SchedulerState, id: RunId): void {
  const key = state.queued.get(id);
  if (key === undefined) return;
  const queue = state.queues.get(key)!;
  queue.delete(id);
  state.queued.delete(id);
  if (queue.size === 0) state.queues.delete(key);
}

/** Whether a run comes before another when both could start. */
export function isBefore(run: Run, other: Run): boolean {
  return run.priority === other.priority ? run.order < other.order : run.priority > other.priority;
}

/** Whether a run waits for nothing but room, and perhaps its start time. */
function isInLine(all: SchedulerState, run: Run): boolean {
  const { state, hold, group } = run;
  if (state.phase !== 'waiting' || state.notBefore !== null || hold !== null) return false;
  return all.groups.get(group)!.ready && unmetRuns(all, run).length === 0;
}

/** The needed runs that are not done; an unknown run is not. */
export function unmetRuns({ runs }: Pick<SchedulerState, 'runs'>, { needs }: Pick<Run, 'needs'>): RunId[] {
  return needs.filter((id) => {
    const state = runs.get(id)?.state;
    return state?.phase !== 'ended' || state.outcome.kind !== 'done';
  });
}

/** The key of a run's queue. Runs that wait for the start time of their group have queues of their own. */
function queueKey(state: SchedulerState, run: Run): string {
  const key = roomKey(state, run);
  return isTooEarly(state, run) ? `${run.group} later/${key}` : key;
}

/** Runs of one queue need the same, so if the first can never start, none can. */
function roomKey(state: SchedulerState, run: Run): string {
  const { gpus, perGpu, cores, within } = demandOf(state, run);
  if (gpus === 0) return `cpu/${cores}`;
  return `${gpus}/${perGpu}/${cores}/${within?.join() ?? ''}/${run.need.memory ?? run.group}`;
}

/** The first earlier run in line that waits for what this one needs; null: none does. */
export function firstBefore(state: SchedulerState, run: Run): Run | null {
  const demand = demandOf(state, run);
  let first: Run | null = null;
  for (const head of openHeads(state)) {
    if (!isBefore(head, first ?? run)) continue;
    const other = demandOf(state, head);
    if (isRivalry(demand, other) && isPossibleNow(state, other)) first = head;
  }
  return first;
}

function isRivalry(a: Demand, b: Demand): boolean {
  if (a.cores > 0 && b.cores > 0) return true;
  const isOnGpus = a.gpus > 0 && b.gpus > 0;
  return isOnGpus && (a.within === null || b.within === null || a.within.some((index) => b.within!.includes(index)));
}

/** The first run of each queue whose runs need not wait for their start time. */
export function openHeads(state: SchedulerState): Run[] {
  return queueHeads(state).filter((run) => !isTooEarly(state, run));
}

/** The first run of each queue. */
export function queueHeads({ queues, runs }: SchedulerState): Run[] {
  const heads: Run[] = [];
  for (const queue of queues.values()) heads.push(runs.get(queue.first()!)!);
  return heads;
}
