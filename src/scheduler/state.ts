import type { GpuIndex, GroupId, RunId } from '../base/ids.js';
import type { ReadyQueue } from './ready-queue.js';
import type { Run } from './run-state.js';

/** A named block of a sweep: what it waits for, who waits for it, and the counts that answer both without a scan. */
export type Group = {
  readonly id: GroupId;
  needs: readonly GroupId[];
  readonly neededBy: Set<GroupId>;
  readonly runs: Set<RunId>;
  readonly waiting: Set<RunId>;
  readonly done: Set<RunId>;
  /** Ended, but not done: failed, killed, lost. */
  readonly broken: Set<RunId>;
  /** Every group it needs is done. */
  ready: boolean;
};

/** CPU slots are numbered 0 … slots - 1; holders above that are left over from when there were more. */
export type CpuPool = { slots: number; readonly holders: Map<number, RunId> };

/** `shares`: per GPU, the runs on it and how many runs each of them agrees to share it with. */
export type GpuPool = { gpus: readonly GpuIndex[]; readonly shares: Map<GpuIndex, Map<RunId, number>> };

/** All that the scheduler knows. Changed in place by `step` alone; everything else only reads it. */
export type SchedulerState = {
  readonly runs: Map<RunId, Run>;
  readonly groups: Map<GroupId, Group>;
  readonly sweeps: Map<string, Set<RunId>>;
  readonly cpu: CpuPool;
  readonly gpu: GpuPool;
  /** Waiting runs whose group is ready, by what they need. */
  readonly queues: Map<string, ReadyQueue>;
  /** Runs that hold a slot. */
  readonly active: Set<RunId>;
  /** Runs that were asked to end and will be killed at a known time. */
  readonly stopping: Set<RunId>;
  nextOrder: number;
};

/** No runs and no slots. */
export function emptyState(): SchedulerState {
  return {
    runs: new Map(),
    groups: new Map(),
    sweeps: new Map(),
    cpu: { slots: 0, holders: new Map() },
    gpu: { gpus: [], shares: new Map() },
    queues: new Map(),
    active: new Set(),
    stopping: new Set(),
    nextOrder: 0,
  };
}
