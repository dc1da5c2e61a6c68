/**
 * What has become of an attempt that this process did not start.
 *
 * The word of its shim settles it: `exit`, or the code noted in `pid`. A shim that died without a word has not ended the
 * run: whatever it started may live on. So an attempt is over when nothing of it lives, and where that cannot be seen, as
 * on another machine, it is not over.
 */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { obstacleOf } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';
import { hostIdentity, relationTo } from '../../processes/host-identity.js';
import { bootId, identityOf, isAlive, type ProcessIdentity } from '../../processes/process-identity.js';
import type { ProcessEntry } from '../../processes/process-table.js';
import { type Tree, treeMembers } from '../../processes/process-tree.js';
import type { Ending } from '../executor.js';
import {
  attemptDirectory,
  attemptObstacle,
  exitObstacle,
  isFromEarlierBoot,
  isGivenUp,
  obstacleWords,
  readClaim,
  withdraw,
} from '../attempt/attempt-files.js';
import { type Claim, claimLine } from '../attempt/claim-text.js';
import { provenEnding, unprovenEnding } from '../attempt/ending.js';

/** An attempt by its run's directory. */
type Which = { directory: string; number: number };

type Whereabouts =
  /** Its shim lives. */
  | { kind: 'led'; identity: ProcessIdentity; cgroup: string | null }
  /** Its shim does not, but others of it do. */
  | { kind: 'orphaned'; identity: ProcessIdentity; cgroup: string | null }
  /** It began where its processes cannot be seen from here. */
  | { kind: 'elsewhere'; pid: number; host: string }
  /** Nothing of it lives, and the file that tells its end cannot be read. That may pass. */
  | { kind: 'unclear'; identity: ProcessIdentity; cgroup: string | null }
  | { kind: 'ended'; identity: ProcessIdentity | null; cgroup: string | null; ending: Ending }
  /** It had not begun, and now never will. `neverRan`: even if it was thought to be up. `reason`: why nothing more is known. */
  | { kind: 'withdrawn'; neverRan: boolean; reason?: string };

type Begun = Extract<Claim, { kind: 'begun' }>;

/** Between looks at a line that is being written, ms, and how many there are. All other work waits meanwhile. */
const GLANCE_MS = 5;
const GLANCES = 8;

/** @param census All processes; asked only where the files do not settle it. */
export function whereaboutsOf(which: Which, census: () => readonly ProcessEntry[]): Whereabouts {
  const folder = attemptDirectory(which.directory, which.number);
  const obstacle = attemptObstacle(folder);
  if (obstacle !== null) return ofObstructed(which, census, obstacle);
  const claim = readClaim(folder);
  switch (claim.kind) {
    case 'begun':
      return ofBegun(which, claim, census);
    case 'withdrawn':
      return ofWithdrawn(which, claim.neverRan);
    case 'unreadable':
      return ofUnreadable(which, census);
    case 'none':
      return ofNone(which, census);
  }
}

/** Whether something of an earlier attempt may still live, so that nothing of its run may be started beside it. */
function isUnderWay(which: Which, census: () => readonly ProcessEntry[]): boolean {
  const folder = attemptDirectory(which.directory, which.number);
  const claim = readClaim(folder);
  if (claim.kind === 'withdrawn') return false;
  if (claim.kind !== 'begun') return carriersOf(which, census()).length > 0;
  return !['ended', 'unclear', 'withdrawn'].includes(ofBegun(which, claim, census).kind);
}

/** The living processes of an attempt whose shim is known; those that other attempts of its run left behind are not. */
function livingOf(which: Which, tree: Tree, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const number = ownNumber(which);
  return treeMembers(processes, tree).filter(
    (entry) => Number(entry.startTime) >= Number(tree.startTime) && Number(entry.attempt() ?? number) === number,
  );
}

/** The number its processes were told: an attempt that goes on as a later one stands under both. */
function ownNumber({ directory, number }: Which): number {
  try {
    return Number(basename(realpathSync(attemptDirectory(directory, number)))) || number;
  } catch {
    return number;
  }
}

function ofBegun(which: Which, { identity, place, cgroup }: Begun, census: () => readonly ProcessEntry[]): Whereabouts {
  const { directory, number } = which;
  const folder = attemptDirectory(directory, number);
  const isForeign = place !== null && relationTo({ ...place, bootId: identity.bootId }) === 'foreign';
  if (!isForeign && isAlive(identity)) return { kind: 'led', identity, cgroup };
  const ending = provenEnding(folder, null);
  if (ending !== null) return { kind: 'ended', identity, cgroup, ending };
  if (isForeign)
    return isGivenUp(folder)
      ? outOfReach(identity, place.host)
      : { kind: 'elsewhere', pid: identity.pid, host: place.host };
  if (identity.bootId === bootId()) {
    const tree = { pid: identity.pid, startTime: identity.startTime, directory, cgroup };
    if (livingOf(which, tree, census()).length > 0) return { kind: 'orphaned', identity, cgroup };
    if (exitObstacle(folder) !== null) return { kind: 'unclear', identity, cgroup };
  }
  return { kind: 'ended', identity, cgroup, ending: unprovenEnding(folder, null, false) };
}

/** A person has said that it has ended. */
function outOfReach(identity: ProcessIdentity, host: string): Whereabouts {
  return { kind: 'ended', identity, cgroup: null, ending: { kind: 'unknown', reason: unreachable(host) } };
}

/** What is said of an attempt on another machine that a person has given up. */
export function unreachable(host: string): string {
  return `its processes on ${host} could not be reached`;
}

/** Nobody has claimed it, as far as can be seen: its shim has not come to it, or somebody took its files away. */
function ofNone(which: Which, census: () => readonly ProcessEntry[]): Whereabouts {
  const folder = attemptDirectory(which.directory, which.number);
  try {
    const withdrawn = withdraw(folder);
    if (withdrawn !== null) return ofUnclaimed(which, withdrawn.neverRan, census);
  } catch (error) {
    const obstacle = obstacleOf(error);
    const reason = obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone';
    return ofObstructed(which, census, `${runFiles.attempts}/${which.number} cannot be written: ${reason}`);
  }
  if (readClaim(folder).kind !== 'none') return whereaboutsOf(which, census);
  return ofObstructed(which, census, obstacleWords(folder, 'it is a link that leads nowhere'));
}

/**
 * Its files do not say who it is, and cannot be made to. If anything of it lives, it goes on as the first of these; if nothing
 * does, nothing will: its shim would carry the mark, too.
 */
function ofObstructed(which: Which, census: () => readonly ProcessEntry[], reason: string): Whereabouts {
  const oldest = oldestOf(carriersOf(which, census()));
  const identity = oldest === undefined ? null : identityOf(oldest.pid);
  if (identity !== null) return { kind: 'led', identity, cgroup: null };
  const ending = provenEnding(attemptDirectory(which.directory, which.number), null);
  if (ending !== null) return { kind: 'ended', identity: null, cgroup: null, ending };
  return { kind: 'withdrawn', neverRan: false, reason };
}

/** The file was not there, and is ours now: nobody can begin the attempt. But somebody may have deleted it under a live one. */
function ofUnclaimed(which: Which, neverRan: boolean, census: () => readonly ProcessEntry[]): Whereabouts {
  const carriers = carriersOf(which, census());
  if (carriers.length === 0) return ofWithdrawn(which, neverRan);
  claimFor(which, carriers);
  return whereaboutsOf(which, census);
}

/** Nobody can begin it any more, and nothing of it lives. */
function ofWithdrawn({ directory, number }: Which, neverRan: boolean): Whereabouts {
  const ending = provenEnding(attemptDirectory(directory, number), null);
  if (ending !== null) return { kind: 'ended', identity: null, cgroup: null, ending };
  return { kind: 'withdrawn', neverRan };
}

/**
 * The file is there, its line is not. The shim runs the command only after the whole line is written, so unless the
 * shim is at it this very moment, or the line was there once, the command has never run and never will.
 */
function ofUnreadable(which: Which, census: () => readonly ProcessEntry[]): Whereabouts {
  const { directory, number } = which;
  const carriers = carriersOf(which, census());
  if (carriers.length > 0) {
    claimFor(which, carriers);
    return whereaboutsOf(which, census);
  }
  const writer = census().find((entry) => entry.mark() === directory && isShim(entry));
  const identity = writer === undefined ? null : identityOf(writer.pid);
  if (identity === null) return ofLineless(which);
  for (let glance = 0; glance < GLANCES && isAlive(identity); glance++) {
    pass(GLANCE_MS);
    const claim = readClaim(attemptDirectory(directory, number));
    if (claim.kind === 'begun') return ofBegun(which, claim, census);
  }
  return isAlive(identity) ? { kind: 'led', identity, cgroup: null } : ofLineless(which);
}

/** Nobody is writing the line. A machine that stopped may have lost it. */
function ofLineless({ directory, number }: Which): Whereabouts {
  if (!isFromEarlierBoot(attemptDirectory(directory, number))) return { kind: 'withdrawn', neverRan: true };
  const reason = 'the machine stopped while it was being started';
  return { kind: 'ended', identity: null, cgroup: null, ending: { kind: 'unknown', reason } };
}

/**
 * The living processes of an attempt that no file identifies: they carry the run's mark or write to its log. What an earlier
 * attempt left behind is not one of them, and nor is a shim without a child: it is about to find that the attempt is not its
 * to begin.
 */
function carriersOf(which: Which, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const { directory } = which;
  const number = ownNumber(which);
  const members = treeMembers(processes, { pid: 0, startTime: null, directory });
  const parents = new Set(members.map(({ parent }) => parent));
  return members.filter((entry) => isOf(entry, number) && (parents.has(entry.pid) || !isShim(entry)));
}

/** Whether it is of that attempt; one that does not say it counts as one of the first. */
function isOf(entry: ProcessEntry, number: number): boolean {
  return Number(entry.attempt() ?? 1) === number;
}

/** Writes the line anew that somebody deleted, as far as it can be known from those that live. */
function claimFor(which: Which, carriers: readonly ProcessEntry[]): void {
  const oldest = oldestOf(carriers)!;
  const shim = carriers.find(isShim);
  // Without its shim: nobody's pid, of the moment before the oldest that is left.
  const { session, startTime } = shim ?? { ...oldest, startTime: String(Number(oldest.startTime) - 1) };
  const unknown = Array.from({ length: 14 }, () => 0).join(' ');
  const stat = `${session} (sh) S 0 ${session} ${session} 0 ${unknown} ${startTime}`;
  const path = join(attemptDirectory(which.directory, which.number), runFiles.pid);
  writeWhole(path, claimLine(stat, hostIdentity(), null));
}

function oldestOf(processes: readonly ProcessEntry[]): ProcessEntry | undefined {
  return processes.toSorted((a, b) => Number(a.startTime) - Number(b.startTime) || a.pid - b.pid)[0];
}

function isShim(entry: ProcessEntry): boolean {
  return entry.argv()[3] === 'memrl-shim';
}

function pass(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * An earlier attempt of a run that still lives, or may: its supervisor died and what it knew was deleted, its shim was
 * killed from outside, or it is on another machine. Null: there is none. Costs two small files for each earlier attempt.
 *
 * @param census All processes; asked only where the ending of an earlier attempt is not proven.
 */
export function livingOrphanedAttempt(
  runDirectory: string,
  attempt: number,
  census: () => readonly ProcessEntry[],
): number | null {
  for (let number = attempt - 1; number >= 1; number--) {
    if (isUnderWay({ directory: runDirectory, number }, census)) return number;
  }
  return null;
}
