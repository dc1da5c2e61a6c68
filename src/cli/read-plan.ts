import { UserError } from '../base/user-error.js';
import type { RunSummary } from '../client/fleet.js';
import { readRunFacts } from '../files/completion-facts.js';
import { readRegular } from '../files/regular-file.js';
import { expandBeside } from '../spec/expand/expand-sweep.js';
import type { NameChanges } from '../spec/expand/kept-names.js';
import { computedFromSeeds } from '../spec/file/block.js';
import { isStructured, parseSweepFile } from '../spec/file/parse-sweep-file.js';
import { isTable, tableSweepText } from '../spec/file/table-file.js';
import type { SweepFile } from '../spec/file/sweep-file.js';
import type { Plan } from '../spec/planned-run.js';
import { completionOf } from '../spec/policy/completion.js';
import { doneTest } from '../spec/policy/done-rule.js';
import { type LaunchOptions, requestedExecutor, requestedSets, runsDirectory } from './options.js';
import type { Planned } from './plan/difference.js';
import { type ExistingRun, existingRuns } from './plan/existing-runs.js';

/** A sweep file as it would run here and now. */
export type ReadPlan = {
  readonly text: string;
  readonly plan: Plan;
  readonly planned: readonly Planned[];
  /** Groups of the file that are not planned: optional ones, or those that were not asked for. */
  readonly leftOut: readonly string[];
  readonly names: NameChanges;
  /** The runs of the sweep before the launch. */
  readonly existing: readonly ExistingRun[];
  /** What it was read by, to read it again. The name of the file says how the text is read. */
  readonly from: { readonly path: string; readonly options: LaunchOptions };
  /** Parameters that are computed from seeds. */
  readonly fromSeeds: readonly string[];
  /** The text was made of a table, and stands in no file of the person's. */
  readonly fromTable?: true;
};

/**
 * Reads a sweep file, expands it, and looks up what is left to do of each run. Changes nothing.
 *
 * @param command What stands behind `--`, which tables alone have a use for.
 * @throws {UserError} When the file cannot be read, or does not say what a sweep file says.
 */
export function readPlan(path: string, options: LaunchOptions, command: readonly string[] = []): ReadPlan {
  const text = readSweepText(path);
  if (isTable(path, text)) {
    const sweep = tableSweepText(text, path, command);
    return { ...planOfText(sweep, path.replace(/\.\w+$/, '.yaml'), options), fromTable: true };
  }
  if (command.length === 0) return planOfText(text, path, options);
  throw new UserError(
    `${path} says itself what is run, so nothing can be done with the command behind \`--\`.`,
    'Leave the command out. Tables take one: `memrl-tui table.csv -- python train.py`.',
  );
}

/** The same of a text that is not in its file yet. @param rows All that a supervisor knows; none where it is not asked. */
export function planOfText(
  text: string,
  path: string,
  options: LaunchOptions,
  rows: Iterable<RunSummary> = [],
): ReadPlan {
  const { runs, sweep } = options;
  const set = requestedSets(options);
  const file = parseSweepFile(text, path);
  const directory = runsDirectory(runs);
  const expandOptions = {
    runsDirectory: directory,
    cwd: process.cwd(),
    environment: process.env,
    ...(set.length === 0 ? {} : { set }),
    ...(sweep === undefined ? {} : { groups: sweep }),
  };
  const existing = existingRuns(directory, file.name, rows);
  const { plan: expanded, names } = expandBeside(file, expandOptions, existing);
  const executor = requestedExecutor(options, expanded.executor);
  const plan = executor === undefined ? expanded : { ...expanded, executor };
  const from = { path, options };
  const fromSeeds = file.kind === 'groups' ? computedFromSeeds(file.blocks) : [];
  const leftOut = leftOutOf(file, plan);
  return { text, plan, names, existing, from, planned: plannedRuns(plan), leftOut, fromSeeds };
}

/** The plan beside what a supervisor knows: runs that wait for their first start have a name and no directory. */
export function besideRows(read: ReadPlan, rows: ReadonlyMap<string, RunSummary>): ReadPlan {
  const planned = new Set<string>(read.plan.runs.map(({ id }) => id));
  const isNews = ({ id, sweep, startedAt }: RunSummary) =>
    sweep === read.plan.sweep && startedAt === null && !planned.has(id);
  if (![...rows.values()].some(isNews)) return read;
  const { path, options } = read.from;
  const again = planOfText(read.text, path, options, rows.values());
  const notes = [...new Set([...(read.plan.notes ?? []), ...(again.plan.notes ?? [])])];
  return { ...read, ...again, plan: notes.length === 0 ? again.plan : { ...again.plan, notes } };
}

/** What is left to do of each run of a plan, as its directory says. */
export function plannedRuns({ runs }: Plan): Planned[] {
  return runs.map((run) => ({
    run,
    standing: completionOf(run, readRunFacts(run.directory, run.done, doneTest(run))),
  }));
}

/** Groups of a file of which a plan has nothing. */
export function leftOutOf(file: SweepFile, { groups }: Plan): string[] {
  if (file.kind !== 'groups') return [];
  const planned = new Set<string>(groups.map(({ name }) => name));
  return file.blocks.map(({ group }) => group).filter((group) => !planned.has(group));
}

/** Bytes. No person writes a longer sweep; a list of commands may well be made by a program. */
const MOST_STRUCTURED = 2 ** 20;
const MOST_COMMANDS = 64 * 2 ** 20;

/**
 * The text of a sweep file. A pipe is none: the same text has to be read again later, to extend the sweep or to clone a run,
 * and its ending says how to read it.
 *
 * @throws {UserError} At once, whatever stands at the path, when it is no text of a reasonable size.
 */
export function readSweepText(path: string): string {
  const read = readRegular(path, isStructured(path) ? MOST_STRUCTURED : MOST_COMMANDS);
  if (read.kind === 'absent') throw unreadable(path, 'there is no such file', example);
  if (read.kind === 'unreadable') throw unreadable(path, inWords(read.reason), fixFor(read.reason));
  // What is not UTF-8 was replaced by this very character.
  const odd = /[\0\ufffd]/.exec(read.text);
  if (odd === null) return read.text;
  const line = read.text.slice(0, odd.index).split('\n').length;
  throw unreadable(path, `it is not a text in UTF-8 (line ${line})`, 'Give a sweep file, or save it as UTF-8.');
}

function unreadable(path: string, problem: string, fix: string): UserError {
  return new UserError(`Cannot read the sweep file ${path}: ${problem}.`, fix);
}

const example = 'Give the path of a sweep file, for example `memrl-tui sweeps/quick.yaml`, or see `memrl-tui --help`.';

function inWords(reason: string): string {
  const [, bytes] = /larger than (\d+) bytes/.exec(reason) ?? [];
  return bytes === undefined ? reason : `it is larger than ${Number(bytes) / 2 ** 20} MiB`;
}

function fixFor(reason: string): string {
  if (reason.includes('larger'))
    return 'Check that it is a sweep file. Long lists of values are better computed: {expr: "…"}.';
  if (reason.includes('pipe') || reason.includes('device')) {
    return 'Write the sweep to a file and launch that: `… > sweep.yaml && memrl-tui sweep.yaml`.';
  }
  return example;
}
