import * as z from 'zod';
import type { GpuIndex, GroupId, RunId } from '../base/ids.js';
import type { Breaker, EventOf, SeenGpu } from './event.js';
import { RunHeap } from './queue/run-heap.js';
import type { Run } from './run-state.js';

/**
 * One time that the machine was up, as the line of `at` values runs through it: `from` is where the line was when the boot
 * clock read `bootMs`. `wallAhead`: what has to be added to `at` to get what the wall clock says, as it was read last. ms.
 */
export const Boot = z.object({ bootId: z.string(), from: z.number(), bootMs: z.number(), wallAhead: z.number() });
export type Boot = z.infer<typeof Boot>;

/**
 * A group that gets further runs while others are up, until there are `cap`. `plan`: file that says how they are made.
 * `closed`: why it gets no more before that, in words; what the breaker closed is open again when a person trusts it.
 */
export const OpenGroup = z.object({
  cap: z.int().positive(),
  plan: z.string(),
  closed: z.object({ by: z.enum(['breaker', 'request']), reason: z.string() }).nullable(),
});
export type OpenGroup = z.infer<typeof OpenGroup>;

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
  /** When it stops starting runs; null: never. */
  breaker: Breaker | null;
  /** Runs that failed in a row, each soon after its start; one that was retried and failed again is there once. */
  readonly quickFailures: Set<RunId>;
  /** How often it has stopped starting runs for that. */
  trips: number;
  /** The most that an ended run of it held on one GPU, MiB; null: not known. */
  peakMemory: number | null;
  /** Null: all its runs are known. */
  open: OpenGroup | null;
};

/**
 * CPU slots are counted in cores. `holders`: runs without a GPU, each under a number of its own, however many cores it has.
 * `cores`: of the runs that are up, those on GPUs included, the slots that each has reserved; `busy`: their sum, which is above
 * `slots` where there were more before, or runs were taken over. `chosen`: a person has said how many.
 */
export type CpuPool = {
  slots: number;
  chosen: boolean;
  busy: number;
  readonly holders: Map<number, RunId>;
  readonly cores: Map<RunId, number>;
};

/** A GPU, as far as it is known. `memory`, `foreignMemory`: MiB. `present`: the last look found it, or there was none yet. */
export type GpuDevice = SeenGpu & { uuid: string | null; drained: boolean; present: boolean };

/**
 * `gpus`: those that may be used, in the order in which they are preferred; `chosen`: a person has said which. `devices`:
 * every one that was ever spoken of.
 * `shares`: per GPU, the runs on it and how many runs each of them agrees to share it with.
 */
export type GpuPool = {
  gpus: readonly GpuIndex[];
  chosen: boolean;
  readonly devices: Map<GpuIndex, GpuDevice>;
  readonly shares: Map<GpuIndex, Map<RunId, number>>;
};

/**
 * A submission of many runs, of which some are still to be taken in: those from `from` on. `awaited`: by group, how many of
 * them; a group that is not all there is not done.
 */
export type Intake = {
  readonly submission: EventOf<'runs-submitted'>;
  from: number;
  readonly awaited: Map<GroupId, number>;
};

/** All that the scheduler knows. Changed in place by `step` alone; everything else only reads it. */
export type SchedulerState = {
  readonly runs: Map<RunId, Run>;
  readonly groups: Map<GroupId, Group>;
  readonly sweeps: Map<string, Set<RunId>>;
  /** By run: those that need it. */
  readonly dependents: Map<RunId, Set<RunId>>;
  readonly cpu: CpuPool;
  readonly gpu: GpuPool;
  /** Runs that wait for nothing but room, by what they need. */
  readonly queues: Map<string, RunHeap>;
  /** The queue each of them stands in. */
  readonly queued: Map<RunId, string>;
  /** Runs that hold a slot. */
  readonly active: Set<RunId>;
  /** Runs to which something happens at a known time, soonest first: a kill, a retry, a timeout. */
  readonly deadlines: RunHeap;
  /** Submissions that are being taken in, the oldest first. Nothing is launched meanwhile. */
  readonly intakes: Intake[];
  nextOrder: number;
  /** How times of events stand to the clocks of the machine, one for each time it was up. */
  readonly boots: Boot[];
};

/** No runs and no slots. */
export function emptyState(): SchedulerState {
  return {
    runs: new Map(),
    groups: new Map(),
    sweeps: new Map(),
    dependents: new Map(),
    cpu: { slots: 0, chosen: false, busy: 0, holders: new Map(), cores: new Map() },
    gpu: { gpus: [], chosen: false, devices: new Map(), shares: new Map() },
    queues: new Map(),
    queued: new Map(),
    active: new Set(),
    deadlines: new RunHeap(),
    intakes: [],
    nextOrder: 0,
    boots: [],
  };
}
