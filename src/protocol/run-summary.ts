import * as z from 'zod';
import { Annotation } from '../base/annotation.js';
import { RunId } from '../base/ids.js';
import { exitClasses, runHealths, runStates } from '../base/run-words.js';
import { Parameters } from '../base/scalar.js';

/** The state of a run in one word. `status --json`, the window and the query language use these words. */
export const RunWord = z.enum(runStates);
export type RunWord = z.infer<typeof RunWord>;

/** Why a running run does not go on, in the words of its row: somebody is to type a line. */
export const awaitingInput = 'waits for input';

/** Everything that a client needs to draw one row. Times: Unix ms. Plain data, sent as JSON and patched field by field. */
export const RunSummary = z.object({
  id: RunId,
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable(),
  name: z.string(),
  /** Absolute path of the run directory. */
  directory: z.string(),
  parameters: Parameters,
  /** Parameters that only its program has declared; absent: none, or the supervisor is older. So is the name it has given itself. */
  declared: Parameters.optional(),
  displayName: z.string().optional(),
  argv: z.array(z.string()),
  state: RunWord,
  /** Why it waits, for a slot or for input, or how it ended, in words; the error line of a failed run. */
  reason: z.string().nullable(),
  /** Number of its last attempt, as its process is told; 0 before the first. Numbers may be skipped. */
  attempt: z.int().nonnegative(),
  exit: z
    .object({
      class: z.enum(exitClasses),
      code: z.int().nullable(),
      signal: z.string().nullable(),
    })
    .nullable(),
  /** `cpu 0`, `gpu 3`, or the node of a cluster; null: it holds none. */
  slot: z.string().nullable(),
  gpus: z.array(z.int()),
  /** Indices of its GPUs on the node of a cluster that is its slot; absent: it is on none. */
  nodeGpus: z.array(z.int()).optional(),
  /** Number of GPUs it takes while it is up, also after its end; absent: none. */
  gpuCount: z.int().positive().optional(),
  /** Cores that it reserves, each a CPU slot; absent: one if it takes no GPU, else none. */
  cores: z.int().positive().optional(),
  pid: z.int().nullable(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
  /** Start and end of its earlier attempts; absent: there were none. */
  earlier: z.array(z.tuple([z.number(), z.number()])).optional(),
  /** Time of the SIGKILL while the run is stopping. */
  killAt: z.number().nullable(),
  /** Time of its automatic retry, while it waits for that. */
  retryAt: z.number().nullable(),
  /** When its start time lets it start; null: it does not wait for that. An older supervisor does not send it. */
  startsAt: z.number().nullable().optional(),
  /** What holds it; null: nothing. Absent: an older supervisor does not send it. */
  heldBy: z.enum(['person', 'breaker', 'target']).nullable().optional(),
  priority: z.int(),
  /** Place among the runs of its sweep: the order of the file. Absent: an older supervisor does not send it. */
  place: z.int().optional(),
  /**
   * Settings that differ from the defaults, by key of the sweep file, in words: `retry: '3 retries'`. Those of its present attempt,
   * or of the next if there is none. Absent: an older supervisor does not send them.
   */
  policy: z.record(z.string(), z.string()).optional(),
  /**
   * Digests of start parameters that are not shown, by key of the sweep file: `env`, `cwd`, `resume_args`; empty ones are left out.
   * Absent: an older supervisor does not send them.
   */
  started: z.record(z.string(), z.string()).optional(),
  /** Folder of its code snapshot, in the sweep's `code`; absent: none, or the supervisor is older. */
  snapshot: z.string().optional(),
  /** Parameters with which it continues after its present attempt, if its budget was raised meanwhile: those that differ. */
  next: Parameters.nullable().optional(),
  /** What can be typed into; absent: nothing, or the supervisor is older. */
  input: z.enum(['lines', 'terminal']).optional(),
  /** GPU memory of its processes in MiB; null: none, or unknown. */
  gpuMemory: z.number().nullable(),
  /**
   * CPU usage of its processes in percent of one core; null: unknown, or the run is not up. An older supervisor does not send it.
   */
  cpu: z.number().nullable().optional(),
  /** RAM of its processes in MiB; otherwise like `cpu`. */
  memory: z.number().nullable().optional(),
  /** A warning beside its state: processes that survived SIGKILL, GPU memory still held. */
  warning: z.string().nullable(),
  /** 0..1 */
  progress: z.number().nullable(),
  etaSeconds: z.number().nullable(),
  /** The range in which its end is expected, in seconds, with a probability of 80 %. An older supervisor does not send it. */
  etaRange: z.tuple([z.number(), z.number()]).nullable().optional(),
  /**
   * Whether what it had written before its end, or before its supervisor was there, has been read; until then metrics may be missing or
   * old. An older supervisor does not send it.
   */
  read: z.boolean().optional(),
  /** Last value of every numeric metric. On the wire null stands for all non-finite values, in a client's copy for NaN alone. */
  metrics: z.record(z.string(), z.number().nullable()),
  /** Metrics whose last value is an infinity; null: there are none. An older supervisor does not send it. */
  infinite: z
    .record(z.string(), z.enum(['inf', '-inf']))
    .nullable()
    .optional(),
  /**
   * The best value of its objective in any row of the present metrics file; null: none was finite. Absent: it has no objective, or
   * the supervisor is older.
   */
  best: z
    .object({ metric: z.string(), goal: z.enum(['minimize', 'maximize']), value: z.number().nullable() })
    .optional(),
  /**
   * Metrics that are counters by their values, among those that could be shown by default. An older supervisor does not send them.
   */
  counting: z.array(z.string()).optional(),
  /** The values of the first metric column over the run so far, oldest first, at most 32. */
  spark: z.array(z.number().nullable()),
  health: z.enum(runHealths),
  /** The user's annotation; null: none. An older supervisor does not send it. */
  annotation: Annotation.nullable().optional(),
  /** The evidence for its health in words; null: nothing is wrong. An older supervisor does not send it. */
  healthReason: z.string().nullable().optional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

/** Whether what these runs had written has been read. @param isAllRead Whether that of all runs has: older supervisors say no more. */
export function areRead(runs: readonly Pick<RunSummary, 'read'>[], isAllRead: boolean): boolean {
  return runs.every(({ read = isAllRead }) => read);
}

/** The slot of a run with its GPUs there: `gpu 3`, `n1 gpu 0,1`; empty: it holds none. */
export function slotText({ slot, nodeGpus = [] }: Pick<RunSummary, 'slot' | 'nodeGpus'>): string {
  return `${slot ?? ''}${slot === null || nodeGpus.length === 0 ? '' : ` gpu ${nodeGpus.join(',')}`}`;
}

/** Names of the metrics by which runs are evaluated: the objective, and those of the stop rule as it writes them. Absent: none. */
const judgedBy = z.array(z.string()).optional();

export const GroupSummary = z.object({
  name: z.string(),
  title: z.string().nullable(),
  needs: z.array(z.string()),
  /** Whether it was not asked for, but another group needs it. */
  prerequisite: z.boolean().optional(),
  /** Seconds between SIGTERM and SIGKILL when one of its runs is killed. An older supervisor does not send it. */
  grace: z.number().optional(),
  /** File in a run's directory that shows that it is done; absent: its exit code does, or the supervisor is older. */
  doneFile: z.string().optional(),
  /** Which metrics of its runs to show, if they differ from the sweep's. */
  shown: z.object({ show: z.array(z.string()), x: z.string(), judgedBy }).optional(),
});
export type GroupSummary = z.infer<typeof GroupSummary>;

/** One sweep that the supervisor knows. Its runs are sent separately. */
export const SweepSummary = z.object({
  name: z.string(),
  description: z.string().nullable(),
  directory: z.string(),
  groups: z.array(GroupSummary),
  /** Metric keys to show first, and the key of the x axis (`step` when the file says nothing). */
  show: z.array(z.string()),
  x: z.string(),
  judgedBy,
  /** The metric that says how good a run is, if the file names one. */
  objective: z.object({ name: z.string(), goal: z.enum(['minimize', 'maximize']) }).optional(),
});
export type SweepSummary = z.infer<typeof SweepSummary>;

/** One GPU as clients see it. Memory in MiB. `null`: the driver does not report it, or has not been asked. */
export const GpuStatus = z.object({
  index: z.int(),
  name: z.string().nullable(),
  uuid: z.string().nullable(),
  /** Ids of the runs on it. */
  runs: z.array(z.string()),
  drained: z.boolean(),
  /** Why it is drained, if no user asked: runs failed on it. */
  drainReason: z.string().optional(),
  memoryTotal: z.number().nullable(),
  memoryUsed: z.number().nullable(),
  /** Percent. */
  utilization: z.number().nullable(),
  /** Degrees Celsius. */
  temperature: z.number().nullable(),
  /** Watts. */
  power: z.number().nullable(),
  /** Processes that do not belong to a run of this supervisor. */
  foreign: z.array(z.object({ pid: z.int(), name: z.string(), memory: z.number().nullable() })),
  /** The runs directory of another supervisor that has leased it; null: none has. */
  leasedBy: z.string().nullable(),
  /** Whether its runs share it through the MPS daemon. */
  mps: z.boolean(),
});
export type GpuStatus = z.infer<typeof GpuStatus>;

/**
 * A node of a cluster. `state`: in words, with the reason where it takes no runs. `takesRuns`: whether it may. `gpusInUse`: by
 * anybody's jobs; null: not known.
 */
export const NodeStatus = z.object({
  name: z.string(),
  state: z.string(),
  takesRuns: z.boolean(),
  gpus: z.int(),
  gpusInUse: z.int().nullable(),
});
export type NodeStatus = z.infer<typeof NodeStatus>;

/** The state of a supervisor beside its runs. */
export const FleetStatus = z.object({
  /** Whether nothing runs, and nothing that waits can start without a request. */
  settled: z.boolean(),
  /**
   * Whether what runs wrote before this supervisor was there, or before their end, has been read; until then it may be missing. An older
   * supervisor does not send it.
   */
  recalled: z.boolean().default(true),
  /** Number of runs of which that has yet to be read. */
  unread: z.int().optional(),
  /** Groups that get further runs without a request, until there are `cap`. Absent: none. */
  growing: z.array(z.object({ sweep: z.string(), group: z.string(), cap: z.int() })).optional(),
  /**
   * Sweeps of which runs wait and none can start without a request, though other sweeps may go on. An older supervisor does not send
   * it.
   */
  stuck: z.array(z.string()).optional(),
  cpu: z.object({ slots: z.int(), busy: z.int() }),
  /** GPUs that may be used, in order of preference. */
  gpus: z.array(GpuStatus),
  /** The nodes of the cluster that has the runs, those with runs first; absent: the runs are on this machine. */
  nodes: z.array(NodeStatus).optional(),
  /** What keeps the supervisor from working (a full disk), in words; null: nothing does. */
  problem: z.string().nullable(),
  /** Why nothing can be done to any run, in a sentence: nobody supervises them. Absent: something can. */
  readOnly: z.string().optional(),
  /** Whether the search for runs in viewed folders goes on. */
  isSearching: z.boolean().optional(),
});
export type FleetStatus = z.infer<typeof FleetStatus>;
