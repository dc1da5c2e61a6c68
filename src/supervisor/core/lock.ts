import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { uptime } from 'node:os';
import { UserError } from '../../base/user-error.js';
import { supervisorFiles } from '../../contract/files.js';
import { type LeaseTerms, SupervisorLock } from '../../contract/supervisor-lock.js';
import { fileSystemTime } from '../../files/file-system-time.js';
import { makeFolder } from '../../files/make-folder.js';
import { readRegular, textOrNull } from '../../files/regular-file.js';
import { linkNew } from '../../files/whole-file.js';
import { placeIn, relationTo } from '../../processes/process-identity.js';
import { isLivingSupervisor } from '../../processes/process-table.js';

/** `retaken`: the lock was deleted, and has been created again. `lost`: it belongs to another supervisor now. */
export type LockState = 'ours' | 'retaken' | 'lost';

/** A lock that this process holds. */
export type TakenLock = {
  kind: 'taken';
  release: () => void;
  /** Checks the lock, and creates it again if it is missing. */
  look: () => LockState;
  /** Records the present socket. Does nothing when the lock is another's. Throws when the disk refuses. */
  moved: (socket: string) => void;
};

/**
 * `held`: another supervisor is alive. `elsewhere`: another one holds the lock, and it cannot be seen from here whether that lives;
 * its last heartbeat was `silentForMs` ago.
 */
type LockResult =
  | TakenLock
  | { kind: 'held'; by: SupervisorLock }
  | { kind: 'elsewhere'; by: SupervisorLock; silentForMs: number };

/** Whether the process that wrote a lock lives, as far as can be seen from here. */
type Sight = 'lives' | 'is dead' | 'is out of sight';

/** Size limit of a lock in bytes. */
const LARGEST = 1 << 16;

/**
 * Makes this process the owner of the runs directory, or returns its owner.
 *
 * A lock whose owner is dead may be taken over, but only once: the process that does so must first create a claim named after that
 * very lock, which only one can. A claim is itself a lock, so the claim of a process that died is taken over in the same way.
 *
 * An invisible owner, on another host or in another PID namespace, never counts as dead.
 *
 * @param expired The one lock of an invisible owner that may be taken over, as its lease has expired. Null: none.
 */
export function takeLock(
  runsDirectory: string,
  own: SupervisorLock,
  expired: SupervisorLock | null = null,
): LockResult {
  const path = lockPath(runsDirectory);
  const folder = dirname(path);
  makeFolder(folder, 0o700);
  // Processes of several hosts may have the same pid.
  const draft = join(folder, `lock.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' });
    const result = linkNew(draft, path) ? taken(path, own) : takeOver({ draft, path, expired }, own);
    if (result.kind === 'taken') new Lease(runsDirectory).renew();
    return result;
  } finally {
    removeIfThere(draft);
  }
}

export function lockPath(runsDirectory: string): string {
  return join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
}

/** The lock in this file; null: there is none, or it is incomplete or foreign. */
export function readLock(path: string): SupervisorLock | null {
  try {
    return SupervisorLock.parse(JSON.parse(textOrNull(path, LARGEST) ?? ''));
  } catch {
    return null;
  }
}

/** Whether one process wrote both locks. */
function isSameOwner(one: SupervisorLock, other: SupervisorLock): boolean {
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
  while (!linkNew(draft, claim)) {
    const rival = refusalOf(readLock(claim), expired, new Lease(runsDirectory));
    if (rival !== null) return rival;
    claims.push(claim);
    claim = claimOf(textOf(claim) ?? '');
  }
  claims.push(claim);
  // Another process may have taken over and removed the claims meanwhile.
  const isStillStale = textOf(path) === stale;
  if (isStillStale) renameSync(draft, path);
  claims.forEach(removeIfThere);
  return isStillStale ? taken(path, own) : takeLock(runsDirectory, own, expired);
}

/** Why the lock of this owner must be left alone; null: it may be taken over. An incomplete lock has no owner. */
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
      return isLivingSupervisor(owner) ? 'lives' : 'is dead';
    case 'earlier':
      // A machine of the same name may be a clone of this one: if it lives, it has sent heartbeats since the boot.
      return owner.host === undefined || lease.isFromEarlierBoot() ? 'is dead' : 'is out of sight';
    case 'foreign':
      return 'is out of sight';
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

/** The text of a lock; null: there is no such file. Throws a UserError if something else is at the path. */
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
    // It has been deleted already.
  }
}

/** How to fix an error of the system, by its code. */
const fixes: Record<string, string> = {
  EROFS: 'Mount that file system for writing, or choose another runs directory with `--runs DIR`.',
  ENOENT: 'It cannot be made there: choose another runs directory with `--runs DIR`.',
  EACCES: 'Make it writable, or choose another runs directory with `--runs DIR`.',
  EPERM: 'Make it writable, or choose another runs directory with `--runs DIR`.',
  ENOTDIR: 'A part of that path is a file: remove it, or choose another runs directory with `--runs DIR`.',
  ENOSPC: 'Free some space there; running runs are not affected.',
  EDQUOT: 'Free some of your quota; running runs are not affected.',
  EMFILE: 'Raise `ulimit -n`; running runs are not affected.',
  ENFILE: 'The machine has too many open files: close some; running runs are not affected.',
};

/** The error as a UserError when the system refused something that every supervisor needs; any other error unchanged. */
export function startProblem(error: unknown): unknown {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof UserError || typeof code !== 'string' || typeof message !== 'string') return error;
  const fix = fixes[code];
  if (fix === undefined) return error;
  return new UserError(`The supervisor cannot work: ${message}.`, fix, { cause: error });
}

/** Time in which a live supervisor says hello, ms. */
const PATIENCE_MS = 1000;

/** Whether a supervisor says hello on this socket; a dead one may have left the socket behind. */
export function isAnsweringPing(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isThere: boolean) => {
      clearTimeout(timer);
      socket.removeAllListeners().on('error', () => undefined);
      socket.destroy();
      resolve(isThere);
    };
    const timer = setTimeout(() => settle(false), PATIENCE_MS);
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}

/**
 * Heartbeats of a supervisor for those who cannot see its process: on another host, or in another container.
 *
 * A heartbeat is a byte written to `lease`. Its age is the difference of two times of the same file system: that of `lease` and
 * that of a file created now. So hosts whose clocks differ agree, also on network file systems.
 */
export class Lease {
  readonly #path: string;

  constructor(runsDirectory: string) {
    this.#path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lease);
  }

  /** Sends a heartbeat. If a full disk refuses the byte, only the time is set. */
  renew(): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    let file: number | null = null;
    try {
      file = openSync(this.#path, flags, 0o600);
      writeSync(file, '.', 0);
    } catch {
      this.#touch();
    } finally {
      if (file !== null) closeSync(file);
    }
  }

  /** A text that differs after each heartbeat; null: there was none. */
  mark(): string | null {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs}`;
  }

  /** Time since the last heartbeat, ms; Infinity: there was none. Throws when the folder is not writable. */
  silentFor(): number {
    const last = statSync(this.#path, { throwIfNoEntry: false });
    return last === undefined ? Infinity : fileSystemTime(dirname(this.#path)) - last.mtimeMs;
  }

  /** Whether the last heartbeat was sent before this machine was started. */
  isFromEarlierBoot(): boolean {
    return this.silentFor() > uptime() * 1000;
  }

  #touch(): void {
    try {
      const now = Date.now() / 1000;
      utimesSync(this.#path, now, now);
    } catch {
      // The next heartbeat follows soon.
    }
  }
}

/** Number of intervals without a heartbeat that are waited for, however old the last one is, as a clock may have been set. */
const WATCHED_BEATS = 2;

/**
 * Watches the lease of a supervisor whose process is not visible: true when it has expired and no heartbeat has come meanwhile,
 * false as soon as one comes.
 */
export async function fallsSilent(lease: Lease, { leaseMs, beatMs }: LeaseTerms): Promise<boolean> {
  const beganAt = performance.now();
  const first = lease.mark();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, beatMs / 4));
    if (lease.mark() !== first) return false;
    const isWatched = performance.now() - beganAt >= WATCHED_BEATS * beatMs;
    if (isWatched && lease.silentFor() >= leaseMs) return true;
  }
}
