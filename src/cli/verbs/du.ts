import { dirname } from 'node:path';
import { grouped } from '../../base/group-by.js';
import { UserError } from '../../base/user-error.js';
import type { RunSummary } from '../../client/fleet.js';
import { addedUsage, type DiskUsage, readUsage, totalUsage, usageKinds } from '../../files/disk/disk-usage.js';
import { counted, sizeText } from '../../text/numbers.js';
import { type Column, tableLines } from '../../text/table.js';
import { type Snapshot, snapshotsOf, sumOf } from '../clean/snapshots.js';
import { chooseKnownRuns } from '../known-runs.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { outputWidth, print, printJson, remark } from '../terminal.js';

/** The supervisor may be busy; without its word the files tell, ms. */
const PATIENCE_MS = 3000;

type Measured = { readonly run: RunSummary; readonly usage: DiskUsage };

/**
 * `memrl-tui du [QUERY]`: what the directories of runs take on their disk, the largest first, and each sweep in sum. Starts no
 * supervisor, so that it also works where the disk is full.
 */
export async function du(words: readonly string[], options: CommonOptions): Promise<number> {
  const directory = runsDirectory(options.runs);
  const runs = await chooseKnownRuns(words, directory, PATIENCE_MS);
  if (runs.length === 0) {
    throw new UserError(`There are no runs in ${directory}.`, 'Name another runs directory with --runs.');
  }
  // Files that runs share are counted with the first of them.
  const seen = new Set<string>();
  const measured = runs
    .map((run): Measured => ({ run, usage: readUsage(run.directory, seen) }))
    .sort((a, b) => totalUsage(b.usage) - totalUsage(a.usage));
  const snapshots = copiesOf(runs);
  if (options.json === true) printJson({ ...inJson(measured), snapshots });
  else print([...table(measured), '', ...sums(measured), ...copyLines(snapshots)]);
  const unread = addedUsage(measured.map(({ usage }) => usage)).unread;
  if (unread > 0) remark(`${counted(unread, 'folder')} could not be looked into: what is there is not counted.`);
  return 0;
}

function table(measured: readonly Measured[]): string[] {
  const areSeveral = new Set(measured.map(({ run }) => run.sweep)).size > 1;
  const size = (title: string, spare: number, bytes: (usage: DiskUsage) => number): Column => ({
    ...{ title, spare, align: 'right' },
    cells: measured.map(({ usage }) => (bytes(usage) === 0 ? '' : sizeText(bytes(usage)))),
  });
  const columns: Column[] = [
    { title: 'run', align: 'left', spare: 0, cells: measured.map(({ run }) => (areSeveral ? run.id : run.name)) },
    { title: 'state', align: 'left', spare: 6, cells: measured.map(({ run }) => run.state) },
    size('total', 0, totalUsage),
    ...usageKinds.map((kind, index) => size(kind, index + 1, (usage) => usage[kind])),
  ];
  return tableLines(
    columns.filter(({ cells, spare }) => spare === 0 || cells.some((cell) => cell !== '')),
    outputWidth(),
  );
}

/** The copies of the code of their sweeps. */
function copiesOf(runs: readonly RunSummary[]): Snapshot[] {
  const sweeps = new Map(runs.map(({ sweep, directory }) => [sweep, dirname(directory)]));
  return [...sweeps].flatMap(([name, directory]) => snapshotsOf({ name, directory }));
}

function copyLines(snapshots: readonly Snapshot[]): string[] {
  return grouped(snapshots, ({ sweep }) => sweep).map(
    (own) => `${own[0]!.sweep}: ${sizeText(sumOf(own))} in ${counted(own.length, 'snapshot')} of the code`,
  );
}

/** `demo: 1.2 GiB in 12 runs, 1.1 GiB of it checkpoints` */
function sums(measured: readonly Measured[]): string[] {
  const sweeps = grouped(measured, ({ run }) => run.sweep);
  const lines = sweeps.map((members) => `${members[0]!.run.sweep}: ${sumWords(members)}`);
  return sweeps.length > 1 ? [...lines, `all: ${sumWords(measured)}`] : lines;
}

function sumWords(measured: readonly Measured[]): string {
  const usage = addedUsage(measured.map((each) => each.usage));
  const checkpoints = usage.checkpoints === 0 ? '' : `, ${sizeText(usage.checkpoints)} of it checkpoints`;
  return `${sizeText(totalUsage(usage))} in ${counted(measured.length, 'run')}${checkpoints}`;
}

/** Bytes on the disk. */
function inJson(measured: readonly Measured[]): object {
  const told = (usage: DiskUsage) => ({ bytes: totalUsage(usage), ...usage });
  const sweeps = grouped(measured, ({ run }) => run.sweep).map((members) => ({
    ...{ sweep: members[0]!.run.sweep, runs: members.length },
    ...told(addedUsage(members.map(({ usage }) => usage))),
  }));
  const runs = measured.map(({ run, usage }) => {
    const { sweep, name, state, directory } = run;
    return { sweep, name, state, directory, ...told(usage) };
  });
  return { ...told(addedUsage(measured.map(({ usage }) => usage))), sweeps, runs };
}
