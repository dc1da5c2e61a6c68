import { dirname, join } from 'node:path';
import { hasEnded } from '../../base/run-words.js';
import { UserError } from '../../base/user-error.js';
import type { RunSummary } from '../../client/fleet.js';
import { sweepFiles } from '../../contract/files.js';
import { linkedIn, type MadeSnapshot, makeSnapshot, snapshotTop } from '../../provenance/code-snapshot.js';
import { type CodeSurvey, surveyCode } from '../../provenance/code-survey.js';
import type { CodeSnapshot, Plan, PlannedRun } from '../../spec/planned-run.js';
import { copyOf, atSnapshot } from '../../spec/snapshot-place.js';
import { counted, sizeText } from '../../text/numbers.js';
import type { Planned } from './difference.js';

type Environment = Readonly<Record<string, string>>;

/** What is copied for the runs of a plan that ask for it, by the working directory of the runs. */
export type Surveys = ReadonlyMap<string, CodeSurvey>;

/** Working directories of one launch; each is looked into. */
const MOST_PLACES = 20;
/** Files that are named. */
const NAMED = 6;

/**
 * Looks what `code: snapshot` would copy. Writes nothing.
 *
 * @param runs The runs directory, absolute.
 * @throws {UserError} Where something cannot be copied.
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

/** What is copied and what is not, in words. */
export function snapshotNotes({ runs }: Plan, surveys: Surveys): string[] {
  const tops = new Map([...surveys.values()].map((survey) => [survey.top, survey]));
  return [...[...tops.values()].map(copyNote), ...absoluteNotes(runs, surveys)];
}

function copyNote({ top, commit, files, bytes, changed, fresh, linked }: CodeSurvey): string {
  const differences = [...(changed === 0 ? [] : [`${changed} changed`]), ...(fresh === 0 ? [] : [`${fresh} new`])].join(
    ' and ',
  );
  const state = differences === '' ? '' : `, with ${differences} ${changed + fresh === 1 ? 'file' : 'files'}`;
  const links = linked.length === 0 ? '' : `; linked, not copied: ${listed(linked)}`;
  return `A launch copies the code of ${top} at commit ${commit.slice(0, 10)}${state}: ${counted(files.length, 'file')}, ${sizeText(bytes)}${links}.`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** A program that is named by its whole path is not that of the copy. */
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

/** `rows`: what the supervisor knows of runs. */
type Launch = { readonly rows: ReadonlyMap<string, RunSummary>; readonly environment: Environment };

/**
 * The plan as it is submitted: with each run started from a copy of the code, where it asks for that. A run that waits, is up, or
 * goes on to a larger budget keeps the copy that it has; new ones, and those that are started again, get one of the code as it
 * is now.
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

/** Makes each copy when it is first asked for. */
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

/** Null: it has none of this work tree, or it is gone. */
function keptSnapshot({ directory }: PlannedRun, { snapshot }: RunSummary, survey: CodeSurvey): CodeSnapshot | null {
  if (snapshot === undefined) return null;
  const path = join(dirname(directory), sweepFiles.code, snapshot);
  if (snapshotTop(path) !== survey.top) return null;
  return placeOf(survey, { path, linked: linkedIn(path, survey.linked) });
}
