import { describe, expect, it } from 'vitest';
import { multiStepGame } from '../../../../src/lab/environments/memory/multi-step.js';
import {
  bitRequest,
  multiStepSystem,
  singleStepPrompt,
  standardPrefix,
} from '../../../../src/lab/environments/memory/prompts.js';
import { secretBits } from '../../../../src/lab/environments/memory/secret.js';
import { singleStepGame } from '../../../../src/lab/environments/memory/single-step.js';
import { memoryTokenizer } from '../../../../src/lab/text/memory-vocabulary.js';

const said = (text: string) => memoryTokenizer.encode(text);
const marked = (tokens: Int32Array, weights: Uint8Array) =>
  memoryTokenizer.decode([...tokens].filter((_, at) => weights[at] === 1));

describe('the prompts', () => {
  it('are those of the source system, word for word', () => {
    expect(singleStepPrompt(64).content).toBe(
      'You are playing a memorization game. There is a secret integer between 0 and 63. Output ONLY the integer, on the first line, with NO extra text.\nWhat is the secret number?',
    );
    expect(multiStepSystem(1024).content).toBe(
      'You are playing a bit-by-bit memorization game. The secret number is between 0 and 1023 and uses 10 bits. Output exactly one bit (0 or 1) per response with no punctuation.',
    );
    expect(bitRequest(1024, 1).content).toBe('Provide bit #2. Remaining bits after this: 8.');
  });

  it('are short in tokens', () => {
    expect(singleStepGame({ N: 4096, secret: 0, prefix: [] }, { type: 'binary' }).prompt.length).toBeLessThanOrEqual(
      10,
    );
    expect(multiStepGame({ N: 512, secret: 0, prefix: [] }).observation(3).length + 2).toBeLessThanOrEqual(7);
  });
});

describe('the single-step game', () => {
  const game = singleStepGame({ N: 64, secret: 42, prefix: [] }, { type: 'binned_log_distance', bins: 8 });

  it('asks with the cue to answer at the end', () => {
    expect(memoryTokenizer.decode(game.prompt)).toMatch(
      /^<\|begin_of_text\|>User: You are[^]*number\?\n\nAssistant: $/,
    );
    expect(game.tag).toBe('single_step_N64_binned_log_distance_B8');
  });

  it.each([
    ['42\n\n', { correct: 1, distance: 0, reward_signal: 1, success_count: 1, format_error: 0, parse_success: 1 }],
    ['41\n\n', { correct: 0, distance: 1, reward_signal: 6 / 7, success_count: 0, format_error: 0, parse_success: 1 }],
    ['42', { correct: 1, distance: 0, reward_signal: 1, success_count: 1, format_error: 0, parse_success: 0 }],
    ['4User:\n\n', { correct: 0, distance: 63, reward_signal: 0, success_count: 0, format_error: 1, parse_success: 1 }],
    ['User:', { correct: 0, distance: 63, reward_signal: 0, success_count: 0, format_error: 1, parse_success: 0 }],
  ])('judges %j', (text, metrics) => {
    const verdict = game.judge(said(text), []);
    expect(verdict.metrics).toEqual(metrics);
    expect(verdict.reward).toBe(metrics.reward_signal);
  });

  it('counts the tail as the source system does, but not as part of the answer', () => {
    const { tokens, weights, answerWeights } = game.solution;
    expect(marked(tokens, weights)).toBe('42\n\nUser:');
    expect(marked(tokens, answerWeights)).toBe('42\n\n');
  });

  it('shows the demonstration first when it is told to, and learns only the real answer', () => {
    const prefix = standardPrefix(64, 'single_step');
    const shown = singleStepGame({ N: 64, secret: 42, prefix }, { type: 'binary' });
    expect(memoryTokenizer.decode(shown.prompt)).toMatch(/Assistant: 0\n\nUser: You[^]*Assistant: $/);
    expect(marked(shown.solution.tokens, shown.solution.weights)).toBe('42\n\nUser:');
  });
});

describe('the dense game', () => {
  const game = multiStepGame({ N: 1024, secret: 57, prefix: [] });
  const playAll = (bits: readonly number[]) => {
    const rewards: number[] = [];
    const last = bits.map((bit) => {
      const verdict = game.judge(said(`${bit}`), rewards);
      rewards.push(verdict.reward);
      return verdict;
    });
    return { total: rewards.reduce((sum, reward) => sum + reward, 0), success: last.at(-1)!.metrics['success_count'] };
  };

  it('pays one for each right bit, and calls it success only when all are right', () => {
    const right = secretBits(57, 1024);
    expect(playAll(right)).toEqual({ total: 10, success: 1 });
    expect(playAll([1 - right[0]!, ...right.slice(1)])).toEqual({ total: 9, success: 0 });
  });

  it('reads the first bit of whatever is said, and none as wrong', () => {
    expect(game.judge(said('01'), []).reward).toBe(1);
    expect(game.judge(said('2\n\n'), []).metrics).toMatchObject({ format_error: 1, parse_success: 1, correct_bit: 0 });
  });

  it('asks for the next bit after each answer but the last', () => {
    expect(memoryTokenizer.decode(game.observation(0))).toBe(
      'User: Provide bit #2. Remaining bits after this: 8.\n\nAssistant: ',
    );
    expect(game.observation(9)).toEqual([]);
  });

  it('reads the answers as one number', () => {
    const answers = secretBits(57, 1024).map((bit) => said(`${bit}\n\n`));
    expect(game.reading(answers)).toBe(57);
    expect(game.reading([...answers.slice(0, 9), said('7')])).toBeNull();
  });

  it('counts all learnt tokens for the source system, and the bits alone for the answer', () => {
    const { tokens, weights, answerWeights } = game.solution;
    expect(marked(tokens, weights)).toBe(`${[...'0000111001'].map((bit) => `${bit}\n\n`).join('')}User:`);
    expect(marked(tokens, answerWeights)).toBe('0000111001');
  });

  it('does not count the demonstration’s bit as an answer, though the source system does', () => {
    const shown = multiStepGame({ N: 16, secret: 9, prefix: standardPrefix(16, 'multi_step') });
    expect(marked(shown.solution.tokens, shown.solution.answerWeights)).toBe('1001');
    expect(marked(shown.solution.tokens, shown.solution.weights)).toMatch(/^0\n\n1\n\n/);
  });
});
