import { readdirSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { snapshotPrefix, sweepFiles } from '../../contract/files.js';
import { runAside } from '../../files/disk/discard.js';
import { readUsage, totalUsage } from '../../files/disk/disk-usage.js';
import { isLink } from '../../files/own-directory.js';
import { counted, sizeText } from '../../text/numbers.js';
import type { Answers } from '../answers/schemas.js';
import { newMark, refusalWords } from './carry-out.js';

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
