import * as z from 'zod';
import { Outcome } from '../base/outcome.js';
import { Parameters } from '../base/scalar.js';

/**
 * One start of a run. Times: Unix ms. `slot`: `cpu 0`, `gpu 3`. `commit`, `diff`: the code at that time where it is known, as in
 * the record's `git`.
 */
export const AttemptRecord = z.looseObject({
  number: z.int().positive(),
  slot: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  outcome: Outcome.nullable(),
  commit: z.string().optional(),
  diff: z.string().nullable().optional(),
  /** The code snapshot, as in the record's `snapshot.path`. */
  snapshot: z.string().optional(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** The repository that the working directory is in, at the last submit. Loose, so newer fields survive. */
export const GitRecord = z.looseObject({
  commit: z.string(),
  /** Whether tracked files differ from the commit. */
  dirty: z.boolean(),
  /** Null: no branch is checked out. */
  branch: z.string().nullable().optional(),
  /** Address of the remote, without user and password; null: there is none. */
  remote: z.string().nullable().optional(),
  /**
   * File with the differences from the commit, below the sweep's directory (`code/ab12….diff`); null: there are none. `git apply`
   * accepts it; its head lists what it leaves out.
   */
  diff: z.string().nullable().optional(),
});
export type GitRecord = z.infer<typeof GitRecord>;

/** The machine, as far as it may explain a result. */
export const MachineRecord = z.looseObject({
  os: z.string(),
  cpu: z.string(),
  cores: z.int(),
  /** RAM in MiB. */
  memory: z.number(),
  /** Names of its GPUs. */
  gpus: z.array(z.string()),
  node: z.string(),
  /** Version of memrl-tui. */
  memrlTui: z.string(),
  user: z.string(),
});
export type MachineRecord = z.infer<typeof MachineRecord>;

/**
 * `run.json`: what a run is and what has happened to it. Only the supervisor writes it; loose, so newer fields survive. Secrets are
 * replaced by `***`.
 */
export const RunRecord = z.looseObject({
  version: z.literal(1),
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable(),
  name: z.string(),
  /**
   * Hash of the group and of the parameters that are not budget (`extends`). Records with the same identity are of the same run.
   */
  identity: z.string(),
  parameters: Parameters,
  argv: z.array(z.string()),
  cwd: z.string(),
  /**
   * The code snapshot that the run starts from, below the sweep's directory (`code/snapshot-ab12…`), and the working directory that
   * it would have without one. Absent: it has no snapshot.
   */
  snapshot: z.looseObject({ path: z.string(), cwd: z.string() }).optional(),
  host: z.string(),
  machine: MachineRecord.optional(),
  git: GitRecord.nullable(),
  /** File with the versions of the packages in the run's environment, below the sweep's directory (`code/packages-ab12….json`). */
  packages: z.string().nullable().optional(),
  /** File with the run's environment, below `.supervisor`, readable by the owner alone (`environments/ab12….json`). */
  environment: z.string().optional(),
  /**
   * Digest of the variables that the sweep file adds to that environment, at the last start. Absent: an older build wrote the
   * record.
   */
  environmentDigest: z.string().optional(),
  /**
   * Folders outside the run's directory that hold its metrics, and patterns for metrics in its output; absent: the sweep file sets
   * neither.
   */
  metrics: z
    .looseObject({ folders: z.array(z.string()).optional(), patterns: z.record(z.string(), z.string()).optional() })
    .optional(),
  /** Settings of this run that differ from the defaults, each in a few words: `4 cores`, `nice 10`. Absent: there are none. */
  policy: z.array(z.string()).optional(),
  attempts: z.array(AttemptRecord),
  /**
   * The state of the run, where the end of its last attempt does not tell it: it waits for a retry or a release, or was killed
   * while it waited.
   */
  state: z.enum(['queued', 'held', 'killed']).optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;

/**
 * The exit code that a shim recorded; null when it has not (yet).
 *
 * The shim writes it to the file `exit`. Where the disk has no room for that file, the exit code is the last line of `pid` (`exit
 * 3`), which exists since the start and has room left in its last block.
 *
 * @param exit Text of the attempt's `exit`; null: no such file.
 * @param pid Reads the attempt's `pid`; called only where `exit` does not hold the code.
 */
export function exitCodeIn(exit: string | null, pid: () => string | null): number | null {
  if (exit !== null && /^\d+\n$/.test(exit)) return Number(exit);
  const noted = /\nexit (\d+)\n$/.exec(pid() ?? '')?.[1];
  return noted === undefined ? null : Number(noted);
}
