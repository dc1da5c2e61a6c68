import { signalBits } from '../../../analysis/memory-rules.js';
import type { Solution } from '../../environment.js';
import { endingId, memoryTokenizer } from '../../text/memory-vocabulary.js';
import { generationPrompt, response, supervisedExample } from '../../text/role-colon.js';
import type { Game, GameSetup } from './game.js';
import { readAnswer, writeAnswer } from './answer-format.js';
import { parseGuessLeniently } from './parsing.js';
import { singleStepPrompt, type Message } from './prompts.js';
import { judgeGuess, type RewardRule } from './rewards.js';

/** One question, one number, one reward. */
export function singleStepGame(setup: GameSetup, rule: RewardRule): Game {
  const { N, secret, format = 'decimal' } = setup;
  const guessIn = (text: string) =>
    setup.lenient === true ? parseGuessLeniently(text, N) : readAnswer(text, N, format);
  const messages = [...setup.prefix, singleStepPrompt(N)];
  return {
    kind: 'single_step',
    tag: `single_step_N${N}_${rule.type}${rule.type === 'binned_log_distance' ? `_B${rule.bins}` : ''}${format === 'decimal' ? '' : `_${format}`}`,
    tokenizer: memoryTokenizer,
    prompt: generationPrompt(messages),
    turns: 1,
    observation: () => [],
    judge: (said) => {
      const { text, complete } = response(said, endingId);
      const guess = guessIn(text);
      const { reward, correct, distance } = judgeGuess(guess, secret, N, rule);
      const metrics = {
        correct: Number(correct),
        distance,
        reward_signal: reward,
        success_count: Number(correct),
        format_error: Number(guess === null),
        parse_success: Number(complete),
      };
      return { reward, metrics };
    },
    reading: ([said]) => guessIn(response(said ?? [], endingId).text),
    solution: solution([...messages, { role: 'assistant', content: writeAnswer(secret, N, format) }], N),
  };
}

function solution(messages: readonly Message[], N: number): Solution {
  const { tokens, weights } = supervisedExample(messages, 'last assistant message');
  const answerWeights = weights.slice();
  // The tail is the renderer's, not the answer's.
  answerWeights[answerWeights.length - 1] = 0;
  return { tokens, weights, answerWeights, bits: signalBits(N) };
}
