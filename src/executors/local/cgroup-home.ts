/**
 * Where this supervisor's runs live in the tree of cgroups (version 2), if it may make cgroups at all.
 *
 * Its place is `memrl/<hash of the runs directory>/<sweep>:<run>.<attempt>` below the supervisor's own cgroup: below, so that
 * the limits an administrator set keep holding; the own one, because moving a process takes the right to write to the
 * closest common parent. Nothing is asked of a controller, so none has to be switched on.
 *
 * A run pays 0.1 ms for it where starts are dense. After a pause the kernel waits for all its processors before it moves the
 * first shim, some 10 ms in which nothing is computed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { inQuietTurn } from '../../processes/turn.js';
import { cgroupFolder, removeCgroup } from '../../processes/cgroup.js';
import { makeFolder } from '../../files/make-folder.js';

const LONGEST_NAME = 255;
/** A cgroup of another supervisor that is empty for longer is not one that its shim is about to enter, ms. */
const STALE_MS = 60_000;
const ATTEMPTS = 5;

export class CgroupHome {
  readonly path: string;
  /** Cgroups that were not empty when their attempt had ended. */
  readonly #busy = new Set<string>();
  /** Cgroups of ended attempts that are still to be removed. */
  readonly #ended = new Set<string>();
  #isRemoving = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes the cgroup of an attempt, 0.05 ms. Null if that fails: the attempt then goes without. */
  make(id: RunId, attempt: number): string | null {
    const path = join(this.path, nameOf(id, attempt));
    try {
      mkdirSync(path);
    } catch {
      // One of that name with living processes in it is not this attempt's. The place itself may have been cleared away.
      if (!removeCgroup(path) || !isMade(path)) return null;
    }
    // An attempt that was refused is made again under its number.
    this.#ended.delete(path);
    this.#busy.delete(path);
    return path;
  }

  /**
   * Removes the cgroup of an ended attempt, here or of an earlier supervisor, in a quiet turn: the kernel takes up to 20 ms
   * for one, and a hundred attempts may end in the same turn. One in which processes live is kept until `tidy` finds it empty.
   */
  remove(path: string): void {
    this.#ended.add(path);
    this.#goOn();
  }

  /** Tries again what could not be removed. */
  tidy(): void {
    for (const path of this.#busy) this.remove(path);
  }

  /** Leaves nothing behind but the cgroups of living runs. */
  close(): void {
    for (const path of [...this.#ended, ...this.#busy]) this.#removeNow(path);
    removeEmpty(this.path);
  }

  #goOn(): void {
    if (this.#isRemoving || this.#ended.size === 0) return;
    this.#isRemoving = true;
    inQuietTurn(() => {
      this.#isRemoving = false;
      const [path] = this.#ended;
      if (path !== undefined) this.#removeNow(path);
      this.#goOn();
    });
  }

  #removeNow(path: string): void {
    this.#ended.delete(path);
    if (!removeCgroup(path)) return void this.#busy.add(path);
    this.#busy.delete(path);
    if (dirname(path) !== this.path) removeEmpty(dirname(path));
  }
}

/** Removes the cgroup of an ended attempt soon, if it had one; what still lives in it is waited for by its home. */
export function release(cgroup: string | null, home: CgroupHome | null): void {
  if (cgroup === null) return;
  if (home === null) removeCgroup(cgroup);
  else home.remove(cgroup);
}

/**
 * Null where cgroups of our own cannot be made: no cgroup v2, not permitted, not Linux. Clears what dead runs left behind,
 * also those of runs directories that are gone: nobody else would.
 */
export function openCgroupHome(runsDirectory: string, staleMs = STALE_MS): CgroupHome | null {
  const own = ownCgroup();
  if (own === null) return null;
  const hash = createHash('sha256').update(runsDirectory).digest('hex').slice(0, 12);
  const path = join(own, 'memrl', hash);
  // Other supervisors may clear away the folder above it at this very moment.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const home = homeAt(own, path, staleMs);
    if (home !== null) return home;
  }
  return null;
}

function homeAt(own: string, path: string, staleMs: number): CgroupHome | null {
  try {
    // To move a process to where it is needs the same right as to move it to a child.
    writeFileSync(join(own, 'cgroup.procs'), String(process.pid));
    makeFolder(path);
    for (const home of folders(dirname(path))) sweep(home, home === path ? 0 : staleMs);
    makeFolder(path);
    return new CgroupHome(path);
  } catch {
    return null;
  }
}

function ownCgroup(): string | null {
  try {
    return cgroupFolder(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  } catch {
    return null;
  }
}

/** Runs have no `:` in their names, so no two attempts share one. */
function nameOf(id: RunId, attempt: number): string {
  const name = `${id.replace('/', ':')}.${attempt}`;
  return name.length <= LONGEST_NAME ? name : createHash('sha256').update(name).digest('hex');
}

function isMade(path: string): boolean {
  try {
    makeFolder(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes the empty cgroups of a home that are older than that, and the home with the last of them. */
function sweep(home: string, ageMs: number): void {
  const isOld = (path: string) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= ageMs;
  const left = folders(home);
  const gone = left.filter((path) => isOld(path) && removeCgroup(path));
  if (gone.length === left.length && isOld(home)) removeEmpty(home);
}

function folders(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

/** The folder of a supervisor and, with the last of them, `memrl` itself. */
function removeEmpty(home: string): void {
  try {
    rmdirSync(home);
    rmdirSync(dirname(home));
  } catch {
    // Others are there.
  }
}

/**
 * Tells whether the kernel has killed a process for want of memory lately. It says how often, not whom: whoever died of an
 * unexplained SIGKILL at that time takes one of the kills.
 */
export class OomWatch {
  readonly #count: () => number;
  #before: number;
  #latest: number;

  /** @param count How many such kills there were since some moment; it may grow by those of others. */
  constructor(count: () => number = oomKills) {
    this.#count = count;
    this.#before = this.#latest = count();
  }

  /** To be called every second or so. Kills are remembered until the call after the next, for an end that is told late. */
  look(): void {
    this.#before = Math.max(this.#before, this.#latest);
    this.#latest = this.#count();
  }

  /** Whether there was a kill lately that nobody has taken yet. */
  take(): boolean {
    if (this.#count() <= this.#before) return false;
    this.#before++;
    return true;
  }
}

/** Of the whole machine, containers included; 0 where there is no /proc. */
function oomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
