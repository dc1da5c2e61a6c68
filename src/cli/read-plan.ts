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
import { importFormatOf } from '../spec/import/formats.js';
import { queueOfList } from '../spec/import/shell/queues.js';
import { type LaunchOptions, requestedExecutor, requestedSets, runsDirectory } from './options.js';
import type { Planned } from './plan/difference.js';
import { type ExistingRun, existingRuns } from './plan/existing-runs.js';
import { at, localZone, own } from './ports.js';

/** The plan of a sweep file for a launch here and now. */
export type ReadPlan = {
  readonly text: string;
  readonly plan: Plan;
  readonly planned: readonly Planned[];
  /** Groups of the file that are not planned: optional or unrequested ones. */
  readonly leftOut: readonly string[];
  readonly names: NameChanges;
  /** The runs of the sweep before the launch. */
  readonly existing: readonly ExistingRun[];
  /** The path and options of the file, to parse it again. The name's ending tells how. */
  readonly from: { readonly path: string; readonly options: LaunchOptions };
  /** Parameters that are computed from seeds. */
  readonly fromSeeds: readonly string[];
  /** Set if the text was generated from a table, and is in no file of the user's. */
  readonly fromTable?: true;
};

/**
 * Parses a sweep file, expands it, and determines what is left to do of each run. Changes nothing.
 *
 * @param command The words behind `--`, which only tables use.
 * @throws {UserError} When the file is not readable or not valid.
 */
export function readPlan(path: string, options: LaunchOptions, command: readonly string[] = []): ReadPlan {
  const text = readSweepText(path);
  if (isTable(path, text)) {
    const sweep = tableSweepText(text, path, command);
    return { ...planOfText(sweep, path.replace(/\.\w+$/, '.yaml'), options), fromTable: true };
  }
  if (command.length === 0) return planOrHint(text, path, options);
  throw new UserError(
    `${path} says itself what is run, so nothing can be done with the command behind \`--\`.`,
    'Leave the command out. Tables take one: `memrl-tui table.csv -- python train.py`.',
  );
}

/** The plan of a text; a file that can be imported is told so, instead of what is wrong with it as a sweep file. */
function planOrHint(text: string, path: string, options: LaunchOptions): ReadPlan {
  const queue = isStructured(path) ? null : queueOfList(text);
  if (queue !== null) {
    throw new UserError(
      `Every line of ${path} is for ${queue}, so that a run would only put its command into another queue.`,
      `\`memrl-tui import ${path}\` writes a sweep file of the commands themselves.`,
    );
  }
  try {
    return planOfText(text, path, options);
  } catch (error) {
    const format = error instanceof UserError ? importFormatOf(text, path) : null;
    if (format === null || !(error instanceof UserError)) throw error;
    const behind = format.takesCommand ? ' -- python train.py' : '';
    const hint = `\`memrl-tui import ${path}${behind}\` writes a sweep file from it.`;
    if (isStructured(path)) throw new UserError(`${path} is ${format.name}, and no sweep file.`, hint);
    throw new UserError(error.message, `${hint}\n  ${error.fix}`);
  }
}

/** The same for a text that is not in its file yet. @param rows All runs of the supervisor; empty if it is not asked. */
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
    cwd: own().cwd(),
    environment: own().env,
    zone: localZone(),
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

/** Adds a supervisor's knowledge to a plan: runs that had not started when it was read have a name but had no directory. */
export function besideRows(read: ReadPlan, rows: ReadonlyMap<string, RunSummary>): ReadPlan {
  const planned = new Set<string>(read.plan.runs.map(({ id }) => id));
  const known = new Set(read.existing.map(({ name }) => name));
  const isNews = ({ id, name, sweep }: RunSummary) => sweep === read.plan.sweep && !planned.has(id) && !known.has(name);
  if (![...rows.values()].some(isNews)) return read;
  const { path, options } = read.from;
  const again = planOfText(read.text, path, options, rows.values());
  const notes = [...new Set([...(read.plan.notes ?? []), ...(again.plan.notes ?? [])])];
  return { ...read, ...again, plan: notes.length === 0 ? again.plan : { ...again.plan, notes } };
}

/** What is left to do of each run of a plan, by its directory. */
export function plannedRuns({ runs }: Plan): Planned[] {
  return runs.map((run) => ({
    run,
    standing: completionOf(run, readRunFacts(run.directory, run.done, doneTest(run))),
  }));
}

/** Groups of a file that a plan does not contain. */
export function leftOutOf(file: SweepFile, { groups }: Plan): string[] {
  if (file.kind !== 'groups') return [];
  const planned = new Set<string>(groups.map(({ name }) => name));
  return file.blocks.map(({ group }) => group).filter((group) => !planned.has(group));
}

/** Size limit of a structured file in bytes, above that of any hand-written one; a list of commands may be generated. */
const MOST_STRUCTURED = 2 ** 20;
const MOST_COMMANDS = 64 * 2 ** 20;

/**
 * The text of a sweep file. A pipe is refused: the text has to be read again later, to extend the sweep or to clone a run, and the
 * ending of the name tells how.
 *
 * @throws {UserError} At once, whatever is at the path, when it is no text of a reasonable size.
 */
export function readSweepText(path: string): string {
  const read = readRegular(at(path), isStructured(path) ? MOST_STRUCTURED : MOST_COMMANDS);
  if (read.kind === 'absent') throw unreadable(path, 'there is no such file', example);
  if (read.kind === 'unreadable') throw unreadable(path, inWords(read.reason), fixFor(read.reason));
  return checkedText(read.text, path);
}

/** A text that was read. @throws {UserError} If it is not one in UTF-8. */
export function checkedText(text: string, path: string): string {
  // Decoding replaces invalid UTF-8 by this character.
  const odd = /[\0\ufffd]/.exec(text);
  if (odd === null) return text;
  const line = text.slice(0, odd.index).split('\n').length;
  throw unreadable(path, `it is not a text in UTF-8 (line ${line})`, 'Give a sweep file, or save it as UTF-8.');
}

function unreadable(path: string, problem: string, fix: string): UserError {
  return new UserError(`Cannot read the sweep file ${path}: ${problem}.`, fix);
}

const example = 'Give the path of a sweep file, for example `memrl-tui sweeps/quick.yaml`, or see `memrl-tui --help`.';

/** Why a file cannot be read, with a limit in MiB. */
export function inWords(reason: string): string {
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
