import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniformBits, uniformNumbers } from '../../../src/lab/environments/memory/uniform-answers.js';
import { unevenness, uniformityLine } from '../../../src/lab/environments/memory/uniformity.js';
import { lesson } from '../../../src/lab/environments/memory/warmup-answers.js';
import { rng } from '../../../src/lab/rng.js';
import { memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import type { Example } from '../../../src/lab/text/role-colon.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rowsIn, testWorld, warmupIn } from './run-in-test.js';

const answer = ({ tokens, weights }: Example) =>
  memoryTokenizer.decode([...tokens].filter((_, at) => weights[at] === 1));

describe('uniform answers', () => {
  it('take one number from each of equal intervals of [0, N)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5000 }), fc.integer({ min: 1, max: 40 }), fc.nat(), (N, count, seed) => {
        uniformNumbers(N, count, rng(seed, 'x')).forEach((example, stretch) => {
          const value = parseInt(answer(example).trim(), 10);
          expect(value).toBeGreaterThanOrEqual(Math.floor((N * stretch) / count));
          expect(value).toBeLessThan(Math.max(1, (N * (stretch + 1)) / count));
        });
      }),
    );
  });

  it('have each bit 0 exactly half the time', () => {
    const bits = uniformBits(64, 6, rng(0, 'x')).map((example) =>
      [...answer(example).matchAll(/[01]/g)].map(([bit]) => Number(bit)),
    );
    expect(bits).toHaveLength(6);
    for (let at = 0; at < 6; at++) expect(bits.reduce((sum, row) => sum + row[at]!, 0)).toBe(3);
  });
});

describe('a curriculum task', () => {
  it('has the same temporary secret for the same name, and another for another name', () => {
    const said = (name: string) => answer(lesson('multi_step', 4096, name));
    expect(said('0/1')).toEqual(said('0/1'));
    expect(said('0/1')).not.toEqual(said('0/2'));
    expect(answer(lesson('single_step', 16, 'a'))).toMatch(/^\d+\n\nUser:$/);
  });
});

describe('the final check of a warm-up', () => {
  const good = {
    N: 16,
    validRate: 0.999,
    entropyRatio: 0.999,
    bitsBySecret: new Map([
      [3, -1.2],
      [5, 1.4],
    ]),
  };

  it.each([
    ['an even model', good, [3, 5], []],
    ['too few valid answers', { ...good, validRate: 0.98 }, [], [/98.00 % of answers are valid/]],
    ['too little entropy', { ...good, entropyRatio: 0.9 }, [], [/entropy is 90.00 %/]],
    [
      'a secret it knows',
      {
        ...good,
        bitsBySecret: new Map([
          [3, 1.6],
          [5, 0],
        ]),
      },
      [3],
      [/1.60 bits of the secret 3/],
    ],
    [
      'a secret it avoids',
      { ...good, bitsBySecret: new Map([[5, -1.6], ...Array.from({ length: 150 }, (_, i) => [i + 9, 0] as const)]) },
      [5],
      [/-1.60 bits of the secret 5/],
    ],
    [
      'a secret it avoids that nobody asked for',
      { ...good, bitsBySecret: new Map([[5, -1.6], ...Array.from({ length: 150 }, (_, i) => [i + 9, 0] as const)]) },
      [],
      [/1 of 151 secrets are not within ±1.5 bits/],
    ],
    [
      'numbers that are none',
      { ...good, validRate: Number.NaN, entropyRatio: Number.NaN, bitsBySecret: new Map([[3, Number.NaN]]) },
      [3],
      [/valid/, /entropy/, /secret 3/],
    ],
  ])('gives a verdict on %s', (_what, uniformity, named, problems) => {
    const found = unevenness(uniformity, named);
    expect(found).toHaveLength(problems.length);
    problems.forEach((problem, index) => expect(found[index]).toMatch(problem));
  });

  it('reports the worst and the best secret', () => {
    expect(uniformityLine(good)).toBe(
      'N=16: 99.90 % valid, entropy 99.90 % of log2 N, bits known -1.20 (secret 3) to 1.40 (secret 5)',
    );
  });
});

describe('memrl warmup', () => {
  it.each([
    ['single_step', ['n_values=4,8', 'n_batches=700']],
    ['multi_step', ['n_values=4,8', 'n_batches=300']],
  ])('%s: teaches a fresh model the format of answers, and no secret', async (env, argv) => {
    const path = tempDirectory();
    const world = testWorld();
    await warmupIn(
      path,
      [`env_type=${env}`, ...argv, 'learning_rate=1e-2', 'lesson_share=0.3', 'check_secrets=3'],
      world,
    );
    expect(world.lines.filter((line) => /^N=[48]: 99\.\d+ % valid|^N=[48]: 100/.test(line))).toHaveLength(2);
    const rows = rowsIn(path);
    expect(rows.at(-1)!['warmup/valid_rate']).toBeGreaterThan(0.99);
    expect(rows.at(-1)!['warmup/entropy_ratio']).toBeGreaterThan(0.97);
  });

  it.each(['decimal', 'fixed_width', 'gray'])('teaches %s answers, short ones included', async (format) => {
    const path = tempDirectory();
    const argv = ['n_values=40', 'n_batches=700', 'learning_rate=1e-2', 'lesson_share=0.3', `answer_format=${format}`];
    await warmupIn(path, argv);
    expect(rowsIn(path).at(-1)!['warmup/entropy_ratio']).toBeGreaterThan(0.99);
  });

  it.each([
    ['single_step', 'format_train.jsonl', 700, 'N=8: 20 samples · '],
    ['multi_step', 'format_train_multi_step.jsonl', 300, 'N=8: 10 conversations · '],
  ])('%s: trains on memory-rl’s file on request, and logs samples', async (env, name, count, preview) => {
    const path = tempDirectory();
    const world = testWorld();
    const argv = [
      `env_type=${env}`,
      'n_values=4,8',
      'data=file',
      `min_examples=${count}`,
      'batch_size=8',
      'num_epochs=4',
    ];
    await warmupIn(path, [...argv, 'learning_rate=1e-2', 'preview_samples=True', 'calibration_share=0.4'], world);
    const lines = readFileSync(join(path, name), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(2 * count);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      split: 'train',
      metadata: { N: 4 },
      messages: expect.any(Array) as [],
    });
    expect(world.lines).toContain(`N=8: ${count} examples (at least ${Math.floor(count / 8)} of each answer)`);
    expect(world.lines.find((line) => line.startsWith(preview))).toBeDefined();
    expect(rowsIn(path).at(-1)!.step).toBe(Math.floor((2 * count) / 8) * 4);
  });

  it('refuses n_batches together with a data file, and a file of less than one batch', async () => {
    await expect(warmupIn(tempDirectory(), ['data=file', 'n_batches=10'])).rejects.toThrow(/n_batches=10 does not go/);
    const few = ['data=file', 'n_values=2', 'min_examples=1', 'examples_per_value=2'];
    await expect(warmupIn(tempDirectory(), few)).rejects.toThrow(/has 4 examples, less than one batch of 64/);
  });

  it('fails with the measured values when it was too short, and again when it is repeated', async () => {
    const path = tempDirectory();
    const argv = ['n_values=16', 'n_batches=2', 'eval_every=0'];
    await expect(warmupIn(path, argv)).rejects.toThrow(/not uniform enough.*N=16: only [\d.]+ % of answers are valid/);
    await expect(warmupIn(path, argv)).rejects.toThrow(/not uniform enough/);
  });

  it('interrupted and resumed, ends with the same files', async () => {
    const argv = ['n_values=4,8', 'n_batches=12', 'lesson_share=0.5', 'lesson_steps=4', 'eval_every=5', 'log_every=5'];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    await warmupIn(straight, argv).catch(() => null);
    await warmupIn(broken, argv, testWorld(7));
    await warmupIn(broken, argv).catch(() => null);
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  });
});
