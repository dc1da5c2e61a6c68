import { noSuchRun, UserError } from '../base/user-error.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import { runsAllNamed, runsChosenBy } from '../query/bare-words.js';
import { parseRunQuery } from '../query/parser.js';
import { hasTerm, type Term } from '../query/query.js';
import { everyRun } from '../query/words.js';
import { shortened } from '../text/display-text.js';
import { didYouMean } from '../text/nearest.js';
import { recalled } from './open-fleet.js';

/**
 * Like `runsChosenBy`, for verbs that need at least one run and words that select it.
 *
 * @throws {UserError} Also when a word is empty, which may be an unset variable, or when there is no such run, with the nearest
 * name.
 */
export function chosenRuns(words: readonly string[], runs: readonly RunSummary[], now: number): RunSummary[] {
  refuseEmpty(words);
  const chosen = runsChosenBy(words, runs, now);
  if (chosen.length > 0) return chosen;
  if (runs.length === 0) {
    throw new UserError(
      'There are no runs here.',
      'Launch a sweep: `memrl-tui sweeps/quick.yaml`, or choose another runs directory with --runs.',
      noSuchRun,
    );
  }
  const [word] = words;
  const isName = words.length === 1 && /^[\w.@+,/-]+$/.test(word!);
  const hint = isName ? `${didYouMean(word!, namesLike(word!, runs))} ` : '';
  const problem = `No run matches \`${shortened(words.join(' '))}\`.`;
  throw new UserError(problem, `${hint}\`memrl-tui ls\` lists them all.`, noSuchRun);
}

function refuseEmpty(words: readonly string[]): void {
  if (words.every((word) => word.trim() !== '') && words.length > 0) return;
  const rest = words.filter((word) => word.trim() !== '').join(' ');
  const beside = rest === '' ? 'The query is empty' : `An argument next to \`${shortened(rest)}\` is empty`;
  throw new UserError(
    `${beside}: it does not say which runs are meant. Perhaps a shell variable is not set.`,
    `Name the runs, or use \`${everyRun}\` for every run of every sweep.`,
  );
}

/** Whether a selection depends on metrics, which must then have been read. */
export function isAboutMetrics(words: readonly string[], runs: readonly RunSummary[]): boolean {
  if (runsAllNamed(words, runs) !== null) return false;
  return hasTerm(parseRunQuery(words.join(' ')), isMetricTerm);
}

function isMetricTerm(term: Term): boolean {
  if (term.kind === 'fact') return term.fact === 'progress';
  return term.kind === 'value' || (term.kind === 'field' && term.field === 'health');
}

/** Names that a single word may stand for: a run, with or without its sweep, or a sweep. */
function namesLike(word: string, runs: readonly RunSummary[]): string[] {
  if (word.includes('/')) return runs.map(({ id }) => id);
  return [...runs.map(({ name }) => name), ...new Set(runs.map(({ sweep }) => sweep))];
}

/**
 * Like `chosenRuns`, with the present runs of the fleet. Waits for the metrics of ended runs only if the selection depends on them,
 * so that killing a run by name need not wait for thousands of files.
 */
export async function chooseRuns(words: readonly string[], fleet: Fleet): Promise<RunSummary[]> {
  if (isAboutMetrics(words, [...fleet.runs.values()])) await recalled(fleet);
  return chosenRuns(words, [...fleet.runs.values()], Date.now());
}
