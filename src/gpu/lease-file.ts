import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import * as z from 'zod';
import { isAlive, type ProcessIdentity } from '../processes/process-identity.js';

const Identity = z.object({ pid: z.int().positive(), startTime: z.string(), bootId: z.string() });

/** What a file in the folder of leases says. */
export const Lease = z.object({
  version: z.literal(1),
  /** Of the GPU. */
  uuid: z.string(),
  supervisor: Identity,
  /** Absolute. */
  runsDirectory: z.string(),
  /** Shims of its runs on this GPU: while one of them lives the GPU is in use, supervisor or not. */
  runs: z.array(Identity),
  /** Given back: free for anyone. */
  isReturned: z.boolean(),
});
export type Lease = z.infer<typeof Lease>;

/** A lease, and who has written it: what is not theirs they cannot speak for. */
export type WrittenLease = { lease: Lease; uid: number };

/** More than any lease; bytes. */
const LARGEST = 1 << 18;

/**
 * Reads what someone has put there, who may be anyone: a link is not followed, a pipe not waited for, a huge file not read.
 * Null when it is no lease.
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

/** Whether the supervisor or one of the runs is still there. Once false, it stays so. */
export function isLive({ lease, uid }: WrittenLease): boolean {
  if (lease.isReturned) return false;
  return [lease.supervisor, ...lease.runs].some((identity) => livesAs(identity, uid));
}

/** Only a process of the writer counts: else one could take GPUs in the name of a process that never ends. */
function livesAs(identity: ProcessIdentity, uid: number): boolean {
  if (isAlive(identity)) return (realUser(identity.pid) ?? uid) === uid;
  return realUser(identity.pid) === null && isHidden(identity.pid);
}

/** Null where there is no such process, or it is not shown. */
function realUser(pid: number): number | null {
  try {
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return uid === undefined ? null : Number(uid);
  } catch {
    return null;
  }
}

/** Where /proc is mounted with `hidepid`, others' processes are not shown, and still may not be signalled. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
