import * as z from 'zod';
import { Annotation } from '../base/annotation.js';
import { RunId } from '../base/ids.js';
import { exitClasses, runHealths, runStates } from '../base/run-words.js';
import { Parameters } from '../base/scalar.js';

/** The one word for where a run is. `status --json`, the window and the query language use these. */
export const RunWord = z.enum(runStates);
export type RunWord = z.infer<typeof RunWord>;

/** Everything a client needs to draw one row. Times: Unix ms. Plain data: sent as JSON, patched field by field. */
export const RunSummary = z.object({
  id: RunId,
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable(),
  name: z.string(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  parameters: Parameters,
  argv: z.array(z.string()),
  state: RunWord,
  /** Why it waits, how it ended, in words for a person; the failure line of a failed run. */
  reason: z.string().nullable(),
  /** Number of its last attempt, as its process is told; 0 before the first. Numbers may be left out. */
  attempt: z.int().nonnegative(),
  exit: z
    .object({
      class: z.enum(exitClasses),
      code: z.int().nullable(),
      signal: z.string().nullable(),
    })
    .nullable(),
  /** `cpu 0`, `gpu 3`; null while it holds none. */
  slot: z.string().nullable(),
  gpus: z.array(z.int()),
  /** GPUs it takes while it is up, also when it has ended; absent: none. */
  gpuCount: z.int().positive().optional(),
  /** Cores that it reserves, each a CPU slot; absent: one where it takes no GPU, else none. */
  cores: z.int().positive().optional(),
  pid: z.int().nullable(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** From when to when its attempts before that were up; absent: there were none. */
  earlier: z.array(z.tuple([z.number(), z.number()])).optional(),
  /** When SIGKILL follows, while the run is stopping. */
  killAt: z.number().nullable(),
  /** When it is started again by itself, while it waits for that. */
  retryAt: z.number().nullable(),
  /** Who holds it; null: nobody. A supervisor of an older build does not say. */
  heldBy: z.enum(['person', 'breaker', 'target']).nullable().optional(),
  priority: z.int(),
  /** Place among the runs of its sweep: the order of the file. A supervisor of an older build does not say. */
  place: z.int().optional(),
  /**
   * How it is treated where that is not the usual way, by key of the sweep file, in words: `retry: '3 retries'`. Of its present
   * attempt, or of the next where there is none. A supervisor of an older build does not say.
   */
  policy: z.record(z.string(), z.string()).optional(),
  /**
   * Digests of what it is started with that it does not show, by key of the sweep file: `env`, `cwd`, `resume_args`; absent where
   * there is none of it. A supervisor of an older build does not say.
   */
  started: z.record(z.string(), z.string()).optional(),
  /** Folder of the copy of the code that it is started from, in the sweep's `code`; absent: none, or the build is older. */
  snapshot: z.string().optional(),
  /** Parameters with which it goes on after its present attempt, where its budget was raised meanwhile: those that differ. */
  next: Parameters.nullable().optional(),
  /** MiB that its processes hold on GPUs, together; null: none, or not known. */
  gpuMemory: z.number().nullable(),
  /** Percent of one core that its processes use now; null: not known, as of a run that is not up. An older build does not say. */
  cpu: z.number().nullable().optional(),
  /** MiB in RAM that its processes hold, together. As `cpu`. */
  memory: z.number().nullable().optional(),
  /** What a person should know beside its state: processes that survived SIGKILL, GPU memory still held. */
  warning: z.string().nullable(),
  /** 0..1 */
  progress: z.number().nullable(),
  etaSeconds: z.number().nullable(),
  /** From when to when it may end, seconds: in eight cases of ten. A supervisor of an older build does not say. */
  etaRange: z.tuple([z.number(), z.number()]).nullable().optional(),
  /** Last value of every numeric metric. On the wire null stands for all that is not finite, in a client's copy for NaN alone. */
  metrics: z.record(z.string(), z.number().nullable()),
  /** Those metrics whose last value is an infinity; null: there are none. A supervisor of an older build does not say. */
  infinite: z
    .record(z.string(), z.enum(['inf', '-inf']))
    .nullable()
    .optional(),
  /**
   * The best value its objective has had in any row of the present file of metrics; null: none was finite. Absent: it has no
   * objective, or the build is older.
   */
  best: z
    .object({ metric: z.string(), goal: z.enum(['minimize', 'maximize']), value: z.number().nullable() })
    .optional(),
  /** Metrics that only count, as all their values show; of those that would stand for the run by their names. An older build does not say. */
  counting: z.array(z.string()).optional(),
  /** The first metric worth a column over the run so far, oldest first, at most 32 values. */
  spark: z.array(z.number().nullable()),
  health: z.enum(runHealths),
  /** What a person has noted of it; null: nothing. An older build does not say. */
  annotation: Annotation.nullable().optional(),
  /** How that is seen, in words for a person; null: nothing is wrong. A supervisor of an older build does not say. */
  healthReason: z.string().nullable().optional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

/** Names of the metrics by which runs are judged: the objective, and those of the stop rule as it writes them. Absent: none. */
const judgedBy = z.array(z.string()).optional();

export const GroupSummary = z.object({
  name: z.string(),
  title: z.string().nullable(),
  needs: z.array(z.string()),
  /** Seconds between SIGTERM and SIGKILL when one of its runs is killed. A supervisor of an older build does not say. */
  grace: z.number().optional(),
  /** File of a run's directory that says that it is done; absent: its exit code does, or the build is older. */
  doneFile: z.string().optional(),
  /** What to show of its runs, where that is not what the sweep shows. */
  shown: z.object({ show: z.array(z.string()), x: z.string(), judgedBy }).optional(),
});
export type GroupSummary = z.infer<typeof GroupSummary>;

/** One sweep the supervisor knows. Its runs come separately. */
export const SweepSummary = z.object({
  name: z.string(),
  description: z.string().nullable(),
  directory: z.string(),
  groups: z.array(GroupSummary),
  /** Metric keys to show first, and the key of the x axis (`step` when the file says nothing). */
  show: z.array(z.string()),
  x: z.string(),
  judgedBy,
  /** The metric that says how good a run is, where the file names one. */
  objective: z.object({ name: z.string(), goal: z.enum(['minimize', 'maximize']) }).optional(),
});
export type SweepSummary = z.infer<typeof SweepSummary>;

/** One GPU as clients see it. Memory in MiB. `null`: the driver does not say, or has not been asked. */
export const GpuStatus = z.object({
  index: z.int(),
  name: z.string().nullable(),
  uuid: z.string().nullable(),
  /** Ids of the runs that were put there. */
  runs: z.array(z.string()),
  drained: z.boolean(),
  memoryTotal: z.number().nullable(),
  memoryUsed: z.number().nullable(),
  /** Percent. */
  utilization: z.number().nullable(),
  /** Degrees Celsius. */
  temperature: z.number().nullable(),
  /** Watts. */
  power: z.number().nullable(),
  /** Processes that are not of any run here. */
  foreign: z.array(z.object({ pid: z.int(), name: z.string(), memory: z.number().nullable() })),
  /** The runs directory of another supervisor that has taken it; null: none has. */
  leasedBy: z.string().nullable(),
  /** Whether its runs share it through the MPS daemon. */
  mps: z.boolean(),
});
export type GpuStatus = z.infer<typeof GpuStatus>;

/** What concerns all runs of a supervisor at once. */
export const FleetStatus = z.object({
  /** Nothing runs, and nothing that waits can start by itself. */
  settled: z.boolean(),
  /** What ended runs wrote last has been read; until then their metrics may be missing. A supervisor of an older build does not say. */
  recalled: z.boolean().default(true),
  /** How many ended runs that still concerns. */
  unread: z.int().optional(),
  /** Groups that get further runs by themselves, until there are `cap`. Absent: none do. */
  growing: z.array(z.object({ sweep: z.string(), group: z.string(), cap: z.int() })).optional(),
  cpu: z.object({ slots: z.int(), busy: z.int() }),
  /** GPUs that may be used, in the order in which they are preferred. */
  gpus: z.array(GpuStatus),
  /** What keeps the supervisor from its work (a full disk), in words; null when nothing does. */
  problem: z.string().nullable(),
});
export type FleetStatus = z.infer<typeof FleetStatus>;
