import { closeSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonLine } from '../../contract/json-line.js';
import { openForAppending, statRegular, textOrNull } from '../../files/regular-file.js';
import { isAlive, relationTo } from '../../processes/process-identity.js';
import { attemptDirectory, attemptObstacle, endedAgo, readClaim, withdraw } from '../attempt/attempt-files.js';
import { provenEnding } from '../attempt/ending.js';
import type { Found } from '../executor.js';
import { indicesIn } from './cluster-nodes.js';
import { notAsked, ownEnding } from './job-ending.js';

/** A run that has written nothing for so long is taken for dead when Slurm does not know its job, ms. */
const QUIET_MS = 300_000;

/** Whose the attempt is. `other`: a supervisor withdrew it, or another job or machine began it. */
type Claimant = { kind: 'none' } | { kind: 'other' } | Owned;
/** `gpus`: indices on the node of the job; empty: it has none, or its worker knows them. */
type Owned = { kind: 'ours'; key: string; job: number; gpus: number[] };

/** @param keys Of the submissions of the attempt, or of its pack: the keys of its workers begin with that and `-`. */
export function claimantOf(directory: string, number: number, keys: readonly string[]): Claimant {
  const claim = readClaim(attemptDirectory(directory, number));
  if (claim.kind === 'none' || claim.kind === 'unreadable') return { kind: 'none' };
  const [job = '', key = '', gpus = ''] = (claim.kind === 'begun' ? (claim.job ?? '') : '').split(':');
  const isOurs = keys.some((each) => key === each || key.startsWith(`${each}-`));
  return isOurs ? { kind: 'ours', key, job: Number(job), gpus: indicesIn(gpus) } : { kind: 'other' };
}

/** Whether no job can begin the attempt any more. */
export function takenAway(directory: string, number: number): boolean {
  try {
    return withdraw(attemptDirectory(directory, number)) !== null;
  } catch {
    return false;
  }
}

/** What the disk alone says of an attempt; null: Slurm has to be asked. */
export function settledBy(folder: string, claimant: Claimant): Found | null {
  const reason = attemptObstacle(folder);
  if (reason !== null) return { kind: 'withdrawn', neverRan: false, reason };
  const own = ownEnding(folder, notAsked);
  if (own !== null) {
    const agoMs = endedAgo(folder);
    const pid = claimant.kind === 'ours' ? claimant.job : 0;
    return { kind: 'ended', pid, ending: own, ...(agoMs === null ? {} : { agoMs }) };
  }
  // A signal may be Slurm's, which knows more of it.
  if (claimant.kind !== 'other') return null;
  // Begun by what is no job of Slurm, or withdrawn.
  const proven = provenEnding(folder, null);
  return proven === null ? { kind: 'withdrawn', neverRan: true } : { kind: 'ended', pid: 0, ending: proven };
}

/**
 * Whether an attempt without an exit code may be running though Slurm does not know its job, as after the loss of a controller.
 * Where its node is this machine its process tells; else whether its run has written anything lately.
 */
export function mayStillRun(directory: string, number: number): boolean {
  return isAliveHere(directory, number) ?? Date.now() - newestIn(directory) < QUIET_MS;
}

/** Whether the shim of an attempt lives; null: it is on another machine, and nobody can see that from here. */
export function isAliveHere(directory: string, number: number): boolean | null {
  const claim = readClaim(attemptDirectory(directory, number));
  if (claim.kind !== 'begun') return false;
  const { place, identity } = claim;
  const relation = place === null ? 'foreign' : relationTo({ ...place, bootId: identity.bootId });
  return relation === 'foreign' ? null : relation === 'same' && isAlive(identity);
}

/** When a file directly in the directory was last written, Unix ms; 0: none is there. */
export function newestIn(directory: string): number {
  try {
    const times = readdirSync(directory).map((name) => {
      const there = statRegular(join(directory, name));
      return there.kind === 'file' ? there.stat.mtimeMs : 0;
    });
    return Math.max(0, ...times);
  } catch {
    return 0;
  }
}

/** File in the directory of an attempt with a line for each submission of it, written before that. */
const FILE = 'slurm.jsonl';
const LARGEST = 1 << 20;

/** Keys of the submissions of an attempt, oldest first. */
export function readKeys(folder: string): string[] {
  const lines = (textOrNull(join(folder, FILE), LARGEST) ?? '').split('\n');
  return lines.flatMap((line) => {
    const { key } = parseJsonLine(line) ?? {};
    return typeof key === 'string' ? [key] : [];
  });
}

/**
 * Leaves a key for the next supervisor. The line is not synced to the disk: if the machine stops and the line is lost, the attempt is
 * withdrawn, and the job leaves. @throws The error of the system.
 */
export function writeKey(folder: string, key: string): void {
  const opened = openForAppending(join(folder, FILE));
  if (opened.kind !== 'file') throw new Error(opened.kind === 'absent' ? 'it is gone' : opened.reason);
  try {
    writeSync(opened.descriptor, `${JSON.stringify({ key })}\n`);
  } finally {
    closeSync(opened.descriptor);
  }
}
