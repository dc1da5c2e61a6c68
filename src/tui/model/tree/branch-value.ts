import { type GroupAnswer, isTelling } from '../../../analysis/answer/sweep-answers.js';
import { isOneSetting } from '../../../analysis/parameters/settings.js';
import { median } from '../../../analysis/statistics.js';
import { isBroken } from '../../../base/run-words.js';
import { healthWord } from '../../../analysis/health/finding.js';
import { Memo } from '../../../base/memo.js';
import { cleanText } from '../../../text/display-text.js';
import { columnKey, type ColumnId, curveValueOf } from '../../state/list-choice.js';
import type { RunSummary } from '../../state/port.js';
import { bestOf, countBehind, hasOneObjective, placesOf, type RunValues, valuesOf } from '../tally.js';
import type { Branch } from './branch.js';

/**
 * What stands for the runs of a group in one column. `broken`: `2 diverged`, runs that are left out of it; empty: none.
 *
 * `seeds`: they differ in their seeds alone; `behind` of them are not as far as the others. `best`: they differ in more, and this is
 * the median over the runs of the best setting among them; `isJudged`: by this very value. `range`: they differ in more, and it is not known yet which setting is best.
 */
export type BranchValue =
  | { readonly kind: 'seeds'; readonly values: RunValues; readonly broken: string; readonly behind: number }
  | {
      readonly kind: 'best';
      readonly value: number;
      readonly setting: string;
      readonly runs: number;
      readonly isJudged: boolean;
      readonly metric: string;
    }
  | { readonly kind: 'range'; readonly low: number; readonly high: number; readonly broken: string };

/** What the value of a group depends on beside its runs. `metric`: that of the column `metric`. `x`: what counts their steps. */
export type BranchQuestion = {
  readonly column: ColumnId;
  readonly metric: string | null;
  readonly x: string;
  readonly answers: readonly GroupAnswer[];
};

/** The value of a group in a column; null: none of its runs has one. Undefined: a column without such values. */
export function branchValue(branch: Pick<Branch, 'runs'>, asked: BranchQuestion): BranchValue | null | undefined {
  const valueOf = valueIn(asked, branch.runs);
  if (valueOf === undefined) return undefined;
  const { answers } = asked;
  return values.value(branch, JSON.stringify([asked.column, asked.metric, versionOf(answers)]), () => {
    const fromSeeds = answers[0]?.answer.fromSeeds ?? [];
    if (isOneSetting(branch.runs, fromSeeds)) return ofSeeds(branch.runs, valueOf, asked.x);
    return ofBest(branch.runs, valueOf, asked) ?? ofAll(branch.runs, valueOf, asked.x);
  });
}

const values = new Memo<Pick<Branch, 'runs'>, BranchValue | null>(8);

/** A number that changes with the answers, which are never modified. */
function versionOf(answers: readonly GroupAnswer[]): number {
  let version = versions.get(answers);
  if (version === undefined) versions.set(answers, (version = ++lastVersion));
  return version;
}

const versions = new WeakMap<readonly GroupAnswer[], number>();
let lastVersion = 0;

type ValueOf = (run: RunSummary) => number | null | undefined;

/** How the column reads the value of a run; undefined: it shows something else. */
function valueIn({ column, metric }: BranchQuestion, runs: readonly RunSummary[]): ValueOf | undefined {
  const key = columnKey(column);
  if (key?.kind === 'parameter') return undefined;
  if (column === 'best') return hasOneObjective(runs) ? bestOf : () => undefined;
  const curve = curveValueOf(column);
  if (curve !== null) return ({ curveValues }) => curveValues?.[curve.word];
  const name = key?.key ?? (column === 'metric' ? metric : undefined);
  if (name === undefined) return undefined;
  return ({ metrics }) => (name !== null && Object.hasOwn(metrics, name) ? metrics[name] : undefined);
}

function ofSeeds(runs: readonly RunSummary[], valueOf: ValueOf, x: string): BranchValue | null {
  const { sound, broken } = apart(runs, valueOf);
  const own = valuesOf(sound, valueOf);
  const shown = own ?? (broken === '' ? null : { mean: Number.NaN, deviation: 0, count: 0, nan: 0, infinite: 0 });
  const having = sound.filter((run) => valueOf(run) !== undefined);
  return shown && { kind: 'seeds', values: shown, broken, behind: countBehind(placesOf(having, x)) };
}

/** From the answer of their group; null: there is none yet, or they belong to several. */
function ofBest(
  runs: readonly RunSummary[],
  valueOf: ValueOf,
  { answers, column, metric }: BranchQuestion,
): BranchValue | null {
  const answer = answerOn(runs, answers);
  if (answer === null) return null;
  const here = new Map(runs.map((run) => [run.name, run]));
  const best = answer.candidates.find((candidate) => candidate.runs.some((name) => here.has(name)));
  if (best === undefined) return null;
  const bestRuns = best.runs.flatMap((name) => here.get(name) ?? []);
  const isJudged = (columnKey(column)?.key ?? (column === 'metric' ? metric : null)) === answer.metric;
  const value = isJudged && bestRuns.length === best.runs.length ? best.median : medianOf(bestRuns, valueOf);
  if (value === null) return null;
  const setting = { setting: cleanText(best.text), runs: bestRuns.length };
  return { kind: 'best', value, ...setting, isJudged, metric: answer.metric };
}

/** The answer that these runs belong to, once it tells something. */
function answerOn(runs: readonly RunSummary[], answers: readonly GroupAnswer[]): GroupAnswer['answer'] | null {
  const groups = new Set(runs.map(({ group }) => group));
  const [own, ...others] = answers.filter(({ group }) => group === null || groups.has(group));
  if (own === undefined || others.length > 0 || !isTelling(own.answer)) return null;
  return own.group === null || groups.size === 1 ? own.answer : null;
}

function medianOf(runs: readonly RunSummary[], valueOf: ValueOf): number | null {
  return median(
    apart(runs, valueOf)
      .sound.flatMap((run) => valueOf(run) ?? [])
      .filter(Number.isFinite),
  );
}

function ofAll(runs: readonly RunSummary[], valueOf: ValueOf, x: string): BranchValue | null {
  const { sound, broken } = apart(runs, valueOf);
  let [low, high] = [Infinity, -Infinity];
  for (const run of sound) {
    const value = valueOf(run);
    if (value === undefined || value === null || !Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high || broken !== '' ? { kind: 'range', low, high, broken } : ofSeeds(runs, valueOf, x);
}

/** The runs whose values say something of their setting, and the others that have a finite value, counted by what is wrong with them. */
function apart(runs: readonly RunSummary[], valueOf: ValueOf): { sound: readonly RunSummary[]; broken: string } {
  if (!runs.some(isBroken)) return { sound: runs, broken: '' };
  const counts = new Map<string, number>();
  const sound = runs.filter((run) => {
    if (!isBroken(run) || !Number.isFinite(valueOf(run))) return true;
    counts.set(run.health, (counts.get(run.health) ?? 0) + 1);
    return false;
  });
  const words = [...counts].map(([word, count]) => `${count} ${healthWord(word as RunSummary['health'])}`);
  return { sound, broken: words.join(', ') };
}
