/**
 * Who uses a GPU, among all supervisors and users of a machine: files in a folder that all may write to.
 *
 * A lease of the GPU `uuid` is a file `uuid.N`, and the one with the highest N counts. In a folder with the sticky bit
 * nobody can remove or replace the file of someone else, so a lease that is over is not taken over in its place, but by
 * making `uuid.N+1`, which only one can. What is over stays over, and the highest is never removed, only marked as given
 * back: so whoever has made a file, and then finds it the highest, is the one.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkNew } from '../files/whole-file.js';
import { isAlive, type ProcessIdentity } from '../processes/process-identity.js';
import { isLive, type Lease, readLease, type WrittenLease } from './lease-file.js';
import { makeFolder } from '../files/make-folder.js';

type LeaseOptions = {
  /** Shared by all users of the machine, e.g. `/tmp/memrl-gpus`; made if it is not there. */
  directory: string;
  /** The supervisor, which has locked its runs directory. */
  supervisor: ProcessIdentity;
  /** Absolute. */
  runsDirectory: string;
  uid: number;
};

type Taking = 'taken' | { heldBy: string };

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
 * Where the folder cannot be used, every GPU can be taken, `problem` says why, and it is tried again at each look: leases
 * are an agreement, not a lock.
 */
export class GpuLeases {
  readonly #options: LeaseOptions;
  /** By GPU uuid. `number` null: it could not be written. */
  readonly #held = new Map<string, { number: number | null; lease: Lease }>();
  #problem: string | null;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#problem = inTheWay(folderProblem(options));
    if (this.#problem === null) this.#clearDrafts();
  }

  /** Why others cannot know what is used here, in words; null when they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Takes the GPU, unless another living supervisor, or a run of it, has it. Again is the same as once. */
  take(uuid: string): Taking {
    return this.#held.has(uuid) ? 'taken' : this.#take(uuid, []);
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

  /** Runs directories of other supervisors that have taken GPUs, by GPU uuid. Our own leases are renewed on the way. */
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

  /** `late`: someone else was first, and may be gone again. Throws when the file cannot be made. */
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

  /** False when someone else was first. Throws when the file cannot be made. */
  #make(uuid: string, number: number, lease: Lease): boolean {
    const path = this.#pathOf(uuid, number);
    const draft = this.#draft(lease);
    try {
      if (!linkNew(draft, path)) return false;
    } finally {
      removeIfThere(draft);
    }
    // Who looked long ago may have got a number that was cleared away since.
    if (this.#top(uuid).number !== number) {
      removeIfThere(path);
      return false;
    }
    this.#held.set(uuid, { number, lease });
    this.#problem = null;
    for (const older of this.#numbersOf(uuid)) if (older < number) removeIfThere(this.#pathOf(uuid, older));
    return true;
  }

  /** Only over our own: what was cleared away may have been taken by another, under the same number. */
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

  /** What is not written for days is cleared away from /tmp; and what could not be written may be possible now. */
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

  /** Of all GPUs that anyone has ever taken. */
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

  /** A new file of our own: `wx` follows no link and opens nothing that is there. */
  #draft(lease: Lease): string {
    const path = join(this.#options.directory, `${DRAFT}${process.pid}.${randomBytes(8).toString('hex')}`);
    writeFileSync(path, JSON.stringify(lease), { flag: 'wx', mode: 0o644 });
    chmodSync(path, 0o644);
    return path;
  }

  /** Of processes that died while they wrote. */
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
/** It takes a moment to write one, ms. */
const DRAFT_MS = 60_000;

/** Makes the folder for all. What is wrong with it; null: nothing. */
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
    // Gone, or not ours: it does no harm.
  }
}
