/**
 * Finds out what happened to an attempt that this process did not start.
 *
 * The report of its shim decides: `exit`, or the code in `pid`. A shim that died without one has not ended the run, as its
 * processes may live on. So an attempt is over when none of its processes lives; if that is not visible, as on another machine, it
 * is not over.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { firstNumber } from '../../files/run-directory/own-directory.js';
import { obstacleOf } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';
import { cgroupPids } from '../../processes/cgroup.js';
import { readProcFile } from '../../processes/proc-file.js';
import {
  bootId,
  hostIdentity,
  identityOf,
  isAlive,
  type ProcessIdentity,
  relationTo,
} from '../../processes/process-identity.js';
import { type ProcessEntry, readProcess } from '../../processes/process-table.js';
import { type Tree, treeMembers } from '../../processes/process-tree.js';
import {
  attemptDirectory,
  type Claim,
  claimLine,
  claimOrObstacle,
  exitObstacle,
  isFromEarlierBoot,
  isGivenUp,
  obstacleWords,
  readClaim,
  withdraw,
} from '../attempt/attempt-files.js';
import { provenEnding, unprovenEnding } from '../attempt/ending.js';
import type { Ending } from '../executor.js';

/** An attempt by its run's directory and its number. */
type Which = { directory: string; number: number };

type AttemptState =
  /** Its shim lives. */
  | { kind: 'led'; identity: ProcessIdentity; cgroup: string | null }
  /** Its shim is dead, but other processes of it live. */
  | { kind: 'orphaned'; identity: ProcessIdentity; cgroup: string | null }
  /** It began where its processes are not visible from here. */
  | { kind: 'elsewhere'; pid: number; host: string }
  /** None of its processes lives, but its exit file is not readable, perhaps only for now. */
  | { kind: 'unclear'; identity: ProcessIdentity; cgroup: string | null }
  | { kind: 'ended'; identity: ProcessIdentity | null; cgroup: string | null; ending: Ending }
  /** It had not begun, and never will. `neverRan`: even if it was thought to be up. `reason`: why nothing more is known. */
  | { kind: 'withdrawn'; neverRan: boolean; reason?: string };

type Begun = Extract<Claim, { kind: 'begun' }>;

/** Interval of looks at a line that is being written, ms, and their number. They block all other work. */
const GLANCE_MS = 5;
const GLANCES = 8;

/** @param listProcesses Returns all processes; called only if the files do not decide. */
export function attemptStateOf(which: Which, listProcesses: () => readonly ProcessEntry[]): AttemptState {
  const claim = claimOrObstacle(attemptDirectory(which.directory, which.number));
  switch (claim.kind) {
    case 'obstructed':
      return ofObstructed(which, listProcesses, claim.reason);
    case 'begun':
      return ofBegun(which, claim, listProcesses);
    case 'withdrawn':
      return ofWithdrawn(which, claim.neverRan);
    case 'unreadable':
      return ofUnreadable(which, listProcesses);
    case 'none':
      return ofNone(which, listProcesses);
  }
}

/** Whether processes of an earlier attempt may live, so that no other attempt of its run may start. */
function isUnderWay(which: Which, listProcesses: () => readonly ProcessEntry[]): boolean {
  const folder = attemptDirectory(which.directory, which.number);
  const claim = readClaim(folder);
  if (claim.kind === 'withdrawn') return false;
  if (claim.kind !== 'begun') return carriersOf(which, listProcesses()).length > 0;
  return !['ended', 'unclear', 'withdrawn'].includes(ofBegun(which, claim, listProcesses).kind);
}

/** The living processes of an attempt with a known shim, without leftovers of other attempts of its run. */
function livingOf(which: Which, tree: Tree, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const number = firstNumber(which);
  return treeMembers(processes, tree).filter(
    (entry) => Number(entry.startTime) >= Number(tree.startTime) && Number(entry.attempt() ?? number) === number,
  );
}

function ofBegun(which: Which, claim: Begun, listProcesses: () => readonly ProcessEntry[]): AttemptState {
  const { identity, place } = claim;
  const { directory, number } = which;
  const isForeign = place !== null && relationTo({ ...place, bootId: identity.bootId }) === 'foreign';
  const cgroup = claim.cgroup !== null && isCgroupOf(directory, claim.cgroup) ? claim.cgroup : null;
  if (isForeign || !isAlive(identity)) return ofDead(which, { ...claim, cgroup }, { isForeign, listProcesses });
  if (isProcessOf(directory, identity.pid)) return { kind: 'led', identity, cgroup };
  const file = `${runFiles.attempts}/${number}/${runFiles.pid}`;
  return ofObstructed(which, listProcesses, `${file} names process ${identity.pid}, which is not of this run`);
}

/** Handles an attempt whose shim is dead, or not visible from here. */
function ofDead(
  which: Which,
  { identity, place, cgroup }: Begun,
  { isForeign, listProcesses }: { isForeign: boolean; listProcesses: () => readonly ProcessEntry[] },
): AttemptState {
  const { directory, number } = which;
  const folder = attemptDirectory(directory, number);
  const ending = provenEnding(folder, null);
  if (ending !== null) return { kind: 'ended', identity, cgroup, ending };
  if (isForeign)
    return isGivenUp(folder)
      ? outOfReach(identity, place!.host)
      : { kind: 'elsewhere', pid: identity.pid, host: place!.host };
  if (identity.bootId === bootId()) {
    const tree = { pid: identity.pid, startTime: identity.startTime, directory, cgroup };
    if (livingOf(which, tree, listProcesses()).length > 0) return { kind: 'orphaned', identity, cgroup };
    if (exitObstacle(folder) !== null) return { kind: 'unclear', identity, cgroup };
  }
  return { kind: 'ended', identity, cgroup, ending: unprovenEnding(folder, null, false) };
}

/** The ending of an attempt that a user has given up. */
function outOfReach(identity: ProcessIdentity, host: string): AttemptState {
  return { kind: 'ended', identity, cgroup: null, ending: { kind: 'unknown', reason: unreachable(host) } };
}

/** The reason in the ending of an attempt on another machine that a user has given up. */
export function unreachable(host: string): string {
  return `its processes on ${host} could not be reached`;
}

/** Handles an attempt without a claim: its shim has not started yet, or somebody deleted its files. */
function ofNone(which: Which, listProcesses: () => readonly ProcessEntry[]): AttemptState {
  const folder = attemptDirectory(which.directory, which.number);
  try {
    const withdrawn = withdraw(folder);
    if (withdrawn !== null) return ofUnclaimed(which, withdrawn.neverRan, listProcesses);
  } catch (error) {
    const obstacle = obstacleOf(error);
    const reason = obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone';
    return ofObstructed(which, listProcesses, `${runFiles.attempts}/${which.number} cannot be written: ${reason}`);
  }
  if (readClaim(folder).kind !== 'none') return attemptStateOf(which, listProcesses);
  return ofObstructed(which, listProcesses, obstacleWords(folder, 'it is a link that leads nowhere'));
}

/**
 * Handles an attempt whose files are unusable. If processes with its mark live, it continues with the oldest of them; otherwise it
 * will never begin, as its shim would have the mark, too.
 */
function ofObstructed(which: Which, listProcesses: () => readonly ProcessEntry[], reason: string): AttemptState {
  const oldest = oldestOf(carriersOf(which, listProcesses()));
  const identity = oldest === undefined ? null : identityOf(oldest.pid);
  if (identity !== null) return { kind: 'led', identity, cgroup: null };
  const ending = provenEnding(attemptDirectory(which.directory, which.number), null);
  if (ending !== null) return { kind: 'ended', identity: null, cgroup: null, ending };
  return { kind: 'withdrawn', neverRan: false, reason };
}

/** Handles an attempt that we have just claimed: it can no longer begin, but somebody may have deleted the claim of a live one. */
function ofUnclaimed(which: Which, neverRan: boolean, listProcesses: () => readonly ProcessEntry[]): AttemptState {
  const carriers = carriersOf(which, listProcesses());
  if (carriers.length === 0) return ofWithdrawn(which, neverRan);
  claimFor(which, carriers);
  return attemptStateOf(which, listProcesses);
}

/** The result for an attempt that can no longer begin and has no living process. */
function ofWithdrawn({ directory, number }: Which, neverRan: boolean): AttemptState {
  const ending = provenEnding(attemptDirectory(directory, number), null);
  if (ending !== null) return { kind: 'ended', identity: null, cgroup: null, ending };
  return { kind: 'withdrawn', neverRan };
}

/**
 * Handles a claim without its line. The shim runs the command only after the whole line is written, so unless the shim is writing
 * it at this moment, or the line was lost, the command has never run and never will.
 */
function ofUnreadable(which: Which, listProcesses: () => readonly ProcessEntry[]): AttemptState {
  const { directory, number } = which;
  const carriers = carriersOf(which, listProcesses());
  if (carriers.length > 0) {
    claimFor(which, carriers);
    return attemptStateOf(which, listProcesses);
  }
  const writer = listProcesses().find((entry) => entry.mark() === directory && isShim(entry));
  const identity = writer === undefined ? null : identityOf(writer.pid);
  if (identity === null) return ofLineless(which);
  for (let glance = 0; glance < GLANCES && isAlive(identity); glance++) {
    pass(GLANCE_MS);
    const claim = readClaim(attemptDirectory(directory, number));
    if (claim.kind === 'begun') return ofBegun(which, claim, listProcesses);
  }
  return isAlive(identity) ? { kind: 'led', identity, cgroup: null } : ofLineless(which);
}

/** Handles a missing line that nobody is writing; a crash of the machine may have lost it. */
function ofLineless({ directory, number }: Which): AttemptState {
  if (!isFromEarlierBoot(attemptDirectory(directory, number))) return { kind: 'withdrawn', neverRan: true };
  const reason = 'the machine stopped while it was being started';
  return { kind: 'ended', identity: null, cgroup: null, ending: { kind: 'unknown', reason } };
}

/**
 * The living processes of an attempt that no file identifies: they have the run's mark or write to its log. Leftovers of an earlier
 * attempt do not count, nor does a shim without a child, which is about to fail to claim the attempt.
 */
function carriersOf(which: Which, processes: readonly ProcessEntry[]): ProcessEntry[] {
  const { directory } = which;
  const number = firstNumber(which);
  const members = treeMembers(processes, { pid: 0, startTime: null, directory });
  const parents = new Set(members.map(({ parent }) => parent));
  return members.filter((entry) => isOf(entry, number) && (parents.has(entry.pid) || !isShim(entry)));
}

/** Whether a process belongs to that attempt; one without a number counts as of the first. */
function isOf(entry: ProcessEntry, number: number): boolean {
  return Number(entry.attempt() ?? 1) === number;
}

/** Writes a deleted claim again, as far as its living processes show it. */
function claimFor(which: Which, carriers: readonly ProcessEntry[]): void {
  const oldest = oldestOf(carriers)!;
  const shim = carriers.find(isShim);
  // Without its shim the claim gets the session's pid, and a start time just before the oldest living process.
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
 * An earlier attempt of a run that lives, or may: its supervisor died and its records were deleted, its shim was killed from
 * outside, or it is on another machine. Null: there is none. Reads two small files for each earlier attempt.
 *
 * @param listProcesses Returns all processes; called only if the end of an earlier attempt is not certain.
 */
export function livingOrphanedAttempt(
  runDirectory: string,
  attempt: number,
  listProcesses: () => readonly ProcessEntry[],
): number | null {
  for (let number = attempt - 1; number >= 1; number--) {
    if (isUnderWay({ directory: runDirectory, number }, listProcesses)) return number;
  }
  return null;
}

/**
 * Whether what the claim of an attempt names is the run's own. The file lies in the directory of the run, where the run itself and
 * members of the user's group may write: it must not tell us to watch, signal or kill anything else.
 */

/** Whether a process has the mark of the run. One that has ended, or whose environment cannot be read, is believed. */
function isProcessOf(directory: string, pid: number): boolean {
  const mark = readProcess(pid)?.mark();
  if (mark === undefined) return true;
  if (mark === null) return pid > 1 && readProcFile(`/proc/${pid}/environ`) === null;
  return isSameRun(mark, directory);
}

/** Whether a cgroup is not that of another run: one of its processes has the mark of this run, or none has the mark of another. */
function isCgroupOf(directory: string, cgroup: string): boolean {
  let isOfOther = false;
  for (const pid of cgroupPids(cgroup)) {
    const mark = readProcess(pid)?.mark() ?? null;
    if (mark !== null && isSameRun(mark, directory)) return true;
    isOfOther ||= mark !== null;
  }
  return !isOfOther;
}

/** A runs directory may have been moved, or be reached by another path, since the run began. */
function isSameRun(mark: string, directory: string): boolean {
  if (mark === directory) return true;
  if (nameIn(mark) !== nameIn(directory)) return false;
  return !existsSync(mark) || isSameFolder(mark, directory);
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** Sweep and name of the run with this directory. */
function nameIn(directory: string): string {
  return `${basename(dirname(directory))}/${basename(directory)}`;
}
