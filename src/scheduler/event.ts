import { z } from 'zod';
import { GpuIndex, GroupId, Name, RunId } from '../base/ids.js';
import { Outcome } from '../base/outcome.js';
import { Need } from './slot.js';

const at = z.number();
const id = RunId;
/** Number of the start this is about; news of an earlier one is too late to matter. */
const attempt = z.int().positive();

/** One run as the scheduler sees it: no command, no parameters. */
export const SubmittedRun = z.object({
  id: RunId,
  group: GroupId,
  need: Need,
  /** Time between the polite signal and SIGKILL, in ms. */
  graceMs: z.number().nonnegative(),
  /**
   * `run`: to be started. `done`: already done; known, so that groups which need it may start.
   * `keep`: it was up or waiting when it was looked at, and whatever became of it since is none of this submit's business.
   */
  wish: z.enum(['run', 'done', 'keep']),
  /** Attempts known when it was looked at, by its directory or by us. A later one makes the wish out of date. */
  attempts: z.int().nonnegative(),
});
export type SubmittedRun = z.infer<typeof SubmittedRun>;

/** Everything that can happen to the runs. Facts, in the past tense; one line of the journal each. `at`: Unix ms. */
export const SchedulerEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('slots-changed'), at, cpus: z.int().nonnegative(), gpus: z.array(GpuIndex) }),
  z.object({
    type: z.literal('runs-submitted'),
    at,
    sweep: Name,
    /** Name of the file that holds the commands; opaque here. */
    plan: z.string(),
    groups: z.array(z.object({ id: GroupId, needs: z.array(GroupId) })),
    runs: z.array(SubmittedRun),
  }),
  z.object({ type: z.literal('run-started'), at, id, attempt, pid: z.int() }),
  z.object({ type: z.literal('run-ended'), at, id, attempt, outcome: Outcome }),
  z.object({ type: z.literal('launch-failed'), at, id, attempt, reason: z.string() }),
  /** The supervisor died between deciding on a launch and making it; the attempt can no longer start. */
  z.object({ type: z.literal('launch-withdrawn'), at, id, attempt }),
  z.object({ type: z.literal('rule-met'), at, id, attempt, rule: z.string() }),
  z.object({ type: z.literal('stop-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('resume-requested'), at, ids: z.array(RunId) }),
  z.object({ type: z.literal('time-passed'), at }),
  z.object({ type: z.literal('sweep-forgotten'), at, sweep: Name }),
]);
export type SchedulerEvent = z.infer<typeof SchedulerEvent>;

/** The facts of one kind of event. */
export type EventOf<Type extends SchedulerEvent['type']> = Extract<SchedulerEvent, { type: Type }>;
