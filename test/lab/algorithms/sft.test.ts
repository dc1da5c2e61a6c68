import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { numberExample } from '../../../src/lab/environments/memory/uniform-answers.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { learnExamples } from '../../../src/lab/update/supervised.js';
import { lrMultiplier, riseMultiplier } from '../../../src/lab/update/update.js';
import { readConversations, sftDataKeys, writeSftData } from '../../../src/lab/algorithms/sft.js';
import { supervisedExample } from '../../../src/lab/text/role-colon.js';
import { microEngine } from '../micro-engine.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rowsIn, sftIn, testWorld } from './run-in-test.js';

function dataIn(directory: string, ...argv: string[]): string {
  writeSftData(readArguments(sftDataKeys, argv).config, directory, () => undefined);
  return join(directory, 'train.jsonl');
}

const line = (answer: string) =>
  JSON.stringify({
    messages: [
      { role: 'user', content: 'Provide bit #1. Remaining bits after this: 0.' },
      { role: 'assistant', content: answer },
    ],
  });

describe('memrl sft-data', () => {
  it('writes the question and the answer as many times as requested', () => {
    const directory = tempDirectory();
    dataIn(directory, 'N=64', 'fixed_secret=42', 'num_train=3', 'num_test=2');
    const lines = (name: string) => readFileSync(join(directory, name), 'utf8').split('\n');
    expect(lines('train.jsonl')).toHaveLength(4);
    expect(lines('test.jsonl')).toHaveLength(3);
    expect(JSON.parse(lines('train.jsonl')[0]!)).toEqual({
      messages: [
        {
          role: 'user',
          content:
            'You are playing a memorization game. There is a secret integer between 0 and 63. Output ONLY the integer, on the first line, with NO extra text.\nWhat is the secret number?',
        },
        { role: 'assistant', content: '42' },
      ],
    });
    expect(() => dataIn(directory, 'N=4', 'fixed_secret=4')).toThrow(/not in \[0, 4\)/);
  });
});

describe('reading conversations', () => {
  it.each([
    ['no JSON', '{"messages": [', /:2 is not a conversation/],
    ['no messages', '{"text": "x"}', /:2 is not a conversation/],
    [
      'a question last',
      '{"messages": [{"role": "user", "content": "x"}]}',
      /:2 is not a conversation.*last message must be the assistant/,
    ],
    ['words the model has no tokens for', line('x'), /no token for "x"/],
  ])('names the line with %s', (_what, wrong, problem) => {
    const path = join(tempDirectory(), 'data.jsonl');
    writeFileSync(path, `${line('1')}\n${wrong}\n`);
    expect(() => readConversations(path)).toThrow(problem);
    expect(() => readConversations(`${path}.gone`)).toThrow(/cannot be read/);
  });
});

describe('the cross-entropy of a batch', () => {
  it('is the mean over trained tokens, with equal examples weighted by their number', async () => {
    const engine = await microEngine();
    const [a, b] = [numberExample(64, 42), numberExample(64, 7)];
    const slopes = async (examples: (typeof a)[]) => {
      const { nll } = await learnExamples(new EngineService(engine), examples);
      const gradient = await engine.gradient();
      await engine.clearGradient();
      return { nll, gradient };
    };
    const [mixed, onlyA, onlyB] = [await slopes([a, b, a]), await slopes([a]), await slopes([b])];
    // a has 4 learnt tokens (two digits, end, tail), b has 3.
    expect(mixed.nll).toBeCloseTo((8 * onlyA.nll + 3 * onlyB.nll) / 11, 4);
    mixed.gradient.forEach((slope, at) => {
      expect(slope).toBeCloseTo((8 * onlyA.gradient[at]! + 3 * onlyB.gradient[at]!) / 11, 3);
    });
    expect((await slopes([a, a, a])).nll).toBeCloseTo(onlyA.nll, 5);
  });

  it('trains the last answer, or all answers', () => {
    const talk = [
      { role: 'user', content: 'Provide bit #1. Remaining bits after this: 1.' },
      { role: 'assistant', content: '0' },
      { role: 'user', content: 'Provide bit #2. Remaining bits after this: 0.' },
      { role: 'assistant', content: '1' },
    ] as const;
    const learnt = (trained: Parameters<typeof supervisedExample>[1]) =>
      supervisedExample(talk, trained).weights.reduce((sum, weight) => sum + weight, 0);
    expect(learnt('last assistant message')).toBe(3);
    expect(learnt('all assistant messages')).toBe(5);
  });
});

describe('the learning rate', () => {
  it.each([
    ['linear', [1, 0.5, 1 / 16]],
    ['cosine', [1, 0.5, 0.009607]],
    ['constant', [1, 1, 1]],
  ] as const)('%s at the first, middle and last of 16 steps', (schedule, expected) => {
    [0, 8, 15].forEach((step, index) => expect(lrMultiplier(schedule, step, 16)).toBeCloseTo(expected[index]!, 6));
  });

  it('rises linearly during the warm-up steps', () => {
    expect([0, 4, 9, 50, 100].map((step) => riseMultiplier(step, 10))).toEqual([0.1, 0.5, 1, 1, 1]);
  });
});

describe('memrl sft', () => {
  it('memorises the secret, and evaluates before the first step and after the last', async () => {
    const path = tempDirectory();
    const data = dataIn(tempDirectory(), 'N=64', 'fixed_secret=42', 'num_train=2048');
    await sftIn(path, data, ['N=64', 'fixed_secret=42', 'learning_rate=3e-2', 'num_epochs=3']);
    const rows = rowsIn(path);
    expect(rows.map(({ step }) => step)).toEqual(Array.from({ length: 49 }, (_, step) => step));
    expect(rows.every((row) => 'test/bits/known_raw_mean' in row)).toBe(true);
    expect(rows[0]).toMatchObject({
      epoch: 0,
      learning_rate: 3e-2,
      num_sequences: 128,
      num_loss_tokens: 512,
      'progress/examples': 0,
    });
    expect(rows[47]!['learning_rate']).toBeCloseTo(3e-2 / 48, 9);
    expect(rows[0]!['test/bits/answer_raw']).toBeLessThan(0);
    expect(rows[48]!['test/bits/answer_raw']).toBeGreaterThan(5.7);
    expect(rows[48]).toMatchObject({ 'progress/examples': 6144, 'test/greedy': 42 });
    expect(rows[0]!['train_mean_nll']).toBeGreaterThan(rows[47]!['train_mean_nll']!);
  });

  it('interrupted and resumed, ends with the same files', async () => {
    const data = join(tempDirectory(), 'two.jsonl');
    writeFileSync(data, [line('1'), line('2'), line('3'), ''].join('\n').repeat(4));
    const argv = ['N=64', 'fixed_secret=1', 'batch_size=2', 'num_epochs=2', 'log_every=3', 'eval_every=4'];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    await sftIn(straight, data, argv);
    await sftIn(broken, data, argv, testWorld(5));
    await sftIn(broken, data, argv);
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  });

  it('refuses data of less than one batch', async () => {
    const data = dataIn(tempDirectory(), 'num_train=100');
    await expect(sftIn(tempDirectory(), data, [])).rejects.toThrow(/holds 100 examples, less than one batch of 128/);
  });
});
