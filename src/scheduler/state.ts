import * as z from 'zod';
import type { GpuIndex, GroupId, RunId } from '../base/ids.js';
import type { Outcome } from '../base/outcome.js';
import type { Breaker, EventOf, Retry, SchedulerAction, SeenGpu } from './event.js';
import { RunHeap } from './queue/run-heap.js';
import { StartTimes } from './start/start-times.js';
import type { Need, Slot } from './placement/slot.js';

/**
 * One boot of the machine, and its relation to the `at` values of events: `at` was `from` when the boot clock read `bootMs`.
 * `wallAhead`: difference of the wall clock to `at`, as last read. All in ms.
 */
export const Boot = z.object({ bootId: z.string(), from: z.number(), bootMs: z.number(), wallAhead: z.number() });
export type Boot = z.infer<typeof Boot>;

/**
 * A group that gets further runs while others are up, until there are `cap`. `plan`: file that describes how they are chosen.
 * `closed`: why it gets no more before that, in words; a user can reopen a group that its breaker closed.
 */
export const OpenGroup = z.object({
  cap: z.int().positive(),
  plan: z.string(),
  closed: z.object({ by: z.enum(['breaker', 'request']), reason: z.string() }).nullable(),
});
export type OpenGroup = z.infer<typeof OpenGroup>;

/**
 * When the runs of a group may start. `soon`: within a moment. Instants are of the wall clock, Unix ms: `notBefore` is the one of
 * `at` and `after`, null once that has passed; `opens` is `opensAt` as the clock shows it; at `checkAt` something changes, null:
 * never.
 */
export const GroupStart = z.object({
  times: StartTimes,
  notBefore: z.number().nullable(),
  phase: z.enum(['later', 'soon', 'open']),
  opensAt: z.number(),
  opens: z.string(),
  checkAt: z.number().nullable(),
});
export type GroupStart = z.infer<typeof GroupStart>;

/** A group of a sweep: the groups it waits for, those that wait for it, and counts that answer both without a scan. */
export type Group = {
  readonly id: GroupId;
  needs: readonly GroupId[];
  readonly neededBy: Set<GroupId>;
  readonly runs: Set<RunId>;
  readonly waiting: Set<RunId>;
  readonly done: Set<RunId>;
  /** Runs that ended, but are not done: failed, killed, lost. */
  readonly broken: Set<RunId>;
  /** Runs that the sweep file no longer has: one that failed keeps no other group from starting. */
  dropped: ReadonlySet<RunId>;
  /** Whether every group it needs is done. */
  ready: boolean;
  /** When the group is held after failures; null: never. */
  breaker: Breaker | null;
  /** Runs that failed in a row, each soon after its start; a run that failed again after a retry is listed once. */
  readonly quickFailures: Set<RunId>;
  /** How often the breaker has held the group. */
  trips: number;
  /** The most memory that an ended run of the group held on one GPU, MiB; null: unknown. */
  peakMemory: number | null;
  /** Null: all its runs are known. */
  open: OpenGroup | null;
  /** Null: its runs may start at any time. */
  start: GroupStart | null;
};

/**
 * The CPU slots, counted in cores. `holders`: runs without a GPU by the number of their slot, however many cores they have.
 * `cores`: for each run that is up, also on GPUs, the slots it has reserved; `busy`: their sum, which exceeds `slots` if there were
 * more before, or runs were adopted. `chosen`: a user has set their number. `spare`: the lowest number that nobody holds.
 */
export type CpuPool = {
  slots: number;
  chosen: boolean;
  busy: number;
  readonly holders: Map<number, RunId>;
  spare: number;
  readonly cores: Map<RunId, number>;
};

/**
 * A GPU, as far as it is known. `memory`, `foreignMemory`: MiB. `present`: the last observation found it, or there was none yet.
 * `drainReason`: why it is drained, if no user asked.
 */
export type GpuDevice = SeenGpu & {
  uuid: string | null;
  drained: boolean;
  drainReason?: string | undefined;
  present: boolean;
};

/**
 * `gpus`: the GPUs that may be used, in order of preference; `chosen`: a user has set them. `devices`: every GPU that was ever
 * mentioned. `shares`: for each GPU, the runs on it and with how many runs each of them may share it.
 */
export type GpuPool = {
  gpus: readonly GpuIndex[];
  chosen: boolean;
  readonly devices: Map<GpuIndex, GpuDevice>;
  readonly shares: Map<GpuIndex, Map<RunId, number>>;
};

/**
 * A submission of many runs, some of which are still to be added: those from index `from` on. `awaited`: their number for each
 * group; a group with awaited runs is not done.
 */
export type Intake = {
  readonly submission: EventOf<'runs-submitted'>;
  from: number;
  readonly awaited: Map<GroupId, number>;
};

/** The whole state of the scheduler. Only `step` changes it, in place; everything else reads it. */
export type SchedulerState = {
  readonly runs: Map<RunId, Run>;
  readonly groups: Map<GroupId, Group>;
  /** The groups with a start time. */
  readonly scheduled: Set<GroupId>;
  readonly sweeps: Map<string, Set<RunId>>;
  /** For each run, the runs that need it. */
  readonly dependents: Map<RunId, Set<RunId>>;
  readonly cpu: CpuPool;
  readonly gpu: GpuPool;
  /** Runs that wait for nothing but room, or for nothing but their start time and room, by what they need. */
  readonly queues: Map<string, RunHeap>;
  /** The key of each waiting run's queue. */
  readonly queued: Map<RunId, string>;
  /** Runs that hold a slot. */
  readonly active: Set<RunId>;
  /** Runs with a time at which something happens, soonest first: a kill, a retry, a timeout. */
  readonly deadlines: RunHeap;
  /** Submissions that are still being added, the oldest first. Nothing is launched meanwhile. */
  readonly intakes: Intake[];
  nextOrder: number;
  /** The relation of event times to the machine's clocks, for each boot. */
  readonly boots: Boot[];
};

/** No runs and no slots. */
export function emptyState(): SchedulerState {
  return {
    runs: new Map(),
    groups: new Map(),
    scheduled: new Set(),
    sweeps: new Map(),
    dependents: new Map(),
    cpu: { slots: 0, chosen: false, busy: 0, holders: new Map(), spare: 0, cores: new Map() },
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

/** The processing of one event: the state to change, the time of the event, and the resulting actions. */
export type StepContext = {
  readonly state: SchedulerState;
  readonly at: number;
  readonly actions: SchedulerAction[];
  /** Runs whose own state changed. (The reason why others wait may have changed too.) */
  readonly touched: Set<RunId>;
};

/** Why a run is being ended: a user asked, its `stop_when` rule was met, or it exceeded its timeout. */
export type StopCause = { kind: 'asked' } | { kind: 'rule'; rule: string } | { kind: 'timeout'; seconds: number };

/**
 * Why a waiting run is not started even if there is room. `reason`: which failures the breaker saw, or which run met the target.
 * `values`: those that these failures and this run have in common; absent: the whole group is held.
 */
type Hold = { by: 'person' } | { by: 'breaker'; reason: string; values?: string } | { by: 'target'; reason: string };

/** How an attempt ended. `since`: when it came up; null: it never did. Unix ms. */
export type Ending = { outcome: Outcome; since: number | null; at: number };

/**
 * `notBefore`: the time of an automatic retry; null: the run may start as soon as there is room. `last`: the ending that an
 * automatic retry follows, so that records show it; null otherwise.
 */
type Waiting = { phase: 'waiting'; notBefore: number | null; last: Ending | null };

/** Where a run is in its life. Each state holds the facts that exist in it, and no others. Times: Unix ms. */
export type RunState =
  | Waiting
  | { phase: 'starting'; slot: Slot; stop: StopCause | null }
  /**
   * `pausedAt`: null while it is not paused. `pausedMs`: total of its earlier pauses. `pausedBy`: set while it is paused because the
   * window of its group has ended.
   */
  | {
      phase: 'running';
      slot: Slot;
      pid: number;
      since: number;
      pausedAt: number | null;
      pausedMs: number;
      pausedBy?: 'window';
    }
  | { phase: 'stopping'; slot: Slot; pid: number; since: number; stop: StopCause; killAt: number }
  | { phase: 'killing'; slot: Slot; pid: number; since: number; stop: StopCause }
  | ({ phase: 'ended' } & Ending);

/** The part of a submission that governs a run's attempts. `plan`: file that holds its command. */
export type Terms = {
  plan: string;
  need: Need;
  graceMs: number;
  /** Runs of a higher priority start first. */
  priority: number;
  /** Longest time it may be up, without its pauses; null: no limit. */
  timeoutMs: number | null;
  retry: Retry;
};

/** A state in which the run holds a slot. */
export type ActiveState = Extract<RunState, { slot: Slot }>;

/** The state of a run that waits for nothing but a slot. */
export const inLine: Waiting = { phase: 'waiting', notBefore: null, last: null };

/** `plan` and the other terms are those of the present attempt, or of the next where there is none. */
export type Run = Terms & {
  readonly id: RunId;
  readonly sweep: string;
  /** Changes only when an edited file moves the run to another group. */
  group: GroupId;
  /**
   * Place in the queue among runs of its priority: the order of submission, and within a sweep that of its file; a resumed run
   * keeps it.
   */
  order: number;
  /** Place among the runs of its sweep: the order of the file. */
  place: number;
  /** Runs that must be done first; only `setNeededRuns` changes it. */
  needs: readonly RunId[];
  /** Number of automatic retries in a row. */
  retried: number;
  /** It ran out of memory on a shared GPU, and gets the next one to itself. */
  alone: boolean;
  /** Null unless the run waits. */
  hold: Hold | null;
  /** A user has let it start before the start time of its group, until that opens. */
  early: boolean;
  /** Its budget was raised while it was up: the terms by which it continues when this attempt has ended. */
  next: Terms | null;
  /** Number of the last launch; a launch never reuses a number. */
  attempt: number;
  /** Number of attempts whose process came up. */
  starts: number;
  /** Times of the attempts that were up and have ended, in their order. */
  past: readonly UpTime[];
  state: RunState;
};

/** Start and end of a process, Unix ms. */
export type UpTime = readonly [since: number, at: number];

export function isActive(state: RunState): state is ActiveState {
  return 'slot' in state;
}

/** Whether the run waits for the time of a retry, rather than for room. */
export function isInBackoff(state: RunState): state is Waiting & { notBefore: number; last: Ending } {
  return state.phase === 'waiting' && state.notBefore !== null && state.last !== null;
}
