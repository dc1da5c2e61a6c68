import * as z from 'zod';
import { Outcome } from '../base/outcome.js';
import { Parameters } from '../base/scalar.js';

/**
 * One start of a run. Times: Unix ms. `slot`: `cpu 0`, `gpu 3`. `commit`, `diff`: the code as it was then, so far as it was
 * found out; as in the record's `git`.
 */
export const AttemptRecord = z.looseObject({
  number: z.int().positive(),
  slot: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  outcome: Outcome.nullable(),
  commit: z.string().optional(),
  diff: z.string().nullable().optional(),
  /** As in the record. */
  snapshot: z.string().optional(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** The repository that the working directory is in, at the last submit. Loose, so newer fields survive. */
export const GitRecord = z.looseObject({
  commit: z.string(),
  /** Whether tracked files differ from the commit. */
  dirty: z.boolean(),
  /** Null: none is checked out. */
  branch: z.string().nullable().optional(),
  /** Address of the remote, without user and password; null: there is none. */
  remote: z.string().nullable().optional(),
  /**
   * File with the differences to the commit, below the sweep's directory (`code/ab12….diff`); null: there are none.
   * `git apply` takes it; it begins with what is not in it.
   */
  diff: z.string().nullable().optional(),
});
export type GitRecord = z.infer<typeof GitRecord>;

/** The machine, as far as it may explain a result. */
export const MachineRecord = z.looseObject({
  os: z.string(),
  cpu: z.string(),
  cores: z.int(),
  /** MiB. */
  memory: z.number(),
  /** Names of its GPUs. */
  gpus: z.array(z.string()),
  node: z.string(),
  /** Version of memrl-tui. */
  memrlTui: z.string(),
  user: z.string(),
});
export type MachineRecord = z.infer<typeof MachineRecord>;

/** `run.json`: what a run is and what became of it. Written by the supervisor alone; loose, so newer fields survive. Secrets stand as `***`. */
export const RunRecord = z.looseObject({
  version: z.literal(1),
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable(),
  name: z.string(),
  /** Hash of the group and the parameters that are not budget (`extends`). Same identity: the same run. */
  identity: z.string(),
  parameters: Parameters,
  argv: z.array(z.string()),
  cwd: z.string(),
  /**
   * The copy of the code that it is started from, below the sweep's directory (`code/snapshot-ab12…`), and where it would be
   * started without. Absent: there is none.
   */
  snapshot: z.looseObject({ path: z.string(), cwd: z.string() }).optional(),
  host: z.string(),
  machine: MachineRecord.optional(),
  git: GitRecord.nullable(),
  /** File with the versions of the packages it could see, below the sweep's directory (`code/packages-ab12….json`). */
  packages: z.string().nullable().optional(),
  /** File with its environment, below `.supervisor`, for the owner alone (`environments/ab12….json`). */
  environment: z.string().optional(),
  /** Digest of what the sweep file adds to that environment, at the last start. Absent: an older build wrote the record. */
  environmentDigest: z.string().optional(),
  /** Where its metrics are, beside its directory, and what to look for in what it prints; absent: nothing was said of that. */
  metrics: z
    .looseObject({ folders: z.array(z.string()).optional(), patterns: z.record(z.string(), z.string()).optional() })
    .optional(),
  /** How it is treated where that is not the usual way, each in a few words: `4 cores`, `nice 10`. Absent: all as usual. */
  policy: z.array(z.string()).optional(),
  attempts: z.array(AttemptRecord),
  /** Where it is, if that is not how its last attempt ended: it waits for a retry or a release, or was killed while it waited. */
  state: z.enum(['queued', 'held', 'killed']).optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;

/**
 * The exit code that a shim noted; null when it has not (yet).
 *
 * It is in the file of its own. Where the disk had no room for that file, it is the last line of `pid`, which is there
 * since the start and has room left in its last block: `exit 3`.
 *
 * @param exit Text of the attempt's `exit`; null: no such file.
 * @param pid Reads the attempt's `pid`, asked only where the other does not say it.
 */
export function exitCodeIn(exit: string | null, pid: () => string | null): number | null {
  if (exit !== null && /^\d+\n$/.test(exit)) return Number(exit);
  const noted = /\nexit (\d+)\n$/.exec(pid() ?? '')?.[1];
  return noted === undefined ? null : Number(noted);
}
