import { hasEnded, type RunWord } from '../../base/run-words.js';
import { counted } from '../../text/numbers.js';
import { shellQuote } from '../../text/shell-words.js';
import { isTelling, type GroupAnswer } from './sweep-answers.js';

/** A command that a person or a program may want to type next, and why. */
type NextStep = { readonly command: string; readonly why: string };

type Run = { readonly id: string; readonly state: RunWord; readonly heldBy?: string | null | undefined };

/** What to do next with a sweep, the most urgent first. @param options Further words of every command: `--runs DIR`. */
export function nextSteps(
  sweep: string,
  runs: readonly Run[],
  answers: readonly Pick<GroupAnswer, 'answer'>[],
  options: readonly string[] = [],
): NextStep[] {
  const isOver = runs.every(({ state }) => hasEnded(state) || state === 'held');
  const held = runs.filter(({ state, heldBy }) => state === 'held' && heldBy === 'breaker');
  const steps = [
    ...afterFailures(sweep, runs),
    ...(held.length > 0 ? [step(['release', `sweep:${sweep}`, 'status:held'], heldWords(held.length))] : []),
    ...(isOver ? moreSeeds(sweep, answers) : [step(['wait', sweep], 'returns when all runs have ended')]),
    ...(isOver && runs.some(({ state }) => state === 'done')
      ? [step(['report', sweep, '--html', `${sweep}.html`], 'a page to send')]
      : []),
  ];
  return steps.map(({ words, why }) => ({ command: shellQuote(['memrl-tui', ...words, ...options]), why }));
}

function afterFailures(sweep: string, runs: readonly Run[]): Step[] {
  const failed = runs.filter(({ state }) => state === 'failed' || state === 'lost');
  const [first] = failed;
  if (first === undefined) return [];
  const again = ['resume', `sweep:${sweep}`, 'status:failed,lost'];
  return [
    step(['logs', first.id], 'how one of those that failed ended'),
    step(again, `once that is fixed: ${counted(failed.length, 'run')}`),
  ];
}

function heldWords(count: number): string {
  return `${counted(count, 'run')} held back since others failed, once that is fixed`;
}

/** The step to further seeds, where chance may have chosen the best setting. */
function moreSeeds(sweep: string, answers: readonly Pick<GroupAnswer, 'answer'>[]): Step[] {
  const open = answers.filter(({ answer }) => isTelling(answer) && answer.candidates.length > 1);
  const others = open.flatMap(({ answer }) => answer.candidates.slice(1));
  const tied = others.filter(({ isTied }) => isTied === true).length;
  if (tied > 0) return [step(['extend', sweep], `more seeds: ${counted(tied, 'setting')} may be as good as the best`)];
  if (!others.some(({ isTied }) => isTied === null)) return [];
  return [step(['extend', sweep], 'a second seed: of one run each nobody knows what is chance')];
}

type Step = { readonly words: readonly string[]; readonly why: string };

function step(words: readonly string[], why: string): Step {
  return { words, why };
}
