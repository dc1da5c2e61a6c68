import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import { snapshotPrefix, sweepFiles } from '../../contract/files.js';
import { pathAside, replacementName, runAside } from '../../files/disk/discard.js';
import { readUsage, totalUsage } from '../../files/disk/disk-usage.js';
import { isLink } from '../../files/run-directory/own-directory.js';
import { obstacleOf } from '../../files/regular-file.js';
import { counted, sizeText } from '../../text/numbers.js';
import type { Answers } from '../answers/schemas.js';
import type { PlannedItem, RunPlan } from './clean-plan.js';
import { copyFrom } from './log-cut.js';

/** Number of items in one request, as a line of the protocol has a size limit. */
const MOST = 200;

/**
 * Deletes the planned parts of one run: the supervisor sets them aside, unless it refuses, and then they are deleted here.
 *
 * @returns What went wrong, in words; null: nothing.
 */
export async function carryOut(plan: RunPlan, fleet: Fleet): Promise<string | null> {
  try {
    // Nothing is changed before the supervisor has confirmed that the directory is the run's own.
    const problem = plan.all ? await deleteRun(plan, fleet) : await deleteItems(plan, [], fleet);
    if (problem !== null) return problem;
    for (const path of plan.left) await rm(path, { recursive: true, force: true });
    for (let from = 0; from < plan.items.length; from += MOST) {
      const refused = await deleteItems(plan, plan.items.slice(from, from + MOST), fleet);
      if (refused !== null) return refused;
    }
    return null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    return `${plan.run.id}: ${obstacle.kind === 'unreadable' ? obstacle.reason : 'it is gone already'}`;
  }
}

async function deleteRun({ run }: RunPlan, fleet: Fleet): Promise<string | null> {
  const mark = newMark();
  const what = run.state === 'done' ? 'done' : 'all';
  const ack = await fleet.request({ verb: 'discard', id: run.id, mark, what });
  if (!ack.ok) return refusalWords(ack);
  await rm(runAside(run.directory, mark), { recursive: true, force: true });
  return null;
}

async function deleteItems({ run }: RunPlan, items: readonly PlannedItem[], fleet: Fleet): Promise<string | null> {
  const { id, directory } = run;
  const mark = newMark();
  const replacement = join(directory, replacementName(mark));
  try {
    const what = items.map((item) => discardFor(directory, item, mark));
    const ack = await fleet.request({ verb: 'discard', id, mark, what });
    // Includes items that were set aside before a refusal.
    for (const [place, { discard }] of items.entries()) {
      await rm(join(directory, pathAside(discard.path, mark, place)), { recursive: true, force: true });
    }
    return ack.ok ? null : refusalWords(ack);
  } finally {
    rmSync(replacement, { force: true });
  }
}

/** For a file that is cut, the remaining part is written first. */
function discardFor(directory: string, { discard, cutAt }: PlannedItem, mark: string): PlannedItem['discard'] {
  if (cutAt === undefined) return discard;
  const name = replacementName(mark);
  copyFrom(join(directory, discard.path), cutAt, join(directory, dirname(discard.path), name));
  return { ...discard, replacement: name };
}

/** The message of a refusal and its fix. */
function refusalWords({ message, fix }: Extract<Ack, { ok: false }>): string {
  return fix === null ? message : `${message} → ${fix}`;
}

/** A random mark of sixteen hexadecimal digits. */
function newMark(): string {
  return randomBytes(8).toString('hex');
}

/** A code snapshot. */
export type Snapshot = Answers['clean']['snapshots'][number];

/** Prefixes of copies in progress and of deleted ones; older than the limit, ms, they were abandoned. */
const draft = /^\.(draft|memrl-deleted)-/;
const STALE_MS = 3_600_000;

/** The code snapshots of a sweep. */
export function snapshotsOf({ name: sweep, directory }: { name: string; directory: string }): Snapshot[] {
  return entriesOf(directory)
    .filter((name) => name.startsWith(snapshotPrefix))
    .map((name) => measured(sweep, directory, name));
}

/** Snapshots from which no run can start any more, as all their runs are done; and remains of interrupted launches. */
export function needlessSnapshots(
  sweep: { name: string; directory: string },
  rows: Iterable<RunSummary>,
  now: number,
): Snapshot[] {
  const needed = new Set<string>();
  for (const row of rows) {
    if (row.sweep === sweep.name && row.state !== 'done' && row.snapshot !== undefined) needed.add(row.snapshot);
  }
  const isStale = (name: string) =>
    draft.test(name) && now - (statOf(join(sweep.directory, sweepFiles.code, name))?.mtimeMs ?? now) > STALE_MS;
  const left = entriesOf(sweep.directory).filter(isStale);
  const whole = snapshotsOf(sweep).filter(({ name }) => !needed.has(name));
  return [...whole, ...left.map((name) => measured(sweep.name, sweep.directory, name))];
}

/** `demo: 2 snapshots of the code that no run needs (12 MiB)`. */
export function snapshotLines(snapshots: readonly Snapshot[]): string[] {
  const sweeps = [...new Set(snapshots.map(({ sweep }) => sweep))];
  return sweeps.map((sweep) => {
    const own = snapshots.filter((each) => each.sweep === sweep);
    return `${sweep}: ${counted(own.length, 'snapshot')} of the code that no run needs (${sizeText(sumOf(own))})`;
  });
}

/** Total size on the disk in bytes. */
export function sumOf(snapshots: readonly Snapshot[]): number {
  return snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Deletes one, if the supervisor agrees. @returns What went wrong, in words; null: nothing. */
export async function deleteSnapshot({ sweep, name, path }: Snapshot, fleet: Fleet): Promise<string | null> {
  const mark = newMark();
  if (!draft.test(name)) {
    const ack = await fleet.request({ verb: 'discard-snapshot', sweep, name, mark });
    if (!ack.ok) return refusalWords(ack);
  }
  const gone = draft.test(name) ? path : runAside(path, mark);
  await rm(gone, { recursive: true, force: true });
  return null;
}

function measured(sweep: string, directory: string, name: string): Snapshot {
  const path = join(directory, sweepFiles.code, name);
  return { sweep, name, path, bytes: totalUsage(readUsage(path)) };
}

function entriesOf(sweepDirectory: string): string[] {
  const folder = join(sweepDirectory, sweepFiles.code);
  try {
    // A run may have created a link, whose target does not belong to the sweep.
    return isLink(folder) ? [] : readdirSync(folder).sort();
  } catch {
    // The folder is missing or not readable, so nothing in it can be deleted.
    return [];
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
