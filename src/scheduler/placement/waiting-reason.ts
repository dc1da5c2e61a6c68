import type { Outcome } from '../../base/outcome.js';
import type { RunId } from '../../base/ids.js';
import { demandOf } from './demand.js';
import { nextDeadline } from '../lifecycle/deadlines.js';
import { neverReason, waitReason } from './gpu-reason.js';
import { groupOf, unmetNeed } from '../queue/groups.js';
import { firstInLine, queueHeads } from '../queue/launch.js';
import { freeSlot, isPossibleLater } from './placement.js';
import { type Ending, isInBackoff, type Run } from '../run-state.js';
import type { Group, SchedulerState } from '../state.js';

/**
 * Why a run waits, in words for a person; null for a run that does not wait. When a retry is due is not said:
 * `notBefore` of its state is.
 */
export function waitingReason(state: SchedulerState, id: RunId): string | null {
  const run = state.runs.get(id);
  if (run?.state.phase !== 'waiting') return null;
  if (run.hold !== null) return holdReason(run.hold);
  if (isInBackoff(run.state)) return backoffReason(run, run.state.last);
  const needed = unmetNeed(state, groupOf(state, run.group));
  if (needed !== null) return needReason(state, needed);
  return roomReason(state, run);
}

/** Whether nothing runs and nothing that waits can start by itself. */
export function isSettled(state: SchedulerState): boolean {
  if (state.active.size > 0 || nextDeadline(state) !== null) return false;
  return !queueHeads(state).some((run) => isPossibleLater(state, demandOf(state, run)));
}

function holdReason(hold: NonNullable<Run['hold']>): string {
  if (hold.by === 'person') return 'held';
  const then = hold.by === 'target' ? 'release it to try it all the same' : 'release them when it is mended';
  return `held: ${hold.reason}; ${then}`;
}

function backoffReason({ retry, retried }: Run, last: Ending): string {
  if (last.outcome.kind === 'done') return 'goes on with its larger budget';
  return `${endingWords(last.outcome)}, retry ${retried} of ${retry.max}`;
}

/** How it ended, in a few words. */
function endingWords(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'failed':
      return outcome.line ?? `failed (exit code ${outcome.code})`;
    case 'signal':
      return outcome.line ?? `failed (${outcome.signal})`;
    default:
      return endings[outcome.kind];
  }
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

function roomReason(state: SchedulerState, run: Run): string {
  const demand = demandOf(state, run);
  const isOnGpu = demand.gpus > 0;
  if (!isPossibleLater(state, demand)) {
    return isOnGpu ? neverReason(state, demand) : 'needs a CPU slot, and there are none';
  }
  if (freeSlot(state, demand) !== null) return turnReason(state, isOnGpu);
  const { holders, slots } = state.cpu;
  return isOnGpu ? waitReason(state, demand) : `waiting for a slot (${holders.size} of ${slots} busy)`;
}

function turnReason(state: SchedulerState, isOnGpu: boolean): string {
  const first = firstInLine(state, isOnGpu);
  return first === null ? 'about to start' : `waiting behind ${nameOf(first.id)}`;
}

/** What stands after the sweep's name in an id. */
function nameOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}
