import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { sweepFiles } from '../../contract/files.js';
import { textOrNull } from '../../files/regular-file.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import { keptSweepText, readLaunchOverrides, sweepOrigin } from '../../files/sweep-folder.js';
import { expandBeside, type Expansion } from '../../spec/expand/expand-sweep.js';
import type { ExpandOptions } from '../../spec/expand/plan-run.js';
import { parseSweepFile } from '../../spec/file/parse-sweep-file.js';
import type { SweepFile } from '../../spec/file/sweep-file.js';
import { isTable } from '../../spec/file/table-file.js';
import { type LaunchOptions, requestedSets, runsDirectory } from '../options.js';
import { type ExistingRun, existingRuns } from '../launch/read.js';
import { own } from '../ports.js';
import { leftOutOf } from '../launch/read.js';
import { runsOf } from '../plain/watched-run.js';

/** The source of a launched sweep, as far as it is known here. */
export type SweepSource = {
  readonly sweep: string;
  /** Text of the sweep file as submitted last; of the user's own file, if the window was opened by launching that. */
  readonly text: string;
  /** Whether that is the submitted text: the user may have changed the file since. */
  readonly isSubmitted: boolean;
  /** Path of the stored text. */
  readonly kept: string;
  /** The user's own file that it was launched from; null: unknown, or it is a table, which has another syntax. */
  readonly ownPath: string | null;
  /** `.yaml`, `.toml` or `.txt`: how the text is parsed. */
  readonly ending: string;
  readonly file: SweepFile;
  /** The options with which its runs were planned. */
  readonly options: ExpandOptions;
  /** Its existing runs. */
  readonly existing: readonly ExistingRun[];
};

/** Size limit of a sweep file in bytes. */
const MOST = 2 ** 26;

/** The launch of the window. `path`: the sweep file, if the window was opened by launching it. */
export type Launched = { readonly options: LaunchOptions; readonly path: string | null };

/**
 * The source of a sweep that the supervisor knows.
 *
 * @throws {UserError} When its text is missing.
 */
export function sweepSource(fleet: Fleet, sweep: string, { options, path }: Launched): SweepSource {
  const directory = fleet.sweeps.get(sweep)?.directory ?? join(runsDirectory(options.runs), sweep);
  const { text, own, ...where } = textsOf(directory, path, sweep);
  const ending = endingOf(own, { kept: where.kept, text, sweep });
  const file = parseSweepFile(text, `${sweep}${ending}`);
  const runs = runsOf(fleet, sweep);
  // The options of the launch also decide what runs, though they are in no file.
  const requested = requestedSets(options);
  const set = requested.length > 0 ? requested : readLaunchOverrides(directory).set;
  const ownPath = path ?? ownPathOf(directory);
  const existing = existingRuns(runsDirectory(options.runs), sweep, runs);
  const expandOptions = optionsOf({ file, existing }, runs, { ...options, set: [...set] });
  return { sweep, text, ...where, ownPath, ending, file, existing, options: expandOptions };
}

type Texts = Pick<SweepSource, 'text' | 'kept' | 'isSubmitted'> & { own: string | null };

/** `own`: the user's own file, if the text is from there. */
function textsOf(directory: string, path: string | null, sweep: string): Texts {
  const last = keptSweepText(directory);
  const kept = last?.path ?? join(directory, sweepFiles.text);
  const inOwn = path === null ? null : textOrNull(path, MOST);
  if (inOwn !== null) return { text: inOwn, own: path, kept, isSubmitted: last === null || inOwn === last.text };
  if (last !== null) return { text: last.text, own: null, kept, isSubmitted: true };
  throw new UserError(`${kept} is gone; ${sweep} was launched from it.`, 'Launch its sweep file again.');
}

/** @param own The user's own file, if the text is from there. */
function endingOf(own: string | null, { kept, text, sweep }: Pick<SweepSource, 'kept' | 'text' | 'sweep'>): string {
  if (/\.toml$/i.test(own ?? kept)) return '.toml';
  return /\.(ya?ml|json)$/i.test(own ?? '') || isYaml(text, sweep) ? '.yaml' : '.txt';
}

function ownPathOf(directory: string): string | null {
  const path = sweepOrigin(directory);
  const text = path === null ? null : textOrNull(path, MOST);
  return text === null || isTable(path!, text) ? null : path;
}

/** The plan of an edited text; only of the launched groups, and new ones. `leftOut`: its other groups. */
export function planOf(
  source: SweepSource,
  text: string,
  path: string,
  launched: ReadonlySet<string>,
): Expansion & { leftOut: string[] } {
  const file = parseSweepFile(text, path);
  const left = groupsOf(source.file).filter((group) => !launched.has(group));
  const wanted = groupsOf(file).filter((group) => !left.includes(group));
  const isPart = left.length > 0 && wanted.length > 0 && wanted.length < groupsOf(file).length;
  const options = { ...source.options, ...(isPart ? { groups: wanted } : {}) };
  const expansion = expandBeside(file, options, source.existing);
  return { ...expansion, leftOut: leftOutOf(file, expansion.plan) };
}

function groupsOf(file: SweepFile): string[] {
  return file.kind === 'groups' ? file.blocks.map(({ group }) => group) : [];
}

/** Whether a text is YAML, as a list of commands is stored under the same name. */
function isYaml(text: string, sweep: string): boolean {
  try {
    return parseSweepFile(text, `${sweep}.yaml`).kind === 'groups';
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** The planning options. `cwd` starts at the working directory of the launch, which the runs' records tell. */
function optionsOf(
  source: Pick<SweepSource, 'file' | 'existing'>,
  runs: readonly RunSummary[],
  { runs: given, set }: LaunchOptions,
): ExpandOptions {
  const options: ExpandOptions = {
    runsDirectory: runsDirectory(given),
    cwd: own().cwd(),
    environment: own().env,
    set: set ?? [],
  };
  for (const run of runs.slice(0, mostAsked)) {
    const record = readRunRecord(run.directory);
    const cwd = record?.snapshot?.cwd ?? record?.cwd;
    if (cwd === undefined) continue;
    const isRight = (from: string) => cwdOf(source, run, { ...options, cwd: from }) === cwd;
    return isRight(options.cwd) || !isRight(cwd) ? options : { ...options, cwd };
  }
  return options;
}

const mostAsked = 20;

function cwdOf(
  { file, existing }: Pick<SweepSource, 'file' | 'existing'>,
  { name }: RunSummary,
  options: ExpandOptions,
): string | undefined {
  try {
    return expandBeside(file, options, existing).plan.runs.find((run) => run.name === name)?.cwd;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
