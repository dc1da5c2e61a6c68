/**
 * Who uses a GPU, among all supervisors and users of a machine: files in a folder that all may write to.
 *
 * A lease of the GPU `uuid` is a file `uuid.N`, and the one with the highest N counts. In a folder with the sticky bit users cannot
 * remove or replace each other's files, so an expired lease is not replaced, but followed by a new `uuid.N+1`, which only one
 * process can create. An expired lease stays so, and the highest is never removed, only marked as returned: so a process that has
 * created a file, and then finds it the highest, holds the lease.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../files/make-folder.js';
import { linkNew } from '../files/whole-file.js';
import { isAlive, type ProcessIdentity } from '../processes/process-identity.js';

const Identity = z.object({ pid: z.int().positive(), startTime: z.string(), bootId: z.string() });

/** The content of a lease file. */
const Lease = z.object({
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
type Lease = z.infer<typeof Lease>;

/** A lease and the owner of its file, which may only speak for that user's processes. */
type WrittenLease = { lease: Lease; uid: number };

/** Size limit in bytes. */
const LARGEST = 1 << 18;

/**
 * Reads a lease file that anyone may have written: a link is not followed, a pipe not waited for, a huge file not read. Null: it is
 * no lease.
 */
function readLease(path: string): WrittenLease | null {
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
function isLive({ lease, uid }: WrittenLease): boolean {
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

type LeaseOptions = {
  /** The folder, shared by all users of the machine, e.g. `/tmp/memrl-gpus`; created if it is missing. */
  directory: string;
  /** The supervisor that holds the lock of its runs directory. */
  supervisor: ProcessIdentity;
  /** Absolute path. */
  runsDirectory: string;
  uid: number;
};

type Taking = 'taken' | { heldBy: string };

/** The highest lease of a GPU, 0: there is none. `written` is null if the file is invalid, which counts as expired. */
type Top = { number: number; written: WrittenLease | null };

/** Limit on N, above what any machine reaches, so that no file can make the next number impossible. */
const HIGHEST = 999_999_999;
/** Limit on the attempts, as other processes may be first a few times, but not for ever. */
const ROUNDS = 1000;

/**
 * The GPUs that this supervisor has leased.
 *
 *     const leases = new GpuLeases({ directory, supervisor: identityOf(process.pid)!, runsDirectory, uid });
 *     leases.take(gpu.uuid)                       // before the first launch on it; after a crash for each GPU with runs
 *     leases.add(gpu.uuid, identityOf(shimPid)!)  // after each launch
 *     leases.release(gpu.uuid)                    // when its last run has ended
 *     leases.others()                             // at each look: for `toSeen`
 *
 * If the folder is not usable, every GPU can be taken, `problem` says why, and each look tries again: leases are a convention, not
 * a lock.
 */
export class GpuLeases {
  readonly #options: LeaseOptions;
  /** Held leases by GPU uuid. `number` null: the file could not be written. */
  readonly #held = new Map<string, { number: number | null; lease: Lease }>();
  #problem: string | null;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#problem = inTheWay(folderProblem(options));
    if (this.#problem === null) this.#clearDrafts();
  }

  /** Why others cannot see which GPUs are used here, in words; null: they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Takes the GPU, unless another living supervisor, or a run of it, has it. A second call has no effect. */
  take(uuid: string): Taking {
    return this.#held.has(uuid) ? 'taken' : this.#take(uuid, []);
  }

  /** Adds a run on the GPU: if this supervisor dies, the lease lives as long as the run. */
  add(uuid: string, shim: ProcessIdentity): void {
    const held = this.#held.get(uuid);
    if (held === undefined) return;
    const runs = [...held.lease.runs.filter(isAlive), shim];
    this.#rewrite(uuid, { ...held.lease, runs });
  }

  /** Returns the GPU. */
  release(uuid: string): void {
    const held = this.#held.get(uuid);
    if (held === undefined) return;
    this.#rewrite(uuid, { ...held.lease, runs: [], isReturned: true });
    this.#held.delete(uuid);
  }

  /** Runs directories of other supervisors that have leased GPUs, by GPU uuid. Also renews our own leases. */
  others(): Map<string, string> {
    for (const uuid of [...this.#held.keys()]) this.#renew(uuid);
    if (folderProblem(this.#options) !== null) return new Map();
    return new Map(
      [...this.#uuids()].flatMap((uuid): [string, string][] => {
        const { written } = this.#top(uuid);
        const isOthers = written !== null && isLive(written) && !this.#isOurs(written);
        return isOthers ? [[uuid, written.lease.runsDirectory]] : [];
      }),
    );
  }

  #take(uuid: string, runs: readonly ProcessIdentity[]): Taking {
    const problem = folderProblem(this.#options);
    if (problem !== null) return this.#takeUntold(uuid, runs, problem);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const taking = this.#tryToTake(uuid, runs);
        if (taking !== 'late') return taking;
      }
      return this.#takeUntold(uuid, runs, `too many processes want ${uuid} at once`);
    } catch (error) {
      return this.#takeUntold(uuid, runs, (error as Error).message);
    }
  }

  /** `late`: another process was first, and may have ended again. Throws when the file cannot be created. */
  #tryToTake(uuid: string, runs: readonly ProcessIdentity[]): Taking | 'late' {
    const { number: last, written } = this.#top(uuid);
    const isOurs = written !== null && this.#isOurs(written);
    if (written !== null && isLive(written) && !isOurs) return { heldBy: written.lease.runsDirectory };
    if (last === HIGHEST) return this.#takeUntold(uuid, runs, `${this.#pathOf(uuid, last)} cannot be followed`);
    const inherited = isOurs ? written.lease.runs : [];
    return this.#make(uuid, last + 1, this.#newLease(uuid, [...inherited, ...runs])) ? 'taken' : 'late';
  }

  #takeUntold(uuid: string, runs: readonly ProcessIdentity[], problem: string): 'taken' {
    this.#problem = inTheWay(problem);
    this.#held.set(uuid, { number: null, lease: this.#newLease(uuid, runs) });
    return 'taken';
  }

  #newLease(uuid: string, runs: readonly ProcessIdentity[]): Lease {
    const { supervisor, runsDirectory } = this.#options;
    return { version: 1, uuid, supervisor, runsDirectory, runs: runs.filter(isAlive), isReturned: false };
  }

  /** Creates a lease; false: another process was first. Throws when the file cannot be created. */
  #make(uuid: string, number: number, lease: Lease): boolean {
    const path = this.#pathOf(uuid, number);
    const draft = this.#draft(lease);
    try {
      if (!linkNew(draft, path)) return false;
    } finally {
      removeIfThere(draft);
    }
    // The number may have been free only because its file was deleted meanwhile.
    if (this.#top(uuid).number !== number) {
      removeIfThere(path);
      return false;
    }
    this.#held.set(uuid, { number, lease });
    this.#problem = null;
    for (const older of this.#numbersOf(uuid)) if (older < number) removeIfThere(this.#pathOf(uuid, older));
    return true;
  }

  /** Rewrites our own lease: another process may have taken the number of a deleted file. */
  #rewrite(uuid: string, lease: Lease): void {
    const { number } = this.#held.get(uuid)!;
    this.#held.set(uuid, { number, lease });
    if (number === null || !this.#isOurTop(uuid, number)) return;
    try {
      renameSync(this.#draft(lease), this.#pathOf(uuid, number));
      this.#problem = null;
    } catch (error) {
      this.#problem = inTheWay((error as Error).message);
    }
  }

  /** Renews a lease: old files are deleted from /tmp; and a lease that could not be written is tried again. */
  #renew(uuid: string): void {
    const { number, lease } = this.#held.get(uuid)!;
    if (number !== null && this.#isOurTop(uuid, number)) return this.#rewrite(uuid, lease);
    const taking = this.#take(uuid, lease.runs);
    if (taking !== 'taken') this.#problem = inTheWay(`${taking.heldBy} took ${uuid} in the meantime`);
  }

  #isOurTop(uuid: string, number: number): boolean {
    const top = this.#top(uuid);
    return top.number === number && top.written !== null && this.#isOurs(top.written);
  }

  #top(uuid: string): Top {
    const number = Math.max(0, ...this.#numbersOf(uuid));
    const written = number === 0 ? null : readLease(this.#pathOf(uuid, number));
    return { number, written: written?.lease.uuid === uuid ? written : null };
  }

  #numbersOf(uuid: string): number[] {
    const start = `${encodeURIComponent(uuid)}.`;
    const own = namesIn(this.#options.directory).filter((name) => name.startsWith(start));
    return own.flatMap((name) => (NUMBER.test(name.slice(start.length)) ? [Number(name.slice(start.length))] : []));
  }

  /** Uuids of all GPUs that were ever leased. */
  #uuids(): Set<string> {
    const names = namesIn(this.#options.directory).filter((name) => !name.startsWith(DRAFT));
    return new Set(names.map((name) => decoded(name.slice(0, Math.max(0, name.lastIndexOf('.'))))));
  }

  #isOurs({ lease, uid }: WrittenLease): boolean {
    return uid === this.#options.uid && lease.runsDirectory === this.#options.runsDirectory;
  }

  #pathOf(uuid: string, number: number): string {
    return join(this.#options.directory, `${encodeURIComponent(uuid)}.${number}`);
  }

  /** Creates a draft of our own: `wx` follows no link and opens no existing file. */
  #draft(lease: Lease): string {
    const path = join(this.#options.directory, `${DRAFT}${process.pid}.${randomBytes(8).toString('hex')}`);
    writeFileSync(path, JSON.stringify(lease), { flag: 'wx', mode: 0o644 });
    chmodSync(path, 0o644);
    return path;
  }

  /** Removes drafts of processes that died while they wrote. */
  #clearDrafts(): void {
    for (const name of namesIn(this.#options.directory)) {
      if (name.startsWith(DRAFT) && isOld(join(this.#options.directory, name))) {
        removeIfThere(join(this.#options.directory, name));
      }
    }
  }
}

const NUMBER = /^[1-9]\d{0,8}$/;
const DRAFT = 'draft.';
/** Age at which a draft is abandoned, ms, as writing takes only a moment. */
const DRAFT_MS = 60_000;

/** Creates the folder for all users. Returns what is wrong with it; null: nothing. */
function folderProblem({ directory, uid }: LeaseOptions): string | null {
  try {
    if (makeFolder(directory)) chmodSync(directory, 0o1777);
    const stat = lstatSync(directory);
    if (!stat.isDirectory()) return `${directory} is not a folder`;
    const isSafe = stat.uid === uid || (stat.mode & 0o1000) !== 0;
    return isSafe ? null : `anyone can remove files from ${directory}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function inTheWay(problem: string | null): string | null {
  return problem === null ? null : `other users of this machine cannot see which GPUs are used here: ${problem}`;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function isOld(path: string): boolean {
  try {
    return lstatSync(path).mtimeMs < Date.now() - DRAFT_MS;
  } catch {
    return false;
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The file is gone, or another user's, and does no harm.
  }
}
