import * as z from 'zod';
import { bytes, count, path, pid, RunState } from './facts.js';

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
