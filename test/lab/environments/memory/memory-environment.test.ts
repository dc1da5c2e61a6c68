import { describe, expect, it } from 'vitest';
import {
  multiStepEnvironment,
  singleStepEnvironment,
} from '../../../../src/lab/environments/memory/memory-environment.js';
import {
  bitRequest,
  multiStepSystem,
  singleStepPrompt,
  standardPrefix,
} from '../../../../src/lab/environments/memory/prompts.js';
import { secretBits } from '../../../../src/lab/environments/memory/secret.js';
import type { Response, Reward, Turn } from '../../../../src/lab/environments/environment.js';
import type { MemoryEnvironment } from '../../../../src/lab/environments/memory/memory-environment.js';
import { endingId, memoryTokenizer } from '../../../../src/lab/text/memory-vocabulary.js';

const said = (text: string): Turn => {
  const tokens = Int32Array.from(memoryTokenizer.encode(text));
  return {
    tokens,
    logprobs: new Float32Array(tokens.length),
    text,
    ended: tokens.at(-1) === endingId ? 'stop' : 'length',
  };
};
/** What each of these turns earns, and what is asked last. */
const playAll = async (game: MemoryEnvironment, texts: readonly string[]) => {
  const rewards: Reward[] = [];
  let next: Int32Array | null = null;
  for (let turn = 1; turn <= texts.length; turn++) {
    const response = await game.respond(game.task(), texts.slice(0, turn).map(said));
    rewards.push(response.reward);
    next = response.next;
  }
  return { rewards, next: next === null ? null : memoryTokenizer.decode(next) };
};
const marked = (tokens: Int32Array, weights: Uint8Array) =>
  memoryTokenizer.decode([...tokens].filter((_, at) => weights[at] === 1));

describe('the prompts', () => {
  it('are those of memory-rl, word for word', () => {
    expect(singleStepPrompt(64).content).toBe(
      'You are playing a memorization game. There is a secret integer between 0 and 63. Output ONLY the integer, on the first line, with NO extra text.\nWhat is the secret number?',
    );
    expect(multiStepSystem(1024).content).toBe(
      'You are playing a bit-by-bit memorization game. The secret number is between 0 and 1023 and uses 10 bits. Output exactly one bit (0 or 1) per response with no punctuation.',
    );
    expect(bitRequest(1024, 1).content).toBe('Provide bit #2. Remaining bits after this: 8.');
  });

  it('take few tokens', () => {
    const single = singleStepEnvironment({ N: 4096, secret: 0, prefix: [] }, { type: 'binary' });
    expect(single.task().prompt.length).toBeLessThanOrEqual(10);
    const dense = multiStepEnvironment({ N: 512, secret: 0, prefix: [] });
    const { next } = dense.respond(dense.task(), ['0', '0', '0', '0\n\n'].map(said)) as Response;
    expect(next!.length + 2).toBeLessThanOrEqual(7);
  });
});

describe('the single-step game', () => {
  const game = singleStepEnvironment({ N: 64, secret: 42, prefix: [] }, { type: 'binned_log_distance', bins: 8 });

  it('has a prompt that ends with the cue for the assistant', () => {
    expect(memoryTokenizer.decode(game.task().prompt)).toMatch(
      /^<\|begin_of_text\|>User: You are[^]*number\?\n\nAssistant: $/,
    );
    expect(game.name).toBe('single_step_N64_binned_log_distance_B8');
  });

  it.each([
    ['42\n\n', { correct: 1, distance: 0, reward_signal: 1, success_count: 1, format_error: 0, parse_success: 1 }],
    ['41\n\n', { correct: 0, distance: 1, reward_signal: 6 / 7, success_count: 0, format_error: 0, parse_success: 1 }],
    ['42', { correct: 1, distance: 0, reward_signal: 1, success_count: 1, format_error: 0, parse_success: 0 }],
    ['4User:\n\n', { correct: 0, distance: 63, reward_signal: 0, success_count: 0, format_error: 1, parse_success: 1 }],
    ['User:', { correct: 0, distance: 63, reward_signal: 0, success_count: 0, format_error: 1, parse_success: 0 }],
  ])('rewards %j', async (text, metrics) => {
    const { rewards, next } = await playAll(game, [text]);
    expect([rewards, next]).toEqual([[{ total: metrics.reward_signal, metrics }], null]);
  });

  it('trains the tail as memory-rl does, but does not count it as part of the answer', () => {
    const { tokens, weights, answerWeights } = game.solution();
    expect(marked(tokens, weights)).toBe('42\n\nUser:');
    expect(marked(tokens, answerWeights)).toBe('42\n\n');
  });

  it('can begin with a demonstration, and trains only the real answer', () => {
    const prefix = standardPrefix(64, 'single_step');
    const shown = singleStepEnvironment({ N: 64, secret: 42, prefix }, { type: 'binary' });
    expect(memoryTokenizer.decode(shown.task().prompt)).toMatch(/Assistant: 0\n\nUser: You[^]*Assistant: $/);
    expect(marked(shown.solution().tokens, shown.solution().weights)).toBe('42\n\nUser:');
  });
});

describe('the dense game', () => {
  const game = multiStepEnvironment({ N: 1024, secret: 57, prefix: [] });
  const earned = async (bits: readonly number[]) => {
    const { rewards } = await playAll(game, bits.map(String));
    return {
      total: rewards.reduce((sum, { total }) => sum + total, 0),
      success: rewards.at(-1)!.metrics!['success_count'],
    };
  };

  it('rewards each right bit with 1, and reports success only when all are right', async () => {
    const right = secretBits(57, 1024);
    expect(await earned(right)).toEqual({ total: 10, success: 1 });
    expect(await earned([1 - right[0]!, ...right.slice(1)])).toEqual({ total: 9, success: 0 });
  });

  it('parses the first bit of a response, and scores a response without one as wrong', async () => {
    expect((await playAll(game, ['01'])).rewards).toMatchObject([{ total: 1 }]);
    const metrics = { format_error: 1, parse_success: 1, correct_bit: 0 };
    expect((await playAll(game, ['2\n\n'])).rewards).toMatchObject([{ metrics }]);
  });

  it('requests the next bit after each answer but the last, and completes an answer that was cut off', async () => {
    const request = 'User: Provide bit #2. Remaining bits after this: 8.\n\nAssistant: ';
    expect((await playAll(game, ['0\n\n'])).next).toBe(request);
    expect((await playAll(game, ['0'])).next).toBe(`\n\n${request}`);
    expect((await playAll(game, Array<string>(10).fill('0\n\n'))).next).toBeNull();
  });

  it('parses the answers as one number', () => {
    const answers = secretBits(57, 1024).map((bit) => said(`${bit}\n\n`));
    expect(game.reading(answers)).toBe(57);
    expect(game.reading([...answers.slice(0, 9), said('7')])).toBeNull();
  });

  it('counts all trained tokens, as memory-rl does, and the bits alone', () => {
    const { tokens, weights, answerWeights } = game.solution();
    expect(marked(tokens, weights)).toBe(`${[...'0000111001'].map((bit) => `${bit}\n\n`).join('')}User:`);
    expect(marked(tokens, answerWeights)).toBe('0000111001');
  });

  it('does not count the demonstration’s bit as an answer, unlike memory-rl', () => {
    const shown = multiStepEnvironment({ N: 16, secret: 9, prefix: standardPrefix(16, 'multi_step') });
    expect(marked(shown.solution().tokens, shown.solution().answerWeights)).toBe('1001');
    expect(marked(shown.solution().tokens, shown.solution().weights)).toMatch(/^0\n\n1\n\n/);
  });
});
