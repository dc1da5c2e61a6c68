/**
 * The cgroups (version 2) of this supervisor's runs, if it may create any.
 *
 * They are at `memrl/<hash of the runs directory>/<sweep>:<run>.<attempt>` below the supervisor's own cgroup: below it, so that an
 * administrator's limits still apply; and its own, because moving a process needs write permission for the closest common parent.
 * No controller is used, so none has to be enabled.
 *
 * A run pays 0.1 ms for it when many start together. After a pause the kernel waits for all CPUs before it moves the first shim,
 * some 10 ms in which nothing is computed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { inQuietTurn } from '../../processes/turn.js';
import { cgroupFolder, removeCgroup } from '../../processes/cgroup.js';
import { makeFolder } from '../../files/make-folder.js';

const LONGEST_NAME = 255;
/** An empty cgroup of another supervisor that is older than this is abandoned, ms; a younger one may be about to be entered. */
const STALE_MS = 60_000;
const ATTEMPTS = 5;

export class CgroupHome {
  readonly path: string;
  /** Cgroups that were not empty at the end of their attempt. */
  readonly #busy = new Set<string>();
  /** Cgroups of ended attempts that have yet to be removed. */
  readonly #ended = new Set<string>();
  /** Cgroups of earlier supervisors, which are removed if they are empty. */
  readonly #earlier: Set<string>;
  #isRemoving = false;

  constructor(path: string, earlier: readonly string[] = []) {
    this.path = path;
    this.#earlier = new Set(earlier);
    this.#continue();
  }

  /** Creates the cgroup of an attempt, in 0.05 ms. Null if that fails: the attempt then has none. */
  make(id: RunId, attempt: number): string | null {
    const path = join(this.path, nameOf(id, attempt));
    try {
      mkdirSync(path);
    } catch {
      // A cgroup of that name with living processes belongs to another attempt. The parent itself may have been removed.
      if (!removeCgroup(path) || !isMade(path)) return null;
    }
    // An attempt that was refused is started again under its number.
    for (const paths of [this.#ended, this.#busy, this.#earlier]) paths.delete(path);
    return path;
  }

  /** Leaves the cgroup of an adopted attempt alone: a thousand live ones are not tried for nothing. */
  keep(path: string): void {
    this.#earlier.delete(path);
  }

  /**
   * Removes the cgroup of an ended attempt, also an earlier supervisor's, in a quiet turn: the kernel takes up to 20 ms for each,
   * and a hundred attempts may end in the same turn. One with living processes is kept until `tidy` finds it empty.
   */
  remove(path: string): void {
    this.#ended.add(path);
    this.#continue();
  }

  /** Tries again to remove the remaining cgroups. */
  tidy(): void {
    for (const path of this.#busy) this.remove(path);
  }

  /** Removes all cgroups except those of living runs. */
  close(): void {
    for (const path of [...this.#ended, ...this.#busy, ...this.#earlier]) this.#removeNow(path);
    removeEmpty(this.path);
  }

  #continue(): void {
    if (this.#isRemoving || this.#ended.size + this.#earlier.size === 0) return;
    this.#isRemoving = true;
    inQuietTurn(() => {
      this.#isRemoving = false;
      const [path] = this.#ended.size > 0 ? this.#ended : this.#earlier;
      if (path !== undefined) this.#removeNow(path);
      this.#continue();
    });
  }

  #removeNow(path: string): void {
    this.#ended.delete(path);
    const isLeft = this.#earlier.delete(path);
    if (!removeCgroup(path)) return void (isLeft || this.#busy.add(path));
    this.#busy.delete(path);
    if (dirname(path) !== this.path) removeEmpty(dirname(path));
  }
}

/** Removes the cgroup of an ended attempt soon, if it had one; its home waits for processes in it. */
export function release(cgroup: string | null, home: CgroupHome | null): void {
  if (cgroup === null) return;
  if (home === null) removeCgroup(cgroup);
  else home.remove(cgroup);
}

/**
 * The home of cgroups; null if none can be created: no cgroup v2, no permission, not Linux. Removes those of dead runs soon, also
 * of deleted runs directories, as nobody else would.
 */
export function openCgroupHome(runsDirectory: string, staleMs = STALE_MS): CgroupHome | null {
  const own = ownCgroup();
  if (own === null) return null;
  const hash = createHash('sha256').update(runsDirectory).digest('hex').slice(0, 12);
  const path = join(own, 'memrl', hash);
  // Other supervisors may remove the parent folder at the same time.
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const home = homeAt(own, path, staleMs);
    if (home !== null) return home;
  }
  return null;
}

function homeAt(own: string, path: string, staleMs: number): CgroupHome | null {
  try {
    // Moving a process to its own cgroup needs the same permission as moving it to a child.
    writeFileSync(join(own, 'cgroup.procs'), String(process.pid));
    makeFolder(path);
    const homes = folders(dirname(path));
    return new CgroupHome(
      path,
      homes.flatMap((home) => (home === path ? folders(home) : abandonedIn(home, staleMs))),
    );
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

/** The name of an attempt's cgroup; names of runs contain no `:`, so it is unique. */
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

/** The cgroups in the home of another supervisor that are older than this; the home is removed if it is, and has none. */
function abandonedIn(home: string, ageMs: number): string[] {
  const isOld = (path: string) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= ageMs;
  const all = folders(home);
  if (all.length === 0 && isOld(home)) removeEmpty(home);
  return all.filter(isOld);
}

function folders(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

/** Removes the folder of a supervisor and, with the last of them, `memrl` itself. */
function removeEmpty(home: string): void {
  try {
    rmdirSync(home);
    rmdirSync(dirname(home));
  } catch {
    // Other cgroups are left.
  }
}

/**
 * Tells whether the kernel has recently killed a process for lack of memory. The counter does not say which, so each run that died
 * of an unexplained SIGKILL at that time takes one of the kills.
 */
export class OomWatch {
  readonly #count: () => number;
  #before: number;
  #latest: number;

  /** @param count Returns the number of such kills so far; it may include those of other processes. */
  constructor(count: () => number = oomKills) {
    this.#count = count;
    this.#before = this.#latest = count();
  }

  /** Call it about every second. Kills are remembered until the call after the next, as an end may be reported late. */
  look(): void {
    this.#before = Math.max(this.#before, this.#latest);
    this.#latest = this.#count();
  }

  /** Takes one of the recent kills; false: none is left. */
  take(): boolean {
    if (this.#count() <= this.#before) return false;
    this.#before++;
    return true;
  }
}

/** The kernel's counter for the whole machine, containers included; 0 without /proc. */
function oomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
