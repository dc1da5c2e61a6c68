import { createHash, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import { SupervisorLock } from '../../contract/supervisor-lock.js';
import { placeIn, relationTo } from '../../processes/host-identity.js';
import { isAlive } from '../../processes/process-identity.js';
import { UserError } from '../../base/user-error.js';
import { readRegular, textOrNull } from '../../files/regular-file.js';
import { Lease } from './lease.js';

/** `retaken`: someone had deleted it, and it is made anew. `lost`: it belongs to another supervisor now. */
export type LockState = 'ours' | 'retaken' | 'lost';

/** A lock that this process has. */
export type TakenLock = {
  kind: 'taken';
  release: () => void;
  /** What has become of the lock; sees to it that it is there. */
  look: () => LockState;
  /** Says where this supervisor listens now. Does nothing when the lock is another's. Throws when the disk refuses. */
  moved: (socket: string) => void;
};

/**
 * `held`: another supervisor is alive. `elsewhere`: another one has it, and from here nobody can see whether it lives; its
 * last sign of life was so long ago.
 */
export type LockResult =
  TakenLock | { kind: 'held'; by: SupervisorLock } | { kind: 'elsewhere'; by: SupervisorLock; silentForMs: number };

/** Whether the process that wrote a lock lives, as far as that can be seen from here. */
type Sight = 'lives' | 'is dead' | 'is out of sight';

/** A lock is smaller, bytes. */
const LARGEST = 1 << 16;

/**
 * Makes this process the owner of the runs directory, or says who is.
 *
 * A lock whose owner is dead may be taken over, and only once: whoever does must first create a claim named after that very
 * lock, which one of several can. A claim is a lock itself, so that of a process which died here is taken over likewise.
 *
 * An owner that is out of sight, on another host or in another PID namespace, is never dead by itself.
 *
 * @param expired The one lock out of sight that may be taken over all the same: its lease has expired. Null: none.
 */
export function takeLock(
  runsDirectory: string,
  own: SupervisorLock,
  expired: SupervisorLock | null = null,
): LockResult {
  const path = lockPath(runsDirectory);
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Processes of several hosts may have the same pid.
  const draft = join(folder, `lock.${randomUUID()}.tmp`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
  try {
    const result = create(draft, path) ? taken(path, own) : takeOver({ draft, path, expired }, own);
    if (result.kind === 'taken') new Lease(runsDirectory).renew();
    return result;
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
    return SupervisorLock.parse(JSON.parse(textOrNull(path, LARGEST) ?? ''));
  } catch {
    return null;
  }
}

/** Whether both were written by one process. */
export function isSameOwner(one: SupervisorLock, other: SupervisorLock): boolean {
  const facts = ({ pid, startTime, bootId, host, machineId, pidNamespace }: SupervisorLock) =>
    JSON.stringify([pid, startTime, bootId, host, machineId, pidNamespace]);
  return facts(one) === facts(other);
}

type Target = { draft: string; path: string; expired: SupervisorLock | null };

function takeOver({ draft, path, expired }: Target, own: SupervisorLock): LockResult {
  const runsDirectory = join(path, '..', '..');
  const claims: string[] = [];
  const claimOf = (lockText: string) => `${path}.${createHash('sha256').update(lockText).digest('hex').slice(0, 16)}`;
  const stale = textOf(path);
  if (stale === null) return takeLock(runsDirectory, own, expired);
  let claim = claimOf(stale);
  const refusal = refusalOf(readLock(path), expired, new Lease(runsDirectory));
  if (refusal !== null) return refusal;
  while (!create(draft, claim)) {
    const rival = refusalOf(readLock(claim), expired, new Lease(runsDirectory));
    if (rival !== null) return rival;
    claims.push(claim);
    claim = claimOf(textOf(claim) ?? '');
  }
  claims.push(claim);
  // Someone may have taken over and cleared away the claims since we looked.
  const isStillStale = textOf(path) === stale;
  if (isStillStale) renameSync(draft, path);
  claims.forEach(removeIfThere);
  return isStillStale ? taken(path, own) : takeLock(runsDirectory, own, expired);
}

/** Why the lock of this owner must be left alone; null when it may be taken over. A torn one has no owner. */
function refusalOf(
  owner: SupervisorLock | null,
  expired: SupervisorLock | null,
  lease: Lease,
): Exclude<LockResult, TakenLock> | null {
  const sight = owner === null ? 'is dead' : sightOf(owner, lease);
  if (owner === null || sight === 'is dead') return null;
  if (sight === 'lives') return { kind: 'held', by: owner };
  if (expired !== null && isSameOwner(expired, owner)) return null;
  return { kind: 'elsewhere', by: owner, silentForMs: lease.silentFor() };
}

function sightOf(owner: SupervisorLock, lease: Lease): Sight {
  switch (relationTo(placeIn(owner))) {
    case 'same':
      return isAlive(owner) ? 'lives' : 'is dead';
    case 'earlier':
      // A machine of the same name may be a copy of this one: if it lives, it has given signs of life since.
      return owner.host === undefined || lease.isFromEarlierBoot() ? 'is dead' : 'is out of sight';
    case 'foreign':
      return 'is out of sight';
  }
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

function taken(path: string, own: SupervisorLock): TakenLock {
  let current = own;
  const isOurs = () => {
    const there = readLock(path);
    return there !== null && isSameOwner(there, own);
  };
  const look = (): LockState => {
    if (isOurs()) return 'ours';
    return textOf(path) === null && takeLock(join(path, '..', '..'), current).kind === 'taken' ? 'retaken' : 'lost';
  };
  const moved = (socket: string) => {
    if (!isOurs()) return;
    current = { ...own, socket };
    replace(path, JSON.stringify(current));
  };
  return { kind: 'taken', release: () => (isOurs() ? removeIfThere(path) : undefined), look, moved };
}

/** Null when there is no such file. Throws a UserError for what is there and no file of ours. */
function textOf(path: string): string | null {
  const read = readRegular(path, LARGEST, { noLink: true });
  if (read.kind === 'text') return read.text;
  if (read.kind === 'absent') return null;
  throw new UserError(
    `${path} cannot be read: ${read.reason}.`,
    `Remove ${path}, unless another program put it there.`,
  );
}

function replace(path: string, text: string): void {
  const draft = join(dirname(path), `lock.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } finally {
    removeIfThere(draft);
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone is what we want.
  }
}
