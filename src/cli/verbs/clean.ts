import { hasEnded } from '../../base/run-words.js';
import { UserError } from '../../base/user-error.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { counted, sizeText } from '../../text/numbers.js';
import { tableLines } from '../../text/table.js';
import { type ActOptions, isAgreed } from '../act-on-runs.js';
import { exitCodes } from '../answers/exit-codes.js';
import { chooseRuns } from '../chosen-runs.js';
import {
  carryOut,
  deleteSnapshot,
  needlessSnapshots,
  type Snapshot,
  snapshotLines,
  sumOf,
} from '../clean/carry-out.js';
import { type CleanWish, isNothing, planOf, type RunPlan } from '../clean/clean-plan.js';
import { withFleet } from '../open-fleet.js';
import { outputWidth, print, printAnswer } from '../terminal.js';

type CleanOptions = Omit<ActOptions, 'wait'> & {
  checkpoints?: boolean;
  keep?: number;
  pattern?: string;
  attempts?: boolean;
  logs?: boolean;
  failed?: boolean;
  done?: boolean;
  snapshots?: boolean;
  olderThan?: number;
};

/**
 * `memrl-tui clean QUERY`: shows what would be deleted of the runs, asks, and deletes it. Exit code 2 when the user declined, 3
 * when something could not be deleted.
 *
 * @throws {UserError} When no option says what to delete, or nobody can be asked.
 */
export async function clean(words: readonly string[], options: CleanOptions): Promise<number> {
  const wish = wishOf(options);
  return withFleet(options, async (fleet) => {
    const chosen = await chooseRuns(words, fleet);
    const { fit, others } = divided(chosen, options, Date.now());
    const all = fit.map((run) => planOf(run, wish, doneFileOf(run, fleet)));
    const plans = all.filter((plan) => !isNothing(plan));
    const snapshots = options.snapshots === true ? needlessOf(chosen, fleet) : [];
    const isDry = options.dryRun === true;
    const count = plans.length + snapshots.length;
    tellPlan({ all, plans, others, snapshots }, options);
    const undone = () => tellJson({ plans, snapshots }, { done: false, problems: [] }, options);
    if (count === 0 || isDry) return undone();
    if (!(await isAgreed({ verb: 'clean', count, disturbs: true, isFinal: true }, options))) {
      undone();
      return exitCodes.refused;
    }
    const problems = [...(await deleted(plans, fleet)), ...(await deletedSnapshots(snapshots, fleet))];
    if (options.json !== true) print([...new Set(problems), doneWords({ plans, snapshots }, problems)]);
    return tellJson({ plans, snapshots }, { done: true, problems }, options);
  });
}

/** @throws {UserError} When no option says what to delete. */
function wishOf({ attempts = false, logs = false, failed = false, done = false, ...options }: CleanOptions): CleanWish {
  const checkpoints = pruningOf(options);
  const isSaid = [attempts, logs, failed, done, options.snapshots].includes(true);
  if (checkpoints === null && !isSaid) {
    const fix = 'Add --checkpoints, --attempts, --logs, --failed, --done or --snapshots.';
    throw new UserError('It is not said what to delete.', fix);
  }
  return { checkpoints, attempts, logs, failed, done };
}

function pruningOf({ checkpoints, keep, pattern }: CleanOptions): CleanWish['checkpoints'] {
  if (pattern !== undefined) checkPattern(pattern);
  if (checkpoints === true || pattern !== undefined) return { keep: keep ?? 1, pattern: pattern ?? null };
  if (keep === undefined) return null;
  throw new UserError('--keep says how many checkpoints stay.', 'Add --checkpoints, or --pattern.');
}

function checkPattern(pattern: string): void {
  const parts = pattern.split('/');
  if (pattern.trim() !== '' && !pattern.startsWith('/') && !parts.includes('..')) return;
  throw new UserError(
    `The pattern \`${pattern}\` is not of a place in a run's directory.`,
    "Write for example --pattern 'checkpoint-*'.",
  );
}

type Others = { readonly live: number; readonly starred: number; readonly young: number };

/** The runs that may be cleaned, and the number of others by reason. `now`: Unix ms. */
function divided(
  runs: readonly RunSummary[],
  { olderThan }: CleanOptions,
  now: number,
): { fit: RunSummary[]; others: Others } {
  const isOld = ({ endedAt }: RunSummary) =>
    olderThan === undefined || (endedAt !== null && now - endedAt >= olderThan * 1000);
  const ended = runs.filter(({ state }) => hasEnded(state));
  const plain = ended.filter(({ annotation }) => annotation?.starred !== true);
  const fit = plain.filter(isOld);
  const others = {
    live: runs.length - ended.length,
    starred: ended.length - plain.length,
    young: plain.length - fit.length,
  };
  return { fit, others };
}

function doneFileOf({ sweep, group }: RunSummary, { sweeps }: Fleet): string | null {
  return sweeps.get(sweep)?.groups.find(({ name }) => name === group)?.doneFile ?? null;
}

/** The runs' files and the snapshots that are to be deleted. */
type Doomed = { readonly plans: readonly RunPlan[]; readonly snapshots: readonly Snapshot[] };
type Told = Doomed & { readonly all: readonly RunPlan[]; readonly others: Others };

/** Unneeded snapshots in the sweeps of the chosen runs. */
function needlessOf(chosen: readonly RunSummary[], { sweeps, runs }: Fleet): Snapshot[] {
  const names = [...new Set(chosen.map(({ sweep }) => sweep))];
  return names.flatMap((name) => {
    const sweep = sweeps.get(name);
    return sweep === undefined ? [] : needlessSnapshots(sweep, runs.values(), Date.now());
  });
}

function tellPlan({ all, plans, others, snapshots }: Told, { json }: CleanOptions): void {
  if (json === true) return;
  const left = [
    others.live === 0 ? null : `${others.live} that have not ended`,
    others.starred === 0 ? null : `${others.starred} starred`,
    others.young === 0 ? null : `${others.young} that ended later`,
  ].filter((part) => part !== null);
  if (plans.length > 0) print(cleanLines(plans, outputWidth()));
  else if (snapshots.length === 0) print(['clean: nothing to delete']);
  print(snapshotLines(snapshots));
  if (left.length > 0) print([`left as they are: ${left.join(', ')}`]);
  const remarks = new Set(all.filter((plan) => isNothing(plan)).flatMap((plan) => plan.remarks));
  print([...remarks]);
}

async function deleted(plans: readonly RunPlan[], fleet: Fleet): Promise<string[]> {
  const problems: string[] = [];
  for (const plan of plans) {
    const problem = await carryOut(plan, fleet);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

async function deletedSnapshots(snapshots: readonly Snapshot[], fleet: Fleet): Promise<string[]> {
  const problems: string[] = [];
  for (const snapshot of snapshots) {
    const problem = await deleteSnapshot(snapshot, fleet);
    if (problem !== null) problems.push(problem);
  }
  return problems;
}

function doneWords({ plans, snapshots }: Doomed, problems: readonly string[]): string {
  const count = plans.length + snapshots.length - problems.length;
  const runs = plans.length === 0 && snapshots.length > 0 ? [] : [counted(plans.length, 'run')];
  const copies = snapshots.length === 0 ? [] : [counted(snapshots.length, 'snapshot')];
  if (problems.length > 0)
    return `${copies.length === 0 ? counted(count, 'run') : count} cleaned, ${problems.length} not`;
  const bytes = plans.reduce((sum, plan) => sum + plan.bytes, sumOf(snapshots));
  return `${[...runs, ...copies].join(', ')} cleaned: ${sizeText(bytes)} freed`;
}

type Outcome = { readonly done: boolean; readonly problems: readonly string[] };

/** Prints the result as JSON. @returns The exit code. */
function tellJson({ plans, snapshots }: Doomed, { done, problems }: Outcome, { json }: CleanOptions): number {
  if (json === true) {
    const runs = plans.map((plan) => ({
      ...{ id: plan.run.id, directory: plan.run.directory, bytes: plan.bytes, all: plan.all },
      ...{ paths: plan.items.map(({ discard }) => discard.path), words: deletedWords(plan) },
    }));
    const bytes = plans.reduce((sum, plan) => sum + plan.bytes, sumOf(snapshots));
    printAnswer('clean', { verb: 'clean', bytes, runs, snapshots, done, problems });
  }
  return problems.length === 0 ? exitCodes.done : exitCodes.undone;
}

/** A table of what would be deleted in each run, and the sum. */
function cleanLines(plans: readonly RunPlan[], width: number): string[] {
  const areSeveral = new Set(plans.map(({ run }) => run.sweep)).size > 1;
  const bytes = plans.reduce((sum, plan) => sum + plan.bytes, 0);
  return [
    ...tableLines(
      [
        { title: 'run', align: 'left', spare: 0, cells: plans.map(({ run }) => (areSeveral ? run.id : run.name)) },
        { title: 'frees', align: 'right', spare: 0, cells: plans.map((plan) => sizeText(plan.bytes)) },
        { title: 'deletes', align: 'left', spare: 0, cells: plans.map(deletedWords) },
      ],
      width,
    ),
    '',
    `clean ${counted(plans.length, 'run')}: frees ${sizeText(bytes)}`,
  ];
}

/** The parts in words: `2 checkpoints, 3 attempts, the log of earlier attempts`. */
export function deletedWords({ all, run, items, left, remarks }: RunPlan): string {
  if (all) return `everything (${run.state})`;
  const count = (kind: string) => items.filter((item) => item.kind === kind).length;
  const log = items.find(({ kind }) => kind === 'log');
  const parts = [
    count('checkpoint') === 0 ? null : counted(count('checkpoint'), 'checkpoint'),
    count('attempt') === 0 ? null : counted(count('attempt'), 'attempt folder'),
    log === undefined ? null : log.cutAt === undefined ? 'the log' : 'the log of earlier attempts',
    left.length === 0 ? null : 'what an interrupted clean left',
  ];
  return [parts.filter((part) => part !== null).join(', '), ...remarks].filter((part) => part !== '').join('; ');
}
