import { dirname, join } from 'node:path';
import { hasEnded } from '../../base/run-words.js';
import { systemRefusal, UserError } from '../../base/user-error.js';
import type { Programs } from '../../client/ensure-supervisor.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { sweepFiles } from '../../contract/files.js';
import { refuseImpossible } from '../../executors/registry.js';
import { obstacleOf } from '../../files/regular-file.js';
import { writeLaunchOverrides, writeSweepOrigin, writeSweepText } from '../../files/sweep-folder.js';
import { demandOf } from '../../launch/demand.js';
import { linkedIn, type MadeSnapshot, makeSnapshot, snapshotTop } from '../../provenance/code-snapshot.js';
import { type CodeSurvey, surveyCode } from '../../provenance/code-survey.js';
import { computedFromSeeds } from '../../spec/file/sweep-file.js';
import type { CodeSnapshot, Plan, PlannedRun } from '../../spec/planned-run.js';
import { atSnapshot, copyOf } from '../../spec/snapshot-place.js';
import { counted, sizeText } from '../../text/numbers.js';
import { supervisorPrograms } from '../open-fleet.js';
import { definedEnvironment, requestedSlots } from '../options.js';
import { at } from '../ports.js';
import { type Planned, type ReadPlan, saidBy, sweepDirectory } from './read.js';

type Environment = Readonly<Record<string, string>>;

/** The code to copy for the runs of a plan with `code: snapshot`, by their working directory. */
type Surveys = ReadonlyMap<string, CodeSurvey>;

/** Limit on the working directories of one launch. */
const MOST_PLACES = 20;
/** Limit on the files that a message names. */
const NAMED = 6;

/** Refuses runs whose requirements no machine can meet, before anything is submitted, as they would wait for ever. */
export function refuseImpossibleJobs({ plan: { runs, executor }, options: { perGpu } }: ReadPlan): Promise<void> {
  const demands = runs.map((run) => ({ cwd: '/', ...demandOf(run, perGpu) }));
  return refuseImpossible(executor ?? 'local', demands, definedEnvironment());
}

/** The programs for a new supervisor, with the executor of this launch. */
export function programsFor({ plan: { executor } }: ReadPlan): Programs {
  const programs = supervisorPrograms();
  if (executor === undefined) return programs;
  return { ...programs, environment: { ...programs.environment, MEMRL_EXECUTOR: executor } };
}

/** Submits a plan, and the copies of code that its runs start from. @throws {UserError} When the supervisor refuses it. */
export async function submit(fleet: Fleet, { plan, planned, options }: ReadPlan, surveys: Surveys): Promise<void> {
  const environment = definedEnvironment();
  const whole = await withSnapshots(plan, planned, surveys, { rows: fleet.runs, environment });
  const answer = await fleet.submit(whole, environment, requestedSlots(options));
  if (!answer.ok) throw new UserError(answer.message, answer.fix ?? 'Correct it and launch again.');
}

/**
 * Stores the text of a submitted sweep, where it is from, and its options beside its runs.
 *
 * @param file The file of the text. @returns In words why it could not be stored; null: it was.
 */
export function keepText(plan: ReadPlan, file: string): string | null {
  const directory = sweepDirectory(plan);
  const { text, path, file: parsed } = plan.read;
  const fromSeeds = parsed.kind === 'groups' ? computedFromSeeds(parsed.blocks) : [];
  return keepLaunched(directory, () => {
    writeSweepText(directory, text, path);
    writeSweepOrigin(directory, at(file));
    writeLaunchOverrides(directory, { ...saidBy(plan.options), fromSeeds });
  });
}

/**
 * Stores what was launched, for readers of the runs directory; each run's own parameters are in its run.json. The runs are submitted
 * by then: where the disk takes nothing more, nothing else is different.
 *
 * @returns In words why it could not be stored; null: it was.
 */
export function keepLaunched(sweepDirectory: string, write: () => void): string | null {
  try {
    write();
    return null;
  } catch (error) {
    const obstacle = obstacleOf(error);
    if (systemRefusal(error) === null || obstacle.kind !== 'unreadable') throw error;
    return (
      `The runs are submitted, but the text of the sweep could not be kept in ${sweepDirectory}: ${obstacle.reason}. ` +
      'Launch the file again when that is fixed; nothing is started twice.'
    );
  }
}

/**
 * Surveys what `code: snapshot` would copy. Writes nothing.
 *
 * @param runs The runs directory, absolute.
 * @throws {UserError} If something cannot be copied.
 */
export async function surveysOf(plan: Plan, runs: string, environment: Environment): Promise<Surveys> {
  const places = new Set(plan.runs.flatMap(({ snapshot }) => (snapshot === undefined ? [] : [snapshot.cwd])));
  if (places.size > MOST_PLACES) {
    throw new UserError(
      `The runs have ${places.size} working directories; with \`code: snapshot\` there may be ${MOST_PLACES}.`,
      'Take the parameters out of `cwd`, or take `code: snapshot` out of the sweep file.',
    );
  }
  const surveys = new Map<string, CodeSurvey>();
  for (const cwd of places) surveys.set(cwd, await surveyCode(cwd, { environment, runs }));
  return surveys;
}

/** Describes what is copied and what is not. */
export function snapshotNotes({ runs }: Plan, surveys: Surveys): string[] {
  const tops = new Map([...surveys.values()].map((survey) => [survey.top, survey]));
  return [...[...tops.values()].map(copyNote), ...absoluteNotes(runs, surveys)];
}

function copyNote(survey: CodeSurvey): string {
  const { top, commit, files, bytes, changed, fresh, secrets } = survey;
  const linked = survey.linked.filter((path) => !secrets.includes(path));
  const differences = [...(changed === 0 ? [] : [`${changed} changed`]), ...(fresh === 0 ? [] : [`${fresh} new`])].join(
    ' and ',
  );
  const state = differences === '' ? '' : `, with ${differences} ${changed + fresh === 1 ? 'file' : 'files'}`;
  const links = linked.length === 0 ? '' : `; linked, not copied: ${listed(linked)}`;
  const left =
    secrets.length === 0
      ? ''
      : ` ${listed(secrets)}: linked, not copied, as the names are those of secrets; what is committed is copied.`;
  return `A launch copies the code of ${top} at commit ${commit.slice(0, 10)}${state}: ${counted(files.length, 'file')}, ${sizeText(bytes)}${links}.${left}`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Notes on programs that are named by an absolute path, and so do not come from the copy. */
function absoluteNotes(runs: readonly PlannedRun[], surveys: Surveys): string[] {
  const found = new Set<string>();
  for (const { argv, resumeArgs, cwd } of runs) {
    const survey = surveys.get(cwd);
    if (survey === undefined) continue;
    const place = { ...survey, linked: [...survey.linked], path: '' };
    const names = new Set(survey.files.map(({ path }) => `/${path}`));
    for (const word of [...argv, ...resumeArgs]) {
      if (word.startsWith('/') && names.has(copyOf(word, place))) found.add(word);
    }
  }
  if (found.size === 0) return [];
  return [
    `The commands name ${listed([...found])} by the whole path, which is not that of the snapshot: write it relative to \`cwd\`.`,
  ];
}

/** `rows`: the supervisor's runs. */
type Launch = { readonly rows: ReadonlyMap<string, RunSummary>; readonly environment: Environment };

/**
 * The plan as it is submitted: each run with `code: snapshot` starts from a copy of the code. A run that waits, is up, or continues
 * with a larger budget keeps its copy; new runs, and those that start again, get one of the present code.
 */
export async function withSnapshots(
  plan: Plan,
  planned: readonly Planned[],
  surveys: Surveys,
  { rows, environment }: Launch,
): Promise<Plan> {
  const [first] = plan.runs;
  if (surveys.size === 0 || first === undefined) return plan;
  const fresh = freshSnapshots(dirname(first.directory), environment);
  const grown = new Set(planned.filter(({ standing }) => standing.grown !== undefined).map(({ run }) => run.id));
  const keeps = ({ id, state }: RunSummary) => !hasEnded(state) || grown.has(id);
  const placed = async (run: PlannedRun): Promise<PlannedRun> => {
    const survey = run.snapshot && surveys.get(run.snapshot.cwd);
    if (survey === undefined) return run;
    const row = rows.get(run.id);
    const before = row !== undefined && keeps(row) ? keptSnapshot(run, row, survey) : null;
    return atSnapshot(run, before ?? (await fresh(survey)), environment);
  };
  const runs: PlannedRun[] = [];
  for (const run of plan.runs) runs.push(await placed(run));
  if (plan.source === undefined) return { ...plan, runs };
  const snapshots = await Promise.all([...surveys.values()].map(fresh));
  return { ...plan, runs, source: { ...plan.source, snapshots } };
}

/** Returns a function that makes each copy on first use. */
function freshSnapshots(
  sweepDirectory: string,
  environment: Environment,
): (survey: CodeSurvey) => Promise<CodeSnapshot> {
  const made = new Map<string, Promise<CodeSnapshot>>();
  return (survey) => {
    const known = made.get(survey.cwd);
    if (known !== undefined) return known;
    const making = makeSnapshot(survey, sweepDirectory, { environment }).then((snapshot) => placeOf(survey, snapshot));
    made.set(survey.cwd, making);
    return making;
  };
}

function placeOf({ cwd, within, top }: CodeSurvey, { path, linked }: MadeSnapshot): CodeSnapshot {
  return { cwd, within, top, path, linked: [...linked] };
}

/** The copy that a run has; null: it has none of this work tree, or it was deleted. */
function keptSnapshot({ directory }: PlannedRun, { snapshot }: RunSummary, survey: CodeSurvey): CodeSnapshot | null {
  if (snapshot === undefined) return null;
  const path = join(dirname(directory), sweepFiles.code, snapshot);
  if (snapshotTop(path) !== survey.top) return null;
  return placeOf(survey, { path, linked: linkedIn(path, survey.linked) });
}
