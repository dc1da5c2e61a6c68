import * as z from 'zod';
import { GpuIndex, GroupId, Name, RunId } from '../base/ids.js';
import { FailureClass, Outcome } from '../base/outcome.js';
import { Need, Slot } from './placement/slot.js';
import { StartTimes } from './start/start-times.js';

const at = z.number();
const id = RunId;
/** Number of the attempt that the event is about; an event of an earlier attempt is ignored. */
const attempt = z.int().positive();

/** How often, and after which outcomes, a run is retried automatically. `backoffMs` doubles with every retry in a row. */
export const Retry = z.object({
  max: z.int().nonnegative(),
  backoffMs: z.number().nonnegative(),
  on: z.array(FailureClass),
});
export type Retry = z.infer<typeof Retry>;

/** A group is held when `failures` of its runs in a row failed within `withinMs` of their start. */
export const Breaker = z.object({ failures: z.int().positive(), withinMs: z.number().positive() });
export type Breaker = z.infer<typeof Breaker>;

/** A GPU that may be used. `memory`: its size in MiB; null: unknown. Version 1 of the journal wrote indices alone. */
const WholeGpu = z.object({ index: GpuIndex, uuid: z.string().nullable(), memory: z.number().nullable() });
export type GrantedGpu = z.infer<typeof WholeGpu>;
export const GrantedGpu = z.union([
  WholeGpu,
  GpuIndex.transform((index): GrantedGpu => ({ index, uuid: null, memory: null })),
]);

/** Whether a user has set the number of CPU slots, and the GPUs; otherwise all of the machine are used. */
export const Chosen = z.object({ cpus: z.boolean(), gpus: z.boolean() });
export type Chosen = z.infer<typeof Chosen>;

/** Use of a GPU by others, as last observed. */
export const SeenGpu = z.object({
  index: GpuIndex,
  /** Size in MiB; null: unknown. */
  memory: z.number().nullable(),
  /** MiB that other users' processes, or other programs, hold. */
  foreignMemory: z.number().nonnegative(),
  /** These processes in words: `python (pid 4711)`. Empty: none. */
  foreign: z.array(z.string()),
  /** The runs directory whose supervisor has leased the GPU; null: it is free, or leased by this supervisor. */
  leasedBy: z.string().nullable(),
  /** False: the driver knows the GPU and cannot reach it. */
  present: z.boolean().optional(),
});
export type SeenGpu = z.infer<typeof SeenGpu>;

/** One run as the scheduler sees it: no command, no parameters. */
export const SubmittedRun = z.object({
  id: RunId,
  group: GroupId,
  need: Need,
  /** Time between SIGTERM and SIGKILL, in ms. */
  graceMs: z.number().nonnegative(),
  /** Runs of a higher priority start first; among equals the order of the file decides. */
  priority: z.int().default(0),
  /** Longest time a run may be up, without its pauses; null: no limit. */
  timeoutMs: z.number().positive().nullable().default(null),
  retry: Retry.default({ max: 0, backoffMs: 0, on: [] }),
  /**
   * `run`: to be started. `done`: already done; submitted so that groups which need it may start. `keep`: it was up or waiting when
   * the plan was made; the submission leaves it alone. `extend`: it was up with a smaller budget, and continues by this plan when
   * that is used up. `unextend`: it was up and was to continue with a larger budget, which the file no longer has. `adopt`: it was
   * up, by its directory, though the supervisor did not know it: it is adopted even without a free slot.
   */
  wish: z.enum(['run', 'done', 'keep', 'extend', 'unextend', 'adopt']),
  /** Number of attempts known when the plan was made. If a later one exists, the wish is out of date. */
  attempts: z.int().nonnegative(),
  /** Runs of the same sweep that must be done first, in addition to the groups that its group needs. Absent: none. */
  needs: z.array(RunId).optional(),
});
export type SubmittedRun = z.infer<typeof SubmittedRun>;

/** A submission of runs of one sweep. */
export const RunsSubmitted = z.object({
  type: z.literal('runs-submitted'),
  at,
  sweep: Name,
  /** Name of the file that holds the commands; opaque here. */
  plan: z.string(),
  groups: z.array(
    z.object({
      id: GroupId,
      needs: z.array(GroupId),
      breaker: Breaker.nullable().default(null),
      /** The group gets further runs, one by one, until there are `cap`. Absent: the runs of this submission are all. */
      open: z.object({ cap: z.int().positive() }).optional(),
      /** Others of the submission need it, so that it has all runs of the group that the file has. Absent: perhaps only some. */
      whole: z.literal(true).optional(),
      /** When its runs may start, counted from the submission. Absent: at any time. */
      start: StartTimes.optional(),
    }),
  ),
  runs: z.array(SubmittedRun),
  /** All runs of the file in its order, if `runs` are only some of them; absent: `runs` are in that order. */
  order: z.array(RunId).optional(),
  /** Number of runs added at once; the rest follow with the next `time-passed` events. Absent: all at once, as in version 3. */
  portion: z.int().positive().optional(),
  /** The runs were proposed by a search, not submitted by a user; they are dropped if their group is no longer open. */
  proposed: z.literal(true).optional(),
});

/**
 * Everything that can happen to the runs, as facts in the past tense; one line of the journal each. `at`: ms on a steady clock that
 * continues across boots and starts at Unix time; the wall clock's time then is `at` plus the `wallAhead` of that boot.
 */
export const SchedulerEvent = z.discriminatedUnion('type', [
  /** `gpus`: in order of preference. */
  z.object({
    type: z.literal('slots-changed'),
    at,
    cpus: z.int().nonnegative(),
    gpus: z.array(GrantedGpu),
    /** Which of them a user has set, so that they stay; absent: neither, as version 2 did not record it. */
    chosen: Chosen.optional(),
  }),
  /** What was observed on the GPUs, if it changed. A GPU that is not listed does not exist (any more). */
  z.object({ type: z.literal('gpus-seen'), at, gpus: z.array(SeenGpu) }),
  /** These GPUs take no new runs (`drained`), or accept them again. Runs on them stay. `reason`: set if no user asked. */
  z.object({
    type: z.literal('drain-requested'),
    at,
    gpus: z.array(GpuIndex),
    drained: z.boolean(),
    reason: z.string().optional(),
  }),
  RunsSubmitted,
  /** `slot`: the slot of the run. Replay keeps it, whatever slot the policy of a newer version would choose. */
  z.object({ type: z.literal('run-started'), at, id, attempt, pid: z.int(), slot: Slot.optional() }),
  /**
   * `gpuMemory`: the most memory it held on one GPU, MiB. `agoMs`: how long before `at` it ended, if it ended while no supervisor
   * was there.
   */
  z.object({
    type: z.literal('run-ended'),
    at,
    id,
    attempt,
    outcome: Outcome,
    gpuMemory: z.number().nonnegative().optional(),
    agoMs: z.number().nonnegative().optional(),
  }),
  z.object({ type: z.literal('launch-failed'), at, id, attempt, reason: z.string() }),
  /**
   * The launch did not happen, and its attempt can no longer start: the supervisor died between the decision and the launch, or
   * could not make it.
   */
  z.object({ type: z.literal('launch-withdrawn'), at, id, attempt }),
  z.object({ type: z.literal('rule-met'), at, id, attempt, rule: z.string() }),
  z.object({ type: z.literal('stop-requested'), at, ids: z.array(RunId) }),
  /** Ended runs are to continue in a new attempt, and runs that wait for a retry or are held by the breaker are to start at once. */
  z.object({ type: z.literal('resume-requested'), at, ids: z.array(RunId) }),
  /** The same for failed runs, in journals of versions that had a verb for it. */
  z.object({ type: z.literal('retry-requested'), at, ids: z.array(RunId) }),
  /**
   * Waiting runs do not start until they are released. `reason`: set if no user asked, but a run of their group met its target, or
   * its breaker holds them. `breaker`: the latter, with the values that its failures have in common (`lr=1`); null: none.
   */
  z.object({
    type: z.literal('hold-requested'),
    at,
    ids: z.array(RunId),
    reason: z.string().optional(),
    breaker: z.object({ values: z.string().nullable() }).optional(),
  }),
  z.object({ type: z.literal('release-requested'), at, ids: z.array(RunId) }),
  /** Running processes are suspended, and keep their slots and their memory. */
  z.object({ type: z.literal('pause-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('continue-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('priority-requested'), at, ids: z.array(RunId), priority: z.int() }),
  z.object({ type: z.literal('time-passed'), at }),
  /** The clocks at a start, or after the wall clock was set. `bootMs`: ms of the boot clock; `wallMs`: Unix ms. */
  z.object({ type: z.literal('clock-read'), at, bootId: z.string(), bootMs: z.number(), wallMs: z.number() }),
  z.object({ type: z.literal('sweep-forgotten'), at, sweep: Name }),
  /** These groups get no further runs. `reason`: why, in words. */
  z.object({ type: z.literal('groups-closed'), at, groups: z.array(GroupId), reason: z.string() }),
]);
export type SchedulerEvent = z.infer<typeof SchedulerEvent>;

/** The fields of one type of event. */
export type EventOf<Type extends SchedulerEvent['type']> = Extract<SchedulerEvent, { type: Type }>;

/** Everything the scheduler can ask for, as data; the supervisor carries it out. */
export type SchedulerAction =
  /**
   * `resumed`: an earlier attempt was up, so the run may find its own checkpoints. `isUp`: the process is up already, or was a
   * moment ago; the supervisor adopts it and starts nothing.
   */
  | { type: 'launch'; id: RunId; attempt: number; slot: Slot; resumed: boolean; isUp?: true }
  /** Send SIGTERM. */
  | { type: 'terminate'; id: RunId; attempt: number }
  /** Sends SIGKILL to the whole process tree. */
  | { type: 'kill'; id: RunId; attempt: number }
  /** Suspends the whole process tree until `continue`. */
  | { type: 'pause'; id: RunId; attempt: number }
  | { type: 'continue'; id: RunId; attempt: number };
