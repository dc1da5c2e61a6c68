import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { SupervisorLock } from '../contract/supervisor-lock.js';
import { isAlive } from '../executors/local/process-identity.js';

/** `retaken`: someone had deleted it, and it is made anew. `lost`: it belongs to another supervisor now. */
export type LockState = 'ours' | 'retaken' | 'lost';

/** `held`: another supervisor is alive. `look`: what has become of the lock; sees to it that it is there. */
export type LockResult =
  { kind: 'taken'; release: () => void; look: () => LockState } | { kind: 'held'; by: SupervisorLock };

/**
 * Makes this process the owner of the runs directory, or says who is.
 *
 * A lock whose owner is dead may be taken over, and only once: whoever does must first create a claim named after that very
 * lock, which one of several can. A claim is a lock itself, so that of a process which died here is taken over likewise.
 */
export function takeLock(runsDirectory: string, own: SupervisorLock): LockResult {
  const path = lockPath(runsDirectory);
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `lock.${own.pid}.tmp`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    return create(draft, path) ? taken(path, own) : takeOver(draft, path, own);
  } finally {
    removeIfThere(draft);
  }
}

export function lockPath(runsDirectory: string): string {
  return join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
}

/** The lock in this file; null when there is none, or it is torn or foreign. */
export function readLock(path: string): SupervisorLock | null {
  try {
    return SupervisorLock.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

function takeOver(draft: string, path: string, own: SupervisorLock): LockResult {
  const claims: string[] = [];
  const claimOf = (lockText: string) => `${path}.${createHash('sha256').update(lockText).digest('hex').slice(0, 16)}`;
  const stale = textOf(path);
  if (stale === null) return takeLock(join(path, '..', '..'), own);
  let claim = claimOf(stale);
  const owner = readLock(path);
  if (owner !== null && isAlive(owner)) return { kind: 'held', by: owner };
  while (!create(draft, claim)) {
    const rival = readLock(claim);
    if (rival !== null && isAlive(rival)) return { kind: 'held', by: rival };
    claims.push(claim);
    claim = claimOf(textOf(claim) ?? '');
  }
  claims.push(claim);
  // Someone may have taken over and cleared away the claims since we looked.
  const isStillStale = textOf(path) === stale;
  if (isStillStale) renameSync(draft, path);
  claims.forEach(removeIfThere);
  return isStillStale ? taken(path, own) : takeLock(join(path, '..', '..'), own);
}

/** With a link, because it is refused when the target exists, and the file has its text from the first moment. */
function create(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function taken(path: string, own: SupervisorLock): LockResult {
  const isOurs = () => {
    const { pid, startTime } = readLock(path) ?? {};
    return pid === own.pid && startTime === own.startTime;
  };
  const look = (): LockState => {
    if (isOurs()) return 'ours';
    return textOf(path) === null && takeLock(join(path, '..', '..'), own).kind === 'taken' ? 'retaken' : 'lost';
  };
  return { kind: 'taken', release: () => (isOurs() ? removeIfThere(path) : undefined), look };
}

/** Null when there is no such file. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone is what we want.
  }
}
