import { join } from 'node:path';
import { hasEnded } from '../../base/run-words.js';
import { UserError } from '../../base/user-error.js';
import type { RunSummary } from '../../client/fleet.js';
import type { RunRecord } from '../../contract/run-record.js';
import { readRunFacts } from '../../files/run-directory/completion-facts.js';
import { readRegular } from '../../files/regular-file.js';
import { eachRunRecord } from '../../files/run-directory/run-record-file.js';
import { type LaunchOverrides, readLaunchOverrides } from '../../files/sweep-folder.js';
import { expandBeside } from '../../spec/expand/expand-sweep.js';
import type { KnownRun, NameChanges } from '../../spec/expand/run-name.js';
import { startAtIn } from '../../spec/file/overrides.js';
import { isStructured, parseSweepFile } from '../../spec/file/parse-sweep-file.js';
import type { SweepFile } from '../../spec/file/sweep-file.js';
import { isTable, tableSweepText } from '../../spec/file/table-file.js';
import { importFormatOf } from '../../spec/import/formats.js';
import { queueOfList } from '../../spec/import/shell/queues.js';
import type { Completion, Plan, PlannedRun } from '../../spec/planned-run.js';
import { completionOf, doneTest } from '../../spec/policy/completion.js';
import { shellQuote } from '../../text/shell-words.js';
import { instantOf, parseDatedTime } from '../../text/zoned-time.js';
import { type LaunchOptions, projectOf, requestedExecutor, requestedSets, runsDirectory } from '../options.js';
import { at, localZone, own } from '../ports.js';

/** A sweep file that was read and parsed, but not expanded yet, as that depends on options. */
export type ReadSweep = {
  readonly text: string;
  /** The name's ending tells how the text is parsed. */
  readonly path: string;
  readonly file: SweepFile;
  /** `table`: the text was generated from one, and is in no file of the user's. `typed`: it is in no file yet. */
  readonly from: 'file' | 'table' | 'typed';
};

/** The plan of a sweep file for a launch here and now. */
export type ReadPlan = {
  readonly read: ReadSweep;
  readonly options: LaunchOptions;
  readonly plan: Plan;
  readonly planned: readonly Planned[];
  /** Groups of the file that are not planned: optional or unrequested ones. */
  readonly leftOut: readonly string[];
  readonly names: NameChanges;
  /** The runs of the sweep before the launch. */
  readonly existing: readonly ExistingRun[];
};

/** A run and what is left to do of it. */
export type Planned = { readonly run: PlannedRun; readonly standing: Completion };

/** A run of the sweep before a launch. `record`: its run.json; null: it has none. */
export type ExistingRun = KnownRun & { readonly record: RunRecord | null };

/**
 * Reads a sweep file, expands it, and determines what is left to do of each run. Changes nothing.
 *
 * @throws {UserError} When the file is not readable or not valid.
 */
export function readPlan(path: string, options: LaunchOptions): ReadPlan {
  return planOf(readSweep(path), options);
}

/**
 * Reads and parses a sweep file.
 *
 * @param command The words behind `--`, which only tables use.
 * @throws {UserError} When the file is not readable or not valid.
 */
export function readSweep(path: string, command: readonly string[] = []): ReadSweep {
  const text = readSweepText(path);
  if (isTable(path, text)) {
    const generated = typedSweep(tableSweepText(text, path, command), path.replace(/\.\w+$/, '.yaml'));
    return { ...generated, from: 'table' };
  }
  if (command.length > 0) {
    throw new UserError(
      `${path} says itself what is run, so nothing can be done with the command behind \`--\`.`,
      'Leave the command out. Tables take one: `memrl-tui table.csv -- python train.py`.',
    );
  }
  refuseQueues(text, path);
  const file = hinting({ text, path }, () => parseSweepFile(text, path));
  return { text, path, file, from: 'file' };
}

/** The same of a text that is not in its file yet. */
export function typedSweep(text: string, path: string): ReadSweep {
  return { text, path, file: parseSweepFile(text, path), from: 'typed' };
}

/**
 * Expands a sweep file, and determines what is left to do of each run. Changes nothing.
 *
 * @param rows All runs of the supervisor; empty if it is not asked.
 * @throws {UserError} When the options do not fit the file, or it has no runs.
 */
export function planOf(read: ReadSweep, options: LaunchOptions, rows: Iterable<RunSummary> = []): ReadPlan {
  const { file } = read;
  const directory = runsDirectory(options.runs);
  const set = requestedSets(options);
  const expandOptions = {
    runsDirectory: directory,
    cwd: own().cwd(),
    environment: own().env,
    zone: localZone(),
    ...(set.length === 0 ? {} : { set }),
    ...(options.sweep === undefined ? {} : { groups: options.sweep }),
  };
  const existing = existingRuns(directory, file.name, rows);
  const expand = () => expandBeside(file, expandOptions, existing);
  const { plan: expanded, names } = read.from === 'file' ? hinting(read, expand) : expand();
  const executor = requestedExecutor(options, expanded.executor);
  const plan = executor === undefined ? expanded : { ...expanded, executor };
  return { read, options, plan, names, existing, planned: plannedRuns(plan), leftOut: leftOutOf(file, plan) };
}

function refuseQueues(text: string, path: string): void {
  const queue = isStructured(path) ? null : queueOfList(text);
  if (queue === null) return;
  throw new UserError(
    `Every line of ${path} is for ${queue}, so that a run would only put its command into another queue.`,
    `\`memrl-tui import ${path}\` writes a sweep file of the commands themselves.`,
  );
}

/** The result; of a file that can be imported an error tells that, instead of what is wrong with it as a sweep file. */
function hinting<Result>({ text, path }: Pick<ReadSweep, 'text' | 'path'>, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const format = error instanceof UserError ? importFormatOf(text, path) : null;
    if (format === null || !(error instanceof UserError)) throw error;
    const behind = format.takesCommand ? ' -- python train.py' : '';
    const hint = `\`memrl-tui import ${path}${behind}\` writes a sweep file from it.`;
    if (isStructured(path)) throw new UserError(`${path} is ${format.name}, and no sweep file.`, hint);
    throw new UserError(error.message, `${hint}\n  ${error.fix}`);
  }
}

/** The existing runs of a sweep: those with a directory, and those that only the supervisor knows. */
export function existingRuns(runsDirectory: string, sweep: string, rows: Iterable<RunSummary>): ExistingRun[] {
  const runs = new Map<string, ExistingRun>();
  for (const record of eachRunRecord(join(runsDirectory, sweep))) {
    const { name, group, identity, parameters, attempts } = record;
    runs.set(name, { name, group, identity, parameters, attempts, isStarted: true, record });
  }
  for (const { name, group, parameters, attempt, state, ...row } of rows) {
    if (row.sweep !== sweep || runs.has(name)) continue;
    const isStarted = attempt > 0 && !hasEnded(state);
    runs.set(name, { name, group, parameters, identity: null, attempts: [], isStarted, record: null });
  }
  return [...runs.values()];
}

/** The runs of a plan, each with what is left to do of it, which its directory tells. */
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

/** The directory of the runs of a plan, which need not exist. */
export function sweepDirectory({ plan, options }: ReadPlan): string {
  return join(runsDirectory(options.runs), plan.sweep);
}

type Options = Pick<LaunchOptions, 'set' | 'wandbProject' | 'at' | 'perGpu'>;

/** The options that change what runs, and how many at once; the supervisor keeps slots and GPUs. */
export function saidBy({ perGpu, ...options }: Options): LaunchOverrides {
  return { set: requestedSets(options), ...(perGpu === undefined ? {} : { perGpu }) };
}

/**
 * Options of the sweep's last launch that this one lacks, so that the file would mean other runs. Null: there are none. Options
 * that now have other values do not count, as that is intended.
 */
export function leftOutNow(sweepDirectory: string, options: Options): LaunchOverrides | null {
  const [before, now] = [readLaunchOverrides(sweepDirectory), saidBy(options)];
  const names = new Set(now.set.map(nameOf));
  const set = before.set.filter((word) => !names.has(nameOf(word)) && !hasPassed(word));
  const perGpu = now.perGpu === undefined ? before.perGpu : undefined;
  return set.length === 0 && perGpu === undefined ? null : saidBy({ set, ...(perGpu === undefined ? {} : { perGpu }) });
}

/** The options as they are typed: `--set n_batches=500 --per-gpu 2`. */
export function optionWords({ set, perGpu }: LaunchOverrides): string {
  const words = [
    ...set.map((word) => {
      const [project, start] = [projectOf(word), startAtIn(word)];
      if (start !== null) return `--at ${shellQuote([start])}`;
      return project === null ? `--set ${shellQuote([word])}` : `--wandb-project ${shellQuote([project])}`;
    }),
    ...(perGpu === undefined ? [] : [`--per-gpu ${perGpu}`]),
  ];
  return words.join(' ');
}

/** The options with the missing ones added. */
export function withLeftOut<Given extends Options>(options: Given, { set, perGpu }: LaunchOverrides): Given {
  const all = [...set, ...(options.set ?? [])];
  return { ...options, ...(all.length === 0 ? {} : { set: all }), ...(perGpu === undefined ? {} : { perGpu }) };
}

/** Whether it set a start time that has come. */
function hasPassed(word: string): boolean {
  const time = parseDatedTime(startAtIn(word) ?? '');
  return time !== null && instantOf(time, localZone()) <= Date.now();
}

/** The name that an option sets: the `N` of `A.N=[16, 64]` is another one than that of `N=16`. */
function nameOf(word: string): string {
  return word.slice(0, word.indexOf('='));
}
