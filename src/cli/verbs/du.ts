import { dirname } from 'node:path';
import { grouped } from '../../base/group-by.js';
import { UserError } from '../../base/user-error.js';
import type { RunSummary } from '../../client/fleet.js';
import { addedUsage, type DiskUsage, readUsage, totalUsage, usageKinds } from '../../files/disk/disk-usage.js';
import { counted, sizeText } from '../../text/numbers.js';
import { type Column, tableLines } from '../../text/table.js';
import type { Answers } from '../answers/schemas.js';
import { type Snapshot, snapshotsOf, sumOf } from '../clean/carry-out.js';
import { chooseKnownRuns } from '../known-runs.js';
import { type CommonOptions, runsDirectory } from '../options.js';
import { outputWidth, print, printAnswer, remark } from '../terminal.js';

/** Time limit for the supervisor's answer, ms; without it the files are used. */
const PATIENCE_MS = 3000;

type Measured = { readonly run: RunSummary; readonly usage: DiskUsage };

/**
 * `memrl-tui du [QUERY]`: the disk space of run directories, the largest first, and the sum of each sweep. Starts no supervisor, so
 * that it also works on a full disk.
 */
export async function du(words: readonly string[], options: CommonOptions): Promise<number> {
  const directory = runsDirectory(options.runs);
  const runs = await chooseKnownRuns(words, directory, PATIENCE_MS);
  if (runs.length === 0) {
    throw new UserError(`There are no runs in ${directory}.`, 'Name another runs directory with --runs.');
  }
  // Files that several runs share are counted once, with the first run.
  const seen = new Set<string>();
  const measured = runs
    .map((run): Measured => ({ run, usage: readUsage(run.directory, seen) }))
    .sort((a, b) => totalUsage(b.usage) - totalUsage(a.usage));
  const snapshots = copiesOf(runs);
  if (options.json === true) printAnswer('du', { ...inJson(measured), snapshots });
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

/** The code snapshots of their sweeps. */
function copiesOf(runs: readonly RunSummary[]): Snapshot[] {
  const sweeps = new Map(runs.map(({ sweep, directory }) => [sweep, dirname(directory)]));
  return [...sweeps].flatMap(([name, directory]) => snapshotsOf({ name, directory }));
}

function copyLines(snapshots: readonly Snapshot[]): string[] {
  return grouped(snapshots, ({ sweep }) => sweep).map(
    (own) => `${own[0]!.sweep}: ${sizeText(sumOf(own))} in ${counted(own.length, 'snapshot')} of the code`,
  );
}

/** The sums of sweeps: `demo: 1.2 GiB in 12 runs, 1.1 GiB of it checkpoints`. */
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

/** The result as JSON, in bytes on the disk. */
function inJson(measured: readonly Measured[]): Omit<Answers['du'], 'snapshots'> {
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
