import { type AnsweredSetting, answerSentences } from '../../analysis/answer/best-answer.js';
import {
  answersOf,
  type GroupAnswer,
  type SweepAnswers,
  type Unanswered,
} from '../../analysis/answer/sweep-answers.js';
import { type Importance, importanceSteps } from '../../analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../analysis/parameters/seeded-random.js';
import { groupBy } from '../../base/group-by.js';
import { isBroken } from '../../base/run-words.js';
import { finished } from '../../base/steps.js';
import { noSuchRun, UserError } from '../../base/user-error.js';
import type { RunSummary, SweepSummary } from '../../client/fleet.js';
import { computedFromSeeds } from '../../files/sweep-folder.js';
import { areRead } from '../../protocol/run-summary.js';
import { runsChosenBy } from '../../query/bare-words.js';
import { requiredKey } from '../../query/check.js';
import { parseObjective } from '../../spec/policy/early-stop/parse-rule.js';
import { counted, shortNumber } from '../../text/numbers.js';
import { columnsOf, tableLines } from '../../text/table.js';
import { wrap } from '../../text/wrap.js';
import { exitCodes } from '../answers/exit-codes.js';
import type { Answers } from '../answers/schemas.js';
import type { CommonOptions } from '../options.js';
import { answerJson } from '../show/answer-json.js';
import { type KnownFleet, showRuns } from '../viewed-paths.js';
import { noRuns } from '../show/runs-here.js';
import { outputWidth, print, printAnswer } from '../terminal.js';

type BestOptions = CommonOptions & { metric?: string; across?: boolean; importance?: boolean };

/** Settings in the table, at most. */
const SHOWN = 10;
/** Width of the sentences, at most. */
const PROSE = 140;

/** `memrl-tui best [QUERY]`: which setting of each group is best, and whether it can be told apart from the others. */
export function best(words: readonly string[], options: BestOptions): Promise<number> {
  return showRuns(words, options, (fleet, rest) => show(fleet, rest, options));
}

function show(fleet: KnownFleet, words: readonly string[], options: BestOptions): number {
  const runs = runsChosenBy(words, [...fleet.runs.values()], Date.now());
  if (runs.length === 0)
    throw new UserError(words.length === 0 ? noRuns : 'No run matches.', '`memrl-tui ls` lists them.', noSuchRun);
  const read = areRead(runs, fleet.status.recalled ?? true);
  const told = [...groupBy(runs, ({ sweep }) => sweep)].map(([name, own]) => {
    return { sweep: name, own, ...askedOf(own, fleet.sweeps.get(name)!, options) };
  });
  const answered = told.flatMap(({ sweep, own, answers }) =>
    answers.map((each) => withImportance({ sweep, ...each }, own, fleet, options)),
  );
  if (answered.length === 0 && !read)
    throw new UserError('The metrics of these runs are still being read.', 'Wait for them: `--wait-read`.');
  if (answered.length === 0) throw unansweredError(told[0]!.sweep, told[0]!.unanswered[0]!);
  if (options.json === true) {
    printAnswer(
      'best',
      answered.map((each) => ({ sweep: each.sweep, ...answerJson(each), ...importanceField(each), read })),
    );
  } else print(answered.flatMap((each, index) => [...(index > 0 ? [''] : []), ...answerLines(each)]));
  return answered.every(({ answer }) => answer.candidates.length > 0) ? exitCodes.done : exitCodes.undone;
}

type Told = GroupAnswer & { readonly sweep: string; readonly importance?: Importance };

function withImportance(
  told: Told,
  runs: readonly RunSummary[],
  { sweeps }: KnownFleet,
  { importance }: BestOptions,
): Told {
  if (importance !== true) return told;
  return { ...told, importance: importanceFor(told, runs, computedFromSeeds(sweeps.get(told.sweep)!.directory)) };
}

function importanceField({ importance }: Told) {
  return importance === undefined ? {} : { importance: importanceJson(importance) };
}

function askedOf(runs: readonly RunSummary[], sweep: SweepSummary, { metric, across }: BestOptions): SweepAnswers {
  const fromSeeds = computedFromSeeds(sweep.directory);
  if (metric === undefined) return answersOf(runs, sweep, { fromSeeds, isAcross: across });
  const { name, goal } = parseObjective(metric);
  return answersOf(runs, sweep, { fromSeeds, isAcross: across, objective: { metric: requiredKey(name, runs), goal } });
}

/** The error when it is not known which metric says how good a run is, or which end of it is good. */
function unansweredError(sweep: string, { metric }: Unanswered): UserError {
  const fix = `Say what is best: --metric 'minimize ${metric ?? 'loss'}', or \`metric\` in the sweep file.`;
  if (metric === null) return new UserError(`No run of ${sweep} has written a metric (yet).`, fix);
  return new UserError(`It is not known whether more or less of ${metric} is better.`, fix);
}

function answerLines({ sweep, group, answer, importance }: Told): string[] {
  const { metric, goal, candidates, broken, done, all } = answer;
  const width = outputWidth(Infinity);
  const matters = importance === undefined ? [] : [importanceSentence(importance, metric)];
  const said = [...answerSentences(answer), ...matters];
  const sentences = said.flatMap((sentence) => wrap(sentence, Math.min(width, PROSE)));
  const head = `${[sweep, group ?? []].flat().join(' · ')} · ${metric}, ${goal === 'minimize' ? 'lowest' : 'highest'} first · ${done} of ${all} runs done`;
  const rows = [...candidates, ...broken].slice(0, SHOWN);
  if (rows.length === 0) return [head, '', ...sentences];
  const column = columnsOf(rows);
  const table = tableLines(
    [
      { ...column('left')('setting', ({ text }) => text), hasNames: true },
      column('right')(metric, (row) => (Number.isFinite(row.median) ? shortNumber(row.median) : 'broken')),
      column('right')(
        '95 %',
        ({ interval }) => (interval === null ? '' : `${shortNumber(interval[0])} to ${shortNumber(interval[1])}`),
        1,
      ),
      column('right')('runs', ({ runs }) => String(runs.length)),
      column('left')('', (row) => wordOf(row, candidates)),
    ],
    width,
  );
  const more = candidates.length + broken.length - rows.length;
  return [head, '', ...sentences, '', ...table, ...(more > 0 ? [`and ${more} more: --json lists all`] : [])];
}

function wordOf(row: AnsweredSetting, [first]: readonly AnsweredSetting[]): string {
  if (row === first) return 'best';
  if (!Number.isFinite(row.median)) return `${row.broken} of ${row.runs.length} broke`;
  const broke = row.broken > 0 ? `${row.broken} of ${row.runs.length} broke` : '';
  return [row.isTied === true ? 'cannot be told apart' : '', broke].filter((word) => word !== '').join(', ');
}

/** Parameters in the sentence, at most. */
const NAMED = 5;

/** How much each parameter matters for the metric of an answer, over the runs of its group that are done. */
function importanceFor(
  { group, answer: { metric, goal } }: GroupAnswer,
  runs: readonly RunSummary[],
  fromSeeds: readonly string[],
): Importance {
  const done = runs.filter((run) => run.state === 'done' && (group === null || run.group === group));
  const measured = done.map((run) => ({
    ...{ parameters: run.parameters, group: run.group, isBroken: isBroken(run) },
    objective: metric in run.metrics ? (run.metrics[metric] ?? Number.NaN) : null,
  }));
  return finished(importanceSteps({ runs: measured, goal, fromSeeds }, seededRandom(1)));
}

function importanceJson(importance: Importance): NonNullable<Answers['best'][number]['importance']> | null {
  if (importance.kind !== 'measured') return null;
  const { explained, isNoise, parameters, pairs } = importance;
  return {
    ...{ explained, noise: isNoise },
    parameters: parameters.map(({ name, share, spread, trend, aliases }) => {
      return { name, share, spread, trend, aliases: [...aliases] };
    }),
    pairs: pairs.map(({ names, share }) => ({ names: [...names], share })),
  };
}

function importanceSentence(importance: Importance, metric: string): string {
  switch (importance.kind) {
    case 'too few runs':
      return `Which parameters matter is not known: ${counted(importance.counts.finite, 'run')} with a value, ${importance.needed} are needed.`;
    case 'one objective':
      return `Which parameters matter is not known: all runs have the same ${metric}.`;
    case 'no parameter':
      return 'No parameter differs between these runs.';
    case 'measured':
      return shares(importance, metric);
  }
}

function shares({ parameters, isNoise, explained }: Extract<Importance, { kind: 'measured' }>, metric: string): string {
  if (isNoise)
    return `No parameter can be seen to matter for ${metric}: a random forest predicts unseen runs no better than chance.`;
  const said = parameters
    .slice(0, NAMED)
    .map(({ name, share, spread }) => `${name} ${percent(share)} ± ${percent(spread)}`);
  const more = parameters.length > NAMED ? `, and ${parameters.length - NAMED} less` : '';
  return `Of the variance of ${metric} the parameters make up: ${said.join(', ')}${more}; together with their interactions ${percent(explained)}.`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
