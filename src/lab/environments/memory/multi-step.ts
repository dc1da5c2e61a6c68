import type { Solution } from '../../environment.js';
import { endingId, memoryTokenizer } from '../../text/memory-vocabulary.js';
import { continuationPrompt, generationPrompt, response, supervisedExample } from '../../text/role-colon.js';
import type { Game, GameSetup } from './game.js';
import { parseBit } from './parsing.js';
import { bitRequest, multiStepSystem, type Message } from './prompts.js';
import { bitLength, signalBits } from '../../../analysis/memory-rules.js';
import { bitsValue, secretBits } from './secret.js';

/** The secret asked for bit by bit, one reward a bit. The model sees its own earlier answers, right or wrong. */
export function multiStepGame(setup: GameSetup): Game {
  const { N, secret, prefix } = setup;
  const k = bitLength(N);
  const bits = secretBits(secret, N);
  const requests = Array.from({ length: k }, (_, turn) =>
    turn + 1 < k ? continuationPrompt(bitRequest(N, turn + 1)) : [],
  );
  const bitOf = (said: readonly number[]) => parseBit(response(said, endingId).text);
  return {
    kind: 'multi_step',
    tag: `multi_step_N${N}_k${k}`,
    tokenizer: memoryTokenizer,
    prompt: generationPrompt([multiStepSystem(N), ...prefix, bitRequest(N, 0)]),
    turns: k,
    observation: (turn) => requests[turn] ?? [],
    judge: (said, before) => {
      const guess = bitOf(said);
      const correct = guess === bits[before.length];
      const allRight = correct && before.length === k - 1 && before.every((reward) => reward === 1);
      const metrics = {
        correct_bit: Number(correct),
        reward_signal: Number(correct),
        success_count: Number(allRight),
        format_error: Number(guess === null),
        parse_success: Number(said[said.length - 1] === endingId),
      };
      return { reward: Number(correct), metrics };
    },
    reading: (answers) => {
      const read = answers.map(bitOf).filter((bit) => bit !== null);
      return read.length === k ? bitsValue(read) : null;
    },
    solution: solution(N, dialogue(N, bits, prefix)),
  };
}

/** The whole conversation with these bits as answers. */
export function dialogue(N: number, bits: readonly number[], prefix: readonly Message[] = []): Message[] {
  const turns = bits.flatMap((bit, position): Message[] => [
    bitRequest(N, position),
    { role: 'assistant', content: String(bit) },
  ]);
  return [multiStepSystem(N), ...prefix, ...turns];
}

function solution(N: number, messages: readonly Message[]): Solution {
  const { tokens, weights } = supervisedExample(messages, 'all assistant messages');
  const answerWeights = new Uint8Array(tokens.length);
  // Answers are weighted runs of bit, end (and tail); a demonstration's answer comes before the k real ones.
  const bitPositions = [...tokens.keys()].filter((at) => weights[at] === 1 && weights[at - 1] === 0);
  for (const at of bitPositions.slice(-bitLength(N))) answerWeights[at] = 1;
  return { tokens, weights, answerWeights, bits: signalBits(N) };
}
