/** The answer that a sweep is run for: which setting is best, what cannot be told apart from it, and what is no candidate. */
import { groupBy } from '../../base/group-by.js';
import { hasEnded, isBroken, type RunHealth, type RunWord } from '../../base/run-words.js';
import { type Parameters, parameterOf } from '../../base/scalar.js';
import { finished } from '../../base/steps.js';
import { counted, shortNumber } from '../../text/numbers.js';
import { parametersText } from '../../text/parameters-text.js';
import { parameterNames } from '../parameters/factors.js';
import { repetitionNames, settingSteps } from '../parameters/settings.js';
import { rankedSettings, type SettingResult } from './ranked-settings.js';

/** A run of one sweep. `metrics`: last values; null: not a number. */
export type AnsweredRun = {
  readonly name: string;
  readonly group: string;
  readonly parameters: Parameters;
  readonly state: RunWord;
  readonly health: RunHealth;
  readonly metrics: Readonly<Record<string, number | null>>;
};

/** Which metric is asked for, and which end of it is good. `fromSeeds`: parameters that the sweep computes from seeds. */
export type AnswerQuestion = {
  readonly metric: string;
  readonly goal: 'minimize' | 'maximize';
  readonly fromSeeds: readonly string[];
};

/** A setting by the parameters that vary in its group. `text`: these in one line. `runs`: names, those without a value left out. */
export type AnsweredSetting = Omit<SettingResult, 'rows'> & { readonly text: string; readonly runs: readonly string[] };

export type Answer = AnswerQuestion & {
  /** The best first. */
  readonly candidates: readonly AnsweredSetting[];
  /** Settings of which most runs diverged, collapsed or ended with NaN. */
  readonly broken: readonly AnsweredSetting[];
  /** Runs that are done, of all; those that have not ended; those that are done and have not written the metric. */
  readonly done: number;
  readonly all: number;
  readonly pending: number;
  readonly silent: number;
};

/** The answer of the runs that are done. One that was ended before, by a person or a rule, has not come as far as the others. */
export function answerOf(runs: readonly AnsweredRun[], question: AnswerQuestion): Answer {
  return finished(answerSteps(runs, question));
}

/** The same in steps, for a window that goes on meanwhile. */
export function* answerSteps(runs: readonly AnsweredRun[], question: AnswerQuestion): Generator<0, Answer> {
  const { metric, goal, fromSeeds } = question;
  const done = runs.filter(({ state }) => state === 'done');
  const repetition = repetitionNames(runs, fromSeeds);
  const results = done.map((run) => {
    const value = Object.hasOwn(run.metrics, metric) ? (run.metrics[metric] ?? Number.NaN) : null;
    return { value, isBroken: isBroken(run) };
  });
  const { candidates, broken } = rankedSettings(yield* settingSteps(done, repetition), results, goal);
  // A parameter with one value in its group is left out of the text of a setting: the name of the group stands for it.
  const groups = groupBy(runs, ({ group }) => group);
  const named = new Map([...groups].map(([group, own]) => [group, namesThatVary(own, repetition)]));
  const told = ({ rows, ...setting }: SettingResult): AnsweredSetting => {
    const { group } = done[rows[0]!]!;
    const parameters: Parameters = {};
    for (const name of named.get(group)!) {
      const value = parameterOf(setting.parameters, name);
      if (value !== undefined) parameters[name] = value;
    }
    const words = [groups.size > 1 ? group : '', parametersText(parameters)].filter((word) => word !== '');
    return {
      ...{ ...setting, parameters },
      text: words.join(' ') || 'all runs',
      runs: rows.map((row) => done[row]!.name),
    };
  };
  return {
    ...{ ...question, candidates: candidates.map(told), broken: broken.map(told) },
    ...{ done: done.length, all: runs.length, pending: runs.filter(({ state }) => !hasEnded(state)).length },
    silent: results.filter(({ value, isBroken }) => value === null && !isBroken).length,
  };
}

/** Names of parameters with several values, but for those that differ between repetitions. */
export function namesThatVary(
  runs: readonly Pick<AnsweredRun, 'parameters'>[],
  repetition: ReadonlySet<string>,
): string[] {
  const names = [...parameterNames(runs.map(({ parameters }) => parameters))].filter((name) => !repetition.has(name));
  return names.filter((name) => {
    const textIn = ({ parameters }: Pick<AnsweredRun, 'parameters'>) => JSON.stringify(parameterOf(parameters, name));
    const first = textIn(runs[0]!);
    return runs.some((run) => textIn(run) !== first);
  });
}

/** Settings that are named in a sentence, at most. */
const NAMED = 3;

/** The answer in sentences; none: nothing can be said yet. */
export function answerSentences(answer: Answer): string[] {
  const { candidates, broken, metric, pending, silent } = answer;
  const [best] = candidates;
  return [
    ...(best === undefined
      ? when(silent === 0, `No run that is done has a value of ${metric}.`)
      : [bestSentence(best, answer)]),
    ...when(
      broken.length > 0,
      `${listed(broken.map(({ text }) => text))} ${broken.length === 1 ? 'is no candidate: its' : 'are no candidates: their'} runs diverged, collapsed or ended with NaN.`,
    ),
    ...when(
      silent > 0,
      `${counted(silent, 'run')} that ${silent === 1 ? 'is' : 'are'} done ${silent === 1 ? 'has' : 'have'} not written ${metric}.`,
    ),
    ...when(
      pending > 0 && best !== undefined,
      `So far: ${counted(pending, 'run')} ${pending === 1 ? 'has' : 'have'} not ended.`,
    ),
  ];
}

function bestSentence(best: AnsweredSetting, { metric, candidates }: Answer): string {
  const of = (setting: AnsweredSetting) => `${shortNumber(setting.median)} over ${counted(setting.runs.length, 'run')}`;
  const others = candidates.slice(1);
  const [next] = others;
  const value = `${metric} ${of(best)}`;
  if (next === undefined) return `${best.text}: ${value}; no other setting has a value.`;
  const tied = others.filter(({ isTied }) => isTied === true);
  if (tied.length > 0) {
    const texts = tied.map((each) => `${each.text} (${of(each)})`);
    return `${best.text} has the best median, ${value}, but ${listed(texts)} cannot be told apart from it.`;
  }
  const after = `next is ${next.text} (${of(next)})`;
  if (next.isTied === null)
    return `${best.text} has the best value, ${value}; ${after}. No setting was run twice, so that it may be chance.`;
  return `${best.text} is best: ${value}, told apart from all others; ${after}.`;
}

function listed(texts: readonly string[]): string {
  const more = texts.length - NAMED;
  const named = more > 1 ? [...texts.slice(0, NAMED), `${more} more`] : texts;
  return named.length === 1 ? named[0]! : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}

function when(holds: boolean, sentence: string): string[] {
  return holds ? [sentence] : [];
}
