import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import * as z from 'zod';
import { isAlive, type ProcessIdentity } from '../processes/process-identity.js';

const Identity = z.object({ pid: z.int().positive(), startTime: z.string(), bootId: z.string() });

/** The content of a lease file. */
export const Lease = z.object({
  version: z.literal(1),
  /** Uuid of the GPU. */
  uuid: z.string(),
  supervisor: Identity,
  /** Absolute path. */
  runsDirectory: z.string(),
  /** Shims of its runs on this GPU: while one of them lives the GPU is in use, even if the supervisor has ended. */
  runs: z.array(Identity),
  /** Whether it has been returned, so that anyone may take the GPU. */
  isReturned: z.boolean(),
});
export type Lease = z.infer<typeof Lease>;

/** A lease and the owner of its file, which may only speak for that user's processes. */
export type WrittenLease = { lease: Lease; uid: number };

/** Size limit in bytes. */
const LARGEST = 1 << 18;

/**
 * Reads a lease file that anyone may have written: a link is not followed, a pipe not waited for, a huge file not read. Null: it is
 * no lease.
 */
export function readLease(path: string): WrittenLease | null {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile() || stat.size > LARGEST) return null;
      const bytes = Buffer.alloc(stat.size);
      const length = readSync(fd, bytes, 0, stat.size, 0);
      return { lease: Lease.parse(JSON.parse(bytes.toString('utf8', 0, length))), uid: stat.uid };
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

/** Whether the supervisor or one of the runs still lives. Once false, it stays so. */
export function isLive({ lease, uid }: WrittenLease): boolean {
  if (lease.isReturned) return false;
  return [lease.supervisor, ...lease.runs].some((identity) => livesAs(identity, uid));
}

/** Whether a process of this user lives: otherwise one could take GPUs in the name of a foreign process that never ends. */
function livesAs(identity: ProcessIdentity, uid: number): boolean {
  if (isAlive(identity)) return (realUser(identity.pid) ?? uid) === uid;
  return realUser(identity.pid) === null && isHidden(identity.pid);
}

/** The real user of a process; null: there is no such process, or it is hidden. */
function realUser(pid: number): number | null {
  try {
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return uid === undefined ? null : Number(uid);
  } catch {
    return null;
  }
}

/**
 * Whether a process is hidden: if /proc is mounted with `hidepid`, other users' processes are not listed, but signalling them is
 * denied.
 */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
