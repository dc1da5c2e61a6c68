import * as z from 'zod';
import {
  Annotation,
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
import { streamedEvents } from '../../protocol/event-stream.js';

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
