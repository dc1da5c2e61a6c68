import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { isDead, parseStat } from '../../base/process-stat.js';
import { UserError } from '../../base/user-error.js';
import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';

/**
 * The process that holds a run directory. `started`: its start time in the system's own units; null when the system
 * has none.
 */
const Holder = z.object({
  pid: z.int().positive(),
  started: z.string().nullable(),
  boot: z.string().nullable(),
  host: z.string(),
});
type Holder = z.infer<typeof Holder>;

/** Access to the system's processes. `answers`: whether a process of that id exists, for systems without `/proc`. */
export type Processes = { readonly own: number; readonly answers: (pid: number) => boolean };

/**
 * Purpose of a lock, for the error. `it`: the activity of the other process, after its name. `key`: the argument that
 * names the directory.
 */
type Use = { readonly it: string; readonly key: string };
const ofRun: Use = { it: 'writes into this run', key: 'log_path' };

/**
 * Locks a run directory for this process, so that two processes never write one run's metrics and checkpoints. The
 * lock of a process that no longer exists is taken over.
 *
 * @param use Purpose in the error; a run by default.
 * @returns a function that releases the directory; call it at the end, more than once does no harm.
 * @throws UserError when another process holds the lock.
 */
export function lockRun(directory: string, processes: Processes, use: Use = ofRun): () => void {
  const path = join(directory, runFiles.lock);
  const mine = JSON.stringify(processOf(processes.own));
  const draft = `${path}.${processes.own}`;
  try {
    // A partial draft may remain on a full disk.
    writeFileSync(draft, `${mine}\n`);
    takeOver(path, draft, { processes, use });
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (readText(path) === `${mine}\n`) rmSync(path, { force: true });
  };
}

/** Whether a process of this id exists. */
export function isThere(pid: number, kill: (pid: number, signal: 0) => unknown): boolean {
  try {
    return kill(pid, 0) !== false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Links the draft as the lock; an existing lock is replaced only if its holder no longer exists. */
function takeOver(path: string, draft: string, { processes, use }: { processes: Processes; use: Use }): void {
  for (let attempt = 0; attempt < 3; attempt++) {
    if (tryLink(draft, path)) return;
    const found = readText(path);
    if (found === null) continue;
    const holder = Holder.safeParse(parseJsonLine(found)).data ?? null;
    if (holder !== null && mayLive(holder, processes)) throw lockedError(path, holder, use);
    removeLock(path, found, `${draft}.old`);
  }
  throw new UserError(
    `${path} is taken over by other processes again and again.`,
    'Start one process for a directory, not several.',
  );
}

/** Removes the stale lock. If another process has taken it over meanwhile, its lock is put back. */
function removeLock(path: string, found: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readText(aside) !== found) tryLink(aside, path);
  rmSync(aside, { force: true });
}

/** @returns false when there is one already. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST' && tryCopy(from, to);
  }
}

/** Fallback for file systems without links. */
function tryCopy(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Whether the holder may still exist. A process of another machine cannot be checked from here, and counts as
 * existing.
 */
function mayLive(holder: Holder, { own, answers }: Processes): boolean {
  if (holder.host !== hostname()) return true;
  if (holder.pid === own) return false;
  const now = processOf(holder.pid);
  if (holder.boot !== now.boot) return false;
  if (holder.started !== null) return holder.started === now.started;
  return answers(holder.pid);
}

function processOf(pid: number): Holder {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
  return { pid, started: startOf(pid), boot, host: hostname() };
}

function startOf(pid: number): string | null {
  const stat = parseStat(readText(`/proc/${pid}/stat`) ?? '');
  return stat === null || isDead(stat) ? null : stat.startTime;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function lockedError(path: string, { pid, host }: Holder, { it, key }: Use): UserError {
  const elsewhere = host !== hostname();
  const who = elsewhere ? `process ${pid} on ${host}` : `process ${pid}`;
  const fix = elsewhere
    ? `Choose another ${key}; if that process is gone, remove ${path}.`
    : `Choose another ${key}, or wait until it has ended.`;
  return new UserError(`Another memrl ${it}: ${who}.`, fix);
}
