import { z } from 'zod';
import { Name, RunId } from '../base/ids.js';
import { Parameters } from '../base/scalar.js';

/** When a run counts as done: exit code 0, or a row of a JSON-lines file in its directory for which `where` (CEL) holds. */
export const DoneRule = z.union([
  z.strictObject({ exit: z.literal(0) }),
  z.strictObject({ file: z.string(), where: z.string() }),
]);
export type DoneRule = z.infer<typeof DoneRule>;

/**
 * Ends a run as done once `when` (CEL over the run's metrics and parameters) held for `for` rows in a row.
 * Metric keys become identifiers by replacing every character that is not a letter, digit or _ by _.
 */
export const StopRule = z.strictObject({ when: z.string(), for: z.int().positive().default(1) });
export type StopRule = z.infer<typeof StopRule>;

export const Resources = z.strictObject({
  /** GPUs a run takes: 0 or 1 here; 0 runs on a CPU slot. `auto`: 1 if the machine has GPUs, else 0. */
  gpus: z.union([z.int().nonnegative(), z.literal('auto')]).default('auto'),
  /** Runs that may share one GPU. */
  per_gpu: z.int().positive().default(1),
  /** Cores a run may use when it is on a CPU slot; thread-count variables are set to it. */
  cpus: z.int().positive().default(1),
});
export type Resources = z.infer<typeof Resources>;

/** What to show of a run's metrics. */
export const MetricChoice = z.strictObject({
  /** Series shown first; the first one also gives the sparkline. */
  show: z.array(z.string()).default([]),
  /** Key of the x axis. */
  x: z.string().default('step'),
  /** Key of the progress metric, and the value at which a run is complete (a number or an expression over parameters). */
  progress: z.strictObject({ key: z.string(), total: z.number() }).nullable().default(null),
});
export type MetricChoice = z.infer<typeof MetricChoice>;

/** One point of the grid, ready to start. The output of this part and the input of the supervisor. */
export const PlannedRun = z.strictObject({
  id: RunId,
  sweep: Name,
  group: Name,
  /** Second level of the tree. */
  subgroup: z.string().nullable(),
  name: Name,
  parameters: Parameters,
  /** Hash of the group and the parameters that are not budget. */
  identity: z.string(),
  /** Complete, macros replaced. */
  argv: z.array(z.string()).nonempty(),
  /** Extra arguments from the second attempt on. */
  resumeArgs: z.array(z.string()),
  /** Extra environment from the sweep file, not the person's whole environment. */
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  /** Groups of the same sweep that must be done first. */
  needs: z.array(Name),
  done: DoneRule,
  stopWhen: StopRule.nullable(),
  resources: Resources,
  /** Seconds between the polite signal and SIGKILL. */
  grace: z.number().nonnegative(),
  metrics: MetricChoice,
});
export type PlannedRun = z.infer<typeof PlannedRun>;

/** A block of the sweep file, for headings. */
export const PlannedGroup = z.strictObject({
  name: Name,
  title: z.string().nullable(),
  needs: z.array(Name),
  /** True when nobody asked for the group itself, but a group that is planned needs it. */
  prerequisite: z.boolean().optional(),
});
export type PlannedGroup = z.infer<typeof PlannedGroup>;

/** A whole sweep file, expanded. Runs are in launch order: groups in file order, then grid order. */
export const Plan = z.strictObject({
  sweep: Name,
  description: z.string().nullable(),
  groups: z.array(PlannedGroup),
  runs: z.array(PlannedRun),
});
export type Plan = z.infer<typeof Plan>;

/** Whether a run has to be started, and why; the words of `--dry-run`. */
export type Standing = { state: 'new' | 'resume' | 'done'; reason: string };
