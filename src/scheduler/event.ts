import * as z from 'zod';
import { GpuIndex, GroupId, Name, RunId } from '../base/ids.js';
import { FailureClass, Outcome } from '../base/outcome.js';
import { Need, Slot } from './placement/slot.js';

const at = z.number();
const id = RunId;
/** Number of the start this is about; news of an earlier one is too late to matter. */
const attempt = z.int().positive();

/** How often, and after which endings, a run is started again by itself. `backoffMs` doubles with every attempt in a row. */
export const Retry = z.object({
  max: z.int().nonnegative(),
  backoffMs: z.number().nonnegative(),
  on: z.array(FailureClass),
});
export type Retry = z.infer<typeof Retry>;

/** A group stops starting runs when so many in a row failed so soon after their start. */
export const Breaker = z.object({ failures: z.int().positive(), withinMs: z.number().positive() });
export type Breaker = z.infer<typeof Breaker>;

/** A GPU that may be used. `memory`: MiB it has; null: unknown. Version 1 of the journal wrote indexes alone. */
const WholeGpu = z.object({ index: GpuIndex, uuid: z.string().nullable(), memory: z.number().nullable() });
export type GrantedGpu = z.infer<typeof WholeGpu>;
export const GrantedGpu = z.union([
  WholeGpu,
  GpuIndex.transform((index): GrantedGpu => ({ index, uuid: null, memory: null })),
]);

/** Whether a person has said how many CPU slots, or which GPUs; else they are all there are. */
export const Chosen = z.object({ cpus: z.boolean(), gpus: z.boolean() });
export type Chosen = z.infer<typeof Chosen>;

/** What stands in the way on a GPU, as far as it was seen. */
export const SeenGpu = z.object({
  index: GpuIndex,
  /** MiB; null: unknown. */
  memory: z.number().nullable(),
  /** MiB that processes of others hold. */
  foreignMemory: z.number().nonnegative(),
  /** Who they are, in words: `python (pid 4711)`. Empty: nobody. */
  foreign: z.array(z.string()),
  /** The runs directory whose supervisor has taken the GPU for its own; null: free, or ours. */
  leasedBy: z.string().nullable(),
});
export type SeenGpu = z.infer<typeof SeenGpu>;

/** One run as the scheduler sees it: no command, no parameters. */
export const SubmittedRun = z.object({
  id: RunId,
  group: GroupId,
  need: Need,
  /** Time between the polite signal and SIGKILL, in ms. */
  graceMs: z.number().nonnegative(),
  /** The higher goes first; among equals, the order of the file. */
  priority: z.int().default(0),
  /** Longest time a run may be up, without its pauses; null: for ever. */
  timeoutMs: z.number().positive().nullable().default(null),
  retry: Retry.default({ max: 0, backoffMs: 0, on: [] }),
  /**
   * `run`: to be started. `done`: already done; known, so that groups which need it may start.
   * `keep`: it was up or waiting when it was looked at, and whatever became of it since is none of this submit's business.
   * `extend`: it was up with less of a budget, and goes on by this plan when that is used up.
   * `unextend`: it was up and to go on with a larger budget, which the file no longer has.
   * `adopt`: it was up, as its directory says, though nobody knew of it: it is taken over, whatever room there is.
   */
  wish: z.enum(['run', 'done', 'keep', 'extend', 'unextend', 'adopt']),
  /** Attempts known when it was looked at, by its directory or by us. A later one makes the wish out of date. */
  attempts: z.int().nonnegative(),
  /** Runs of the same sweep that must be done first, beside the groups that its own needs. Absent: none. */
  needs: z.array(RunId).optional(),
});
export type SubmittedRun = z.infer<typeof SubmittedRun>;

/** A submit, of the runs of one sweep. */
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
      /** It gets further runs, one by one, until there are `cap`. Absent: these are all. */
      open: z.object({ cap: z.int().positive() }).optional(),
    }),
  ),
  runs: z.array(SubmittedRun),
  /** All runs of the file, in its order, where `runs` are only some of them; absent: `runs` are in that order. */
  order: z.array(RunId).optional(),
  /** So many are taken in at once, the rest with the next events of `time-passed`; absent: all, as version 3 did. */
  portion: z.int().positive().optional(),
  /** No person asked: these are further runs of groups that are open, and come to nothing where a group is so no more. */
  proposed: z.literal(true).optional(),
});

/**
 * Everything that can happen to the runs. Facts, in the past tense; one line of the journal each. `at`: ms on a line that runs
 * evenly and begins at Unix time; what a wall clock said then is `at` and the `wallAhead` of that boot.
 */
export const SchedulerEvent = z.discriminatedUnion('type', [
  /** `gpus`: in the order in which they are preferred. */
  z.object({
    type: z.literal('slots-changed'),
    at,
    cpus: z.int().nonnegative(),
    gpus: z.array(GrantedGpu),
    /** Which of them a person has named, so that they stay; absent: neither, as version 2 could not say it. */
    chosen: Chosen.optional(),
  }),
  /** What was found on the GPUs, where it differs from what was known. One that is not listed is not there (any more). */
  z.object({ type: z.literal('gpus-seen'), at, gpus: z.array(SeenGpu) }),
  /** These GPUs take no new runs (`drained`), or do again. What is on them stays. */
  z.object({ type: z.literal('drain-requested'), at, gpus: z.array(GpuIndex), drained: z.boolean() }),
  RunsSubmitted,
  /** `slot`: where it was put. The journal's word counts, whatever the policy of a newer version would have chosen. */
  z.object({ type: z.literal('run-started'), at, id, attempt, pid: z.int(), slot: Slot.optional() }),
  /**
   * `gpuMemory`: the most it was seen to hold on one GPU, MiB. `agoMs`: how long before `at` that was, where it ended while
   * nobody was there.
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
  /** The launch was not made, and its attempt can no longer start: the supervisor died between deciding on it and making it, or could not. */
  z.object({ type: z.literal('launch-withdrawn'), at, id, attempt }),
  z.object({ type: z.literal('rule-met'), at, id, attempt, rule: z.string() }),
  z.object({ type: z.literal('stop-requested'), at, ids: z.array(RunId) }),
  /** What was stopped goes on. */
  z.object({ type: z.literal('resume-requested'), at, ids: z.array(RunId) }),
  /** What failed is tried again, at once, and its automatic retries are counted anew. */
  z.object({ type: z.literal('retry-requested'), at, ids: z.array(RunId) }),
  /** Waiting runs do not start until they are released. `reason`: no person asked, but one of their group met its target. */
  z.object({ type: z.literal('hold-requested'), at, ids: z.array(RunId), reason: z.string().optional() }),
  z.object({ type: z.literal('release-requested'), at, ids: z.array(RunId) }),
  /** Running processes are suspended, and keep their slots and their memory. */
  z.object({ type: z.literal('pause-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('continue-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('priority-requested'), at, ids: z.array(RunId), priority: z.int() }),
  z.object({ type: z.literal('time-passed'), at }),
  /** How the clocks stood at a start, or when the wall clock had been set. `bootMs`: ms of the boot clock; `wallMs`: Unix ms. */
  z.object({ type: z.literal('clock-read'), at, bootId: z.string(), bootMs: z.number(), wallMs: z.number() }),
  z.object({ type: z.literal('sweep-forgotten'), at, sweep: Name }),
  /** These groups get no further runs. `reason`: why, in words. */
  z.object({ type: z.literal('groups-closed'), at, groups: z.array(GroupId), reason: z.string() }),
]);
export type SchedulerEvent = z.infer<typeof SchedulerEvent>;

/** The facts of one kind of event. */
export type EventOf<Type extends SchedulerEvent['type']> = Extract<SchedulerEvent, { type: Type }>;
