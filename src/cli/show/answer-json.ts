import { type Answer, type AnsweredSetting, answerSentences } from '../../analysis/answer/best-answer.js';
import type { GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import type { Answers } from '../answers/schemas.js';

/** An answer for scripts. */
export function answerJson({ group, answer }: GroupAnswer): Omit<Answers['best'][number], 'sweep' | 'read'> {
  const { candidates, broken, metric, goal, all, done, pending, silent } = answer;
  const [first, next] = candidates;
  return {
    ...{ group, metric, goal, runs: all, done, pending, silent },
    best: first === undefined ? null : settingJson(first),
    runnerUp: next === undefined ? null : settingJson(next),
    toldApart: isToldApart(answer),
    candidates: candidates.map(settingJson),
    broken: broken.map(settingJson),
    sentences: answerSentences(answer),
  };
}

function settingJson({ parameters, median, interval, runs, broken, isTied }: AnsweredSetting) {
  return { parameters, median, interval, runs, broken, tied: isTied };
}

function isToldApart({ candidates: [, ...others] }: Answer): boolean | null {
  if (others.length === 0) return null;
  if (others.some(({ isTied }) => isTied === true)) return false;
  return others.some(({ isTied }) => isTied === null) ? null : true;
}
