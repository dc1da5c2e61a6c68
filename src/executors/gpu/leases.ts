/**
 * Who uses a GPU, among all supervisors and users of a machine: files in a folder that all may write to.
 *
 * A lease of the GPU `uuid` is a file `uuid.N`, and the one with the highest N counts. In a folder with the sticky bit
 * nobody can remove or replace the file of someone else, so a lease that is over is not taken over in its place, but by
 * making `uuid.N+1`, which only one can. What is over stays over, and the highest is never removed, only marked as given
 * back: so whoever has made a file, and then finds it the highest, is the one.
 */
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessIdentity } from '../local/process-identity.js';
import { isLive, type Lease, readLease, type WrittenLease } from './lease-file.js';

export type LeaseOptions = {
  /** Shared by all users of the machine, e.g. `/tmp/memrl-gpus`; made if it is not there. */
  directory: string;
  /** The supervisor, which has locked its runs directory. */
  supervisor: ProcessIdentity;
  /** Absolute. */
  runsDirectory: string;
  uid: number;
};

export type Taking = 'taken' | { heldBy: string };

/** The highest lease of a GPU, 0: there is none. `written` is null where the file is someone's rubbish, which counts as over. */
type Top = { number: number; written: WrittenLease | null };

/** More takings than this machine will see; and no file can make the next number impossible. */
const HIGHEST = 999_999_999;
/** Rivals can be first a few times, not for ever. */
const ROUNDS = 1000;

/**
 * The GPUs this supervisor has taken.
 *
 *     const leases = new GpuLeases({ directory, supervisor: identityOf(process.pid)!, runsDirectory, uid });
 *     leases.take(gpu.uuid)                       // before the first launch on it; after a crash for each GPU with runs
 *     leases.add(gpu.uuid, identityOf(shimPid)!)  // after each launch
 *     leases.release(gpu.uuid)                    // when its last run has ended
 *     leases.others()                             // at each look: for `toSeen`
 *
 * Where the folder cannot be used, every GPU can be taken and `problem` says why: leases are an agreement, not a lock.
 */
export class GpuLeases {
  readonly #options: LeaseOptions;
  /** Number of our lease, by GPU uuid. */
  readonly #held = new Map<string, { number: number; lease: Lease }>();
  #drafts = 0;
  #problem: string | null;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#problem = folderProblem(options.directory, options.uid);
    if (this.#problem === null) this.#clearDrafts();
  }

  /** Why leases are not kept, in words; null when they are. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Takes the GPU, unless another living supervisor, or a run of it, has it. Again is the same as once. */
  take(uuid: string): Taking {
    if (this.#problem !== null || this.#held.has(uuid)) return 'taken';
    return this.#take(uuid, []);
  }

  /** Notes a run on the GPU: should this supervisor die, the lease lives as long as the run does. */
  add(uuid: string, shim: ProcessIdentity): void {
    const held = this.#held.get(uuid);
    if (held === undefined) return;
    const runs = [...held.lease.runs.filter(isAlive), shim];
    this.#rewrite(uuid, { ...held.lease, runs });
  }

  /** Gives the GPU back. */
  release(uuid: string): void {
    const held = this.#held.get(uuid);
    if (held === undefined) return;
    this.#rewrite(uuid, { ...held.lease, runs: [], isReturned: true });
    this.#held.delete(uuid);
  }

  /** Runs directories of other supervisors that have taken GPUs, by GPU uuid. Also keeps our own leases from being cleared away as old. */
  others(): Map<string, string> {
    if (this.#problem !== null) return new Map();
    for (const uuid of this.#held.keys()) this.#keepFresh(uuid);
    const uuids = new Set(this.#files().map(({ uuid }) => uuid));
    return new Map(
      [...uuids].flatMap((uuid): [string, string][] => {
        const written = this.#top(uuid).written;
        return written !== null && isLive(written) && !this.#isOurs(written)
          ? [[uuid, written.lease.runsDirectory]]
          : [];
      }),
    );
  }

  #take(uuid: string, runs: readonly ProcessIdentity[]): Taking {
    for (let round = 0; round < ROUNDS; round++) {
      const { number: last, written } = this.#top(uuid);
      const isOurs = written !== null && this.#isOurs(written);
      if (written !== null && isLive(written) && !isOurs) return { heldBy: written.lease.runsDirectory };
      if (last === HIGHEST) return this.#giveUp(`${this.#pathOf(uuid, last)} is in the way`);
      const inherited = isOurs ? written.lease.runs : [];
      if (this.#make(uuid, last + 1, this.#newLease(uuid, [...inherited, ...runs])) !== 'late') return 'taken';
    }
    return this.#giveUp(`too many want ${uuid} at once`);
  }

  #newLease(uuid: string, runs: readonly ProcessIdentity[]): Lease {
    const { supervisor, runsDirectory } = this.#options;
    return { version: 1, uuid, supervisor, runsDirectory, runs: runs.filter(isAlive), isReturned: false };
  }

  /** `late`: someone else was first. `refused`: the file cannot be made. */
  #make(uuid: string, number: number, lease: Lease): 'first' | 'late' | 'refused' {
    const path = this.#pathOf(uuid, number);
    try {
      const draft = this.#draft(lease);
      const isNew = linked(draft, path);
      removeIfThere(draft);
      if (!isNew) return 'late';
    } catch (error) {
      this.#giveUp((error as Error).message);
      return 'refused';
    }
    // Who looked long ago may have got a number that was cleared away since.
    if (this.#top(uuid).number !== number) {
      removeIfThere(path);
      return 'late';
    }
    this.#held.set(uuid, { number, lease });
    for (const file of this.#files()) if (file.uuid === uuid && file.number < number) removeIfThere(file.path);
    return 'first';
  }

  /** Nobody else writes to our own file, and nobody takes it over while we live. */
  #rewrite(uuid: string, lease: Lease): void {
    const held = this.#held.get(uuid)!;
    this.#held.set(uuid, { ...held, lease });
    try {
      renameSync(this.#draft(lease), this.#pathOf(uuid, held.number));
    } catch (error) {
      this.#giveUp((error as Error).message);
    }
  }

  /** What is not touched for days is cleared away from /tmp. */
  #keepFresh(uuid: string): void {
    const { number, lease } = this.#held.get(uuid)!;
    const now = Date.now() / 1000;
    try {
      utimesSync(this.#pathOf(uuid, number), now, now);
    } catch {
      this.#held.delete(uuid);
      this.#take(uuid, lease.runs);
    }
  }

  #giveUp(reason: string): 'taken' {
    this.#problem = `GPUs are used without telling others: ${reason}`;
    return 'taken';
  }

  #top(uuid: string): Top {
    const numbers = this.#files().flatMap((file) => (file.uuid === uuid ? [file.number] : []));
    const number = Math.max(0, ...numbers);
    const written = number === 0 ? null : readLease(this.#pathOf(uuid, number));
    return { number, written: written?.lease.uuid === uuid ? written : null };
  }

  #files(): { uuid: string; number: number; path: string }[] {
    const { directory } = this.#options;
    return namesIn(directory).flatMap((name) => {
      const [, uuid, number] = /^(.+)\.([1-9]\d{0,8})$/.exec(name) ?? [];
      if (uuid === undefined || name.startsWith(DRAFT)) return [];
      return [{ uuid: decoded(uuid), number: Number(number), path: join(directory, name) }];
    });
  }

  #isOurs({ lease, uid }: WrittenLease): boolean {
    return uid === this.#options.uid && lease.runsDirectory === this.#options.runsDirectory;
  }

  #pathOf(uuid: string, number: number): string {
    return join(this.#options.directory, `${encodeURIComponent(uuid)}.${number}`);
  }

  /** A new file of our own: `wx` follows no link and opens nothing that is there. */
  #draft(lease: Lease): string {
    const path = join(this.#options.directory, `${DRAFT}${process.pid}.${++this.#drafts}`);
    removeIfThere(path);
    writeFileSync(path, JSON.stringify(lease), { flag: 'wx', mode: 0o644 });
    chmodSync(path, 0o644);
    return path;
  }

  /** Of our processes that died while they wrote. */
  #clearDrafts(): void {
    for (const name of namesIn(this.#options.directory)) {
      const pid = /^draft\.(\d+)\./.exec(name)?.[1];
      if (pid !== undefined && !isThere(Number(pid))) removeIfThere(join(this.#options.directory, name));
    }
  }
}

const DRAFT = 'draft.';

/** Makes the folder for all. What stands in the way, in words; null: nothing. */
function folderProblem(directory: string, uid: number): string | null {
  try {
    if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, 0o1777);
    const stat = lstatSync(directory);
    if (!stat.isDirectory()) return `GPUs are used without telling others: ${directory} is not a folder`;
    const isSafe = stat.uid === uid || (stat.mode & 0o1000) !== 0;
    return isSafe ? null : `GPUs are used without telling others: anyone may remove files from ${directory}`;
  } catch (error) {
    return `GPUs are used without telling others: ${(error as Error).message}`;
  }
}

/** False when there is something of that name. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
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

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone, or not ours: it does no harm.
  }
}
