import * as z from 'zod';
import { executorNames } from './executor-names.js';
import { Name, RunId } from '../base/ids.js';
import { FailureClass } from '../base/outcome.js';
import { Parameters } from '../base/scalar.js';
import { channelSettings, notificationWord } from './policy/notify-channels.js';

/**
 * When a run counts as done: exit code 0, a file in its directory, a row of a JSON-lines file there for which `where` (CEL) holds,
 * a line of its output that a regular expression matches, or a command that exits with 0.
 */
export const DoneRule = z.union([
  z.strictObject({ exit: z.literal(0) }),
  z.strictObject({ file: z.string(), where: z.string().optional() }),
  z.strictObject({ output: z.string() }),
  /** `timeout`: limit in seconds; absent: a minute. */
  z.strictObject({ command: z.array(z.string()).nonempty(), timeout: z.number().positive().optional() }),
]);
export type DoneRule = z.infer<typeof DoneRule>;

/**
 * Ends a run as done once `when` (CEL over the run's metrics and parameters) has held for `for` rows in a row. Metric keys become
 * identifiers by replacing every character that is not a letter, digit or _ by _.
 */
export const StopRule = z.strictObject({ when: z.string(), for: z.int().positive().default(1) });
export type StopRule = z.infer<typeof StopRule>;

/**
 * Options of `sbatch`. `time`: seconds. `extra`: more words for its command line.
 * `mode`: whether each run is a job, or workers take one after the other, at most `workers` for equal runs.
 */
export const SlurmOptions = z.strictObject({
  partition: z.string().optional(),
  account: z.string().optional(),
  qos: z.string().optional(),
  time: z.number().positive().optional(),
  constraint: z.string().optional(),
  extra: z.array(z.string()).optional(),
  mode: z.enum(['auto', 'jobs', 'packs']).optional(),
  workers: z.int().positive().optional(),
});
export type SlurmOptions = z.infer<typeof SlurmOptions>;

/** Where runs are executed: on this machine, or as jobs of Slurm. */
export const ExecutorName = z.enum(executorNames);
export type ExecutorName = z.infer<typeof ExecutorName>;

export const Resources = z.strictObject({
  /** Number of GPUs of a run; 0 uses CPU slots. `auto`: 1 if the machine has GPUs, else 0. */
  gpus: z.union([z.int().nonnegative(), z.literal('auto')]).default('auto'),
  /** Number of runs that may share one GPU. */
  per_gpu: z.int().positive().default(1),
  /** MiB a run takes on each of its GPUs; null: not declared. */
  gpu_memory: z.number().positive().nullable().default(null),
  /** Whether runs that share a GPU use NVIDIA's MPS daemon; `auto`: if it is running. */
  mps: z.enum(['auto', 'off']).default('auto'),
  /** Cores that a run reserves, each a CPU slot, and its number of threads. Absent: one, and on a GPU none. */
  cpus: z.int().positive().optional(),
  /** Increment of the niceness of a run and its processes; absent: none. */
  nice: z.int().min(-20).max(19).optional(),
  /** The `slurm` map of the sweep file; absent: it has none. */
  slurm: SlurmOptions.optional(),
});
export type Resources = z.infer<typeof Resources>;

/** When a failed run is retried automatically. `backoff`: seconds before the first retry; doubles with each. */
export const RetryRule = z.strictObject({
  max: z.int().nonnegative().default(0),
  backoff: z.number().nonnegative().default(5),
  on: z.array(FailureClass).default([...FailureClass.options]),
});
export type RetryRule = z.infer<typeof RetryRule>;

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * When runs may start, as the clocks of `zone` show it. `at`: `22:00`, or `2026-12-01 22:00`. `after`: seconds after the launch.
 * `between`: the times of day at which the window of a day begins and ends. `days`: those that have a window, or count for `at`.
 * `outside`: what running runs do when the window has ended; absent: they continue.
 */
export const StartRule = z.strictObject({
  at: z.string().optional(),
  after: z.number().positive().optional(),
  between: z.tuple([z.string(), z.string()]).optional(),
  days: z.array(z.enum(weekdays)).optional(),
  outside: z.enum(['continue', 'pause']).optional(),
  zone: z.string(),
});
export type StartRule = z.infer<typeof StartRule>;

/** The metric that says how good a run is. */
export const Objective = z.strictObject({
  name: z.string(),
  goal: z.enum(['minimize', 'maximize']).default('minimize'),
  /** Once a run reaches this value, no more runs of its group are started, while those that are up may finish; as in W&B. */
  target: z.number().optional(),
  /** The value that a Bayesian search assumes for a run that failed, was killed or has none; absent: the worst. */
  impute: z.enum(['latest', 'best', 'worst']).optional(),
  /** The value that it assumes for a running run; absent or false: none yet, the run counts as pending. */
  impute_while_running: z.union([z.enum(['latest', 'best', 'worst']), z.literal(false)]).optional(),
});
export type Objective = z.infer<typeof Objective>;

/**
 * Ends runs of a group early that do worse than their siblings. An iteration is one finite value of the objective. `hyperband`: as
 * in W&B. `asha`: of the runs that reached a rung, the best 1/eta continue. `median`: from `min_iter` on, a run that is worse than
 * the median of its siblings' running averages ends.
 */
export const EarlyTerminate = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hyperband'),
    min_iter: z.int().positive().optional(),
    max_iter: z.int().positive().optional(),
    s: z.int().positive().optional(),
    eta: z.number().gt(1).default(3),
    strict: z.boolean().default(true),
  }),
  z.strictObject({
    type: z.literal('asha'),
    min_iter: z.int().positive().default(1),
    max_iter: z.int().positive().optional(),
    eta: z.number().gt(1).default(3),
  }),
  z.strictObject({
    type: z.literal('median'),
    min_iter: z.int().positive().default(1),
    /** Least number of siblings that have come as far before a run is judged. */
    min_runs: z.int().positive().default(3),
  }),
]);
export type EarlyTerminate = z.infer<typeof EarlyTerminate>;

/** Who is notified, and of what. */
export const Notify = z.strictObject({
  ...channelSettings,
  /** Absent: the default of notifications. */
  on: z.array(notificationWord()).optional(),
});
export type Notify = z.infer<typeof Notify>;

/** Which metrics of a run are shown, and where they are. */
export const MetricChoice = z.strictObject({
  /** Series shown first; the first one also gives the sparkline. */
  show: z.array(z.string()).default([]),
  /** Key of the x axis. */
  x: z.string().default('step'),
  /** Key of the progress metric, and the value at which a run is complete (a number or an expression over parameters). */
  progress: z.strictObject({ key: z.string(), total: z.number() }).nullable().default(null),
  /** Absolute paths of folders, outside the run's directory, in which the program writes metrics. Absent: none. */
  folders: z.array(z.string()).optional(),
  /** Regular expressions for the run's output, by metric; the first group of each captures the number. */
  patterns: z.record(z.string(), z.string()).optional(),
});
export type MetricChoice = z.infer<typeof MetricChoice>;

/**
 * A copy of a work tree, and the working directory of its programs; absolute paths. `cwd`: that directory as given; `within`: the
 * same relative to the work tree `top`. `linked`: paths below `top` that are links into the work tree, not copies.
 */
export const CodeSnapshot = z.strictObject({
  cwd: z.string(),
  within: z.string(),
  top: z.string(),
  path: z.string(),
  linked: z.array(z.string()),
});
export type CodeSnapshot = z.infer<typeof CodeSnapshot>;

/** One point of the grid, ready to start: the output of `spec` and the input of the supervisor. */
export const PlannedRun = z.strictObject({
  id: RunId,
  sweep: Name,
  group: Name,
  /** The second level of the tree. */
  subgroup: z.string().nullable(),
  name: Name,
  parameters: Parameters,
  /** Hash of the group and the parameters that are not budget. */
  identity: z.string(),
  /** Names of the parameters that are budget; absent: none are. */
  budget: z.array(z.string()).optional(),
  /** The complete command, macros replaced. */
  argv: z.array(z.string()).nonempty(),
  /** Additional arguments from the second attempt on. */
  resumeArgs: z.array(z.string()),
  /** The variables that the sweep file sets, without the user's environment. */
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  /**
   * The code snapshot that the run starts from; absent: none. `path`: absolute, null before it is made; `cwd`: the working
   * directory that the run would have without it.
   */
  snapshot: z.strictObject({ path: z.string().nullable(), cwd: z.string() }).optional(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  /** Groups of the same sweep that must be done first. */
  needs: z.array(Name),
  /** Runs of the same sweep that must be done first. Absent: none. */
  neededRuns: z.array(Name).optional(),
  done: DoneRule,
  /** The command of its done rule, macros replaced; absent if the rule is of another kind. */
  doneArgv: z.array(z.string()).nonempty().optional(),
  stopWhen: StopRule.nullable(),
  resources: Resources,
  /** Seconds between SIGTERM and SIGKILL. */
  grace: z.number().nonnegative(),
  /** Longest time it may be up, in seconds; null: no limit. */
  timeout: z.number().positive().nullable().default(null),
  /** Runs of a higher priority start first. */
  priority: z.int().default(0),
  /** When it may start; absent: at any time. The same for all runs of a group. */
  start: StartRule.optional(),
  /** What it reads: `lines`: a pipe into which lines are typed; `terminal`: a terminal of its own; absent: an empty input. */
  input: z.enum(['lines', 'terminal']).optional(),
  retry: RetryRule.default({ max: 0, backoff: 5, on: [...FailureClass.options] }),
  objective: Objective.nullable().default(null),
  earlyTerminate: EarlyTerminate.nullable().default(null),
  metrics: MetricChoice,
  /** Files that are written to its directory before it starts: name and content. */
  files: z.record(Name, z.string()).optional(),
});
export type PlannedRun = z.infer<typeof PlannedRun>;

/** Holds a group when `failures` of its runs in a row fail within `within` seconds of their start. */
export const Breaker = z.strictObject({
  failures: z.int().positive().default(3),
  within: z.number().positive().default(10),
});
export type Breaker = z.infer<typeof Breaker>;

/** A group of the sweep file. */
export const PlannedGroup = z.strictObject({
  name: Name,
  title: z.string().nullable(),
  needs: z.array(Name),
  /**
   * Groups that its runs need run by run: each run needs those with the same values of the parameters `by`; `by` empty: the run
   * that it comes after. Absent: none.
   */
  needsBy: z.array(z.strictObject({ group: Name, by: z.array(z.string()) })).optional(),
  /** True when the group was not asked for, but a planned group needs it. */
  prerequisite: z.boolean().optional(),
  /** Null: the group has no breaker. */
  breaker: Breaker.nullable().default({ failures: 3, within: 10 }),
  /** Its points are chosen one by one while others run, until there are `cap`. Absent: all its runs are in the plan. */
  open: z.strictObject({ method: z.enum(['random', 'lhs', 'sobol', 'bayes']), cap: z.int().positive() }).optional(),
});
export type PlannedGroup = z.infer<typeof PlannedGroup>;

/** The source of further runs of open groups: the sweep file, and the options of its launch. */
export const PlanSource = z.strictObject({
  path: z.string(),
  text: z.string(),
  runsDirectory: z.string(),
  cwd: z.string(),
  set: z.array(z.string()),
  /** The time zone of the launch; absent: no group has a start time. */
  zone: z.string().optional(),
  /** Code snapshots by working directory. Absent: none. */
  snapshots: z.array(CodeSnapshot).optional(),
});
export type PlanSource = z.infer<typeof PlanSource>;

/** A whole sweep file, expanded. Runs are in launch order: groups in file order, then grid order. */
export const Plan = z.strictObject({
  sweep: Name,
  description: z.string().nullable(),
  notify: Notify.nullable().default(null),
  /** Notes for the user who launches it, such as keys without effect. */
  notes: z.array(z.string()).optional(),
  /** The executor of its runs; absent: the supervisor's default. */
  executor: ExecutorName.optional(),
  /** Absent: no group is open. */
  source: PlanSource.optional(),
  groups: z.array(PlannedGroup),
  runs: z.array(PlannedRun),
});
export type Plan = z.infer<typeof Plan>;

/**
 * Whether a run has to be started, and why, in the words of `--dry-run`. `grown`: its budget is larger than at its last attempt;
 * `wasDone`: it was done with that one. Absent: it has not grown.
 */
export type Completion = { state: 'new' | 'resume' | 'done'; reason: string; grown?: { wasDone: boolean } };
