import * as z from 'zod';
import { streamedEvents } from '../../protocol/event-stream.js';
import {
  Annotation,
  bytes,
  count,
  ExitClass,
  Goal,
  growingWords,
  Health,
  Interval,
  Parameters,
  path,
  pid,
  RunState,
  seconds,
  time,
  timeOrNull,
} from './facts.js';

const mib = z.number().nullable();

/** A run as `ls` and `wait` print it. */
const Run = z.object({
  name: z.string(),
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable().describe('second level of the list; null: there is none'),
  state: RunState,
  reason: z.string().nullable().describe('why it waits, or how it ended, in words; null: nothing is to be said'),
  attempt: count.describe('number of its last attempt; 0: none was made'),
  exit: z
    .object({
      class: ExitClass,
      code: z.int().nullable().describe('exit code of its process; null: there is none'),
      signal: z.string().nullable().describe('signal that ended it; null: none did'),
    })
    .nullable()
    .describe('how its last attempt ended; null: it has not'),
  pid: pid.nullable().describe('process id; null: no process is up'),
  slot: z.string().nullable().describe('`cpu 0`, `gpu 3` or the node of a cluster; null: it holds none'),
  gpus: z.array(z.int()).describe('indices of its GPUs on this machine'),
  startedAt: timeOrNull,
  endedAt: timeOrNull,
  retryAt: time.nullable().describe('when it is retried; null: it does not wait for that'),
  startsAt: time.nullable().describe('when its start time lets it start; null: it does not wait for that'),
  progress: z.number().nullable().describe('share of its work, 0 to 1; null: unknown'),
  etaSeconds: seconds.nullable().describe('seconds until its end; null: unknown'),
  etaRange: Interval.nullable().describe('the end lies between these in eight cases of ten, seconds; null: unknown'),
  read: z.boolean().describe('whether what it wrote has been read: if not, metrics may be missing or old'),
  metrics: z.record(z.string(), z.number().nullable()).describe('last values; null: not a finite number'),
  infinite: z
    .record(z.string(), z.enum(['inf', '-inf']))
    .nullable()
    .describe('metrics whose last value is infinite; null: there are none'),
  best: z
    .object({ metric: z.string(), goal: Goal, value: z.number().nullable().describe('null: none was finite') })
    .optional()
    .describe('best value of its objective in any row; absent: it has no objective'),
  health: Health,
  healthReason: z.string().nullable().describe('evidence for its health in words; null: nothing is wrong'),
  priority: z.int().describe('the higher start first'),
  gpuMemory: mib.describe('GPU memory of its processes, MiB; null: none, or unknown'),
  cpu: z.number().nullable().describe('percent of one core; null: unknown, or the run is not up'),
  memory: mib.describe('memory of its processes, MiB; null: unknown, or the run is not up'),
  warning: z.string().nullable().describe('what else is wrong, in words; null: nothing'),
  ...Annotation,
  parameters: Parameters,
  declared: Parameters.describe('parameters that only its program has declared'),
  displayName: z.string().nullable().describe('the name that its program has given it; null: none'),
  directory: path,
});

export const Ls = z.array(Run);

export const Wait = z.object({
  timedOut: z.boolean().describe('whether the time was up before all had ended; exit code 124'),
  runs: z.array(Run),
});

/** A line of `events`. */
export const Event = z.object({
  cursor: z.string().describe('`--since` goes on behind it'),
  event: growingWords(streamedEvents),
  at: time,
  sweep: z.string(),
  group: z.string().optional(),
  run: z.string().optional().describe('name of the run, or of the first of several; absent: it is about the sweep'),
  runs: count.optional().describe('number of runs, where the event is about several'),
  attempt: count.optional(),
  slot: z.string().optional(),
  reason: z.string().optional().describe('why, in words'),
  code: z.int().optional().describe('exit code of the process'),
  health: z.string().optional().describe('of a warning: the health of the run in a word'),
  counts: z.record(z.string(), count).optional().describe('at the end of a sweep: number of runs by state'),
  metric: z.string().optional(),
  goal: Goal.optional(),
  value: z.number().optional().describe('best value of the metric so far in the group of the run'),
  gap: z.literal(true).optional().describe('events before this one are not kept any more'),
});

const RunIds = z.array(z.string()).describe('`sweep/run` of each run it applies to');
const message = z.string().nullable().describe('what was done, in words; null: it was a dry run');
const done = z.boolean().describe('false: it was a dry run, or there was nothing to do');

/** A verb of the table of run verbs. */
export const Act = z.object({
  verb: z.string(),
  runs: RunIds,
  unfitting: z.array(z.object({ id: z.string(), state: RunState })).describe('chosen runs to which it does not apply'),
  done: z.boolean().describe('false: it was a dry run'),
  message,
});

export const Annotate = z.object({
  verb: z.string(),
  runs: RunIds,
  done: z.boolean().describe('false: it was a dry run'),
  message,
});

/** A copy of the code of a sweep. */
export const Snapshot = z.object({ sweep: z.string(), name: z.string(), path, bytes });

export const Clean = z.object({
  verb: z.literal('clean'),
  bytes: bytes.describe('bytes on the disk that are freed'),
  runs: z.array(
    z.object({
      id: z.string(),
      directory: path,
      bytes,
      all: z.boolean().describe('the whole directory'),
      paths: z.array(z.string()).describe('parts of it, relative to the directory'),
      words: z.string().describe('what is deleted, in words'),
    }),
  ),
  snapshots: z.array(Snapshot).describe('copies of the code'),
  done,
  problems: z.array(z.string()).describe('what could not be deleted, in words'),
});

export const Restart = z.object({
  verb: z.literal('restart'),
  pid: pid.nullable().describe('process id of the supervisor; null: it was ended, and none was started'),
  replaced: pid.nullable().describe('process id of the one before; null: there was none'),
  runs: count.optional().describe('number of runs that continue; absent: no supervisor was started'),
  message: z.string(),
});
