import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { UserError } from '../../../src/base/user-error.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import type { Condition } from '../../../src/lab/environments/memory/task.js';
import { channelOf } from '../../../src/lab/reference/channel.js';
import {
  ideal,
  idealLines,
  medianRanks,
  overSeeds,
  thompson,
  writeReference,
} from '../../../src/lab/reference/ideal.js';
import { idealKeys } from '../../../src/lab/reference/keys.js';
import { ReferenceFile } from '../../../src/lab/reference/reference-file.js';
import { rng } from '../../../src/lab/rng.js';
import { testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

const configOf = (...argv: string[]) => readArguments(idealKeys, ['seeds=8', ...argv]).config;

async function found(...argv: string[]): Promise<ReferenceFile> {
  const file = await ideal(configOf(...argv), testWorld());
  if (typeof file === 'string') throw new Error(`stopped by ${file}`);
  return file;
}

describe('memrl ideal', () => {
  it('has a row for each condition and size, in that order', async () => {
    const { rows } = await found('N=16,64', 'conditions=sft,B8,stepwise');
    expect(rows.map(({ condition, N, ceilingBits }) => [condition.kind, N, ceilingBits])).toEqual([
      ['sft', 16, 4],
      ['sft', 64, 6],
      ['binned', 16, 3],
      ['binned', 64, 3],
      ['dense', 16, 4],
      ['dense', 64, 6],
    ]);
    expect(rows[0]).toMatchObject({ secretBits: 4, mutualBits: 4, tabular: null, ideal: { median: 1, reached: 8 } });
    expect(rows[4]).toMatchObject({ condition: { credit: 'stepwise' }, tabular: { seeds: 8, reached: 8 } });
  });

  it('gives a cell the same numbers whatever other cells are requested, and others for another seed', async () => {
    const [alone] = (await found('N=64', 'conditions=B4')).rows;
    const among = (await found('N=16,64', 'conditions=binary,B4')).rows.at(-1);
    expect(among).toEqual(alone);
    expect((await found('N=64', 'conditions=B4', 'seed=100')).rows[0]).not.toEqual(alone);
  });

  it('counts tables of logits that have not memorised within their budget', async () => {
    const { rows, tabular } = await found(
      'N=1024',
      'conditions=binary',
      'budget=40',
      'optimizer=adam',
      'learning_rate=0.1',
    );
    expect(rows[0]!.tabular).toEqual({ seeds: 8, reached: 0, median: null, interval: null, mean: null });
    expect(tabular).toEqual({ optimizer: 'adam', learning_rate: 0.1, group_size: 4, budget: 40 });
    expect(idealLines({ version: 1, tabular, rows }, 100).join('\n')).toMatch(
      /binary +1024 +1 +0\.0112 [^]*∞ +0\/8\n[^]*adam, learning rate 0\.1, groups of 4[^]*∞: most had not after 40\./,
    );
  });

  it('writes the file that reports read', async () => {
    const path = join(tempDirectory(), 'sweep', 'reference.json');
    const file = await found('N=16', 'conditions=binary,log,trajectory');
    writeReference(path, file);
    expect(ReferenceFile.parse(JSON.parse(readFileSync(path, 'utf8')))).toEqual(file);
  });

  it('stops between two cells at a signal', async () => {
    expect(await ideal(configOf('N=16', 'conditions=binary,B4,B8'), testWorld(2))).toBe('SIGTERM');
  });

  it.each([
    [['N=16,8192'], /N=8192 is more than can be enumerated here, 4096/],
    [['conditions=binary,B1'], /conditions=binary,B1 is not a value/],
    [['conditions=trinary'], /conditions=trinary is not a value/],
  ])('refuses %j', async (argv, words) => {
    const refused = await Promise.resolve()
      .then(() => found(...argv))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserError);
    expect((refused as Error).message).toMatch(words);
  });

  it('is refused when its output path lies below a file', async () => {
    const file = await found('N=16', 'conditions=sft');
    expect(() => writeReference('/dev/null/reference.json', file)).toThrow(/cannot be written/);
  });
});

describe('the episodes of several seeds', () => {
  it('are summarised by their median, with unfinished seeds as infinite', () => {
    expect(overSeeds([8, null, 4])).toEqual({ seeds: 3, reached: 2, median: 8, interval: null, mean: 6 });
    expect(overSeeds([null, null, 4])).toMatchObject({ reached: 1, median: null, mean: 4 });
    expect(overSeeds([null])).toMatchObject({ reached: 0, median: null, mean: null });
  });

  it('have an interval of order statistics, unbounded above when too few seeds finished', () => {
    // Binomial: P(at most 1 of 10) = 0.011, P(at most 2) = 0.055.
    expect(overSeeds([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).interval).toEqual([2, 9]);
    expect(overSeeds([1, 2, 3, 4, 5, 6, 7, null, null, null]).interval).toEqual([2, null]);
    expect(overSeeds([1, ...new Array<null>(9).fill(null)]).interval).toBeNull();
  });
});

describe('the order statistics around a median', () => {
  it.each([
    [5, null],
    [6, [0, 5]],
    [9, [1, 7]],
    [30, [9, 20]],
    [100, [39, 60]],
  ])('of %i values are %j', (count, ranks) => expect(medianRanks(count)).toEqual(ranks));

  it('are as close together as 95 % confidence allows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 200 }), (count) => {
        const [low] = medianRanks(count)!;
        const below = (most: number) => {
          let [chance, sum] = [2 ** -count, 0];
          for (let at = 0; at <= most; at++) {
            sum += chance;
            chance *= (count - at) / (at + 1);
          }
          return sum;
        };
        expect(below(low)).toBeLessThanOrEqual(0.025);
        expect(below(low + 1)).toBeGreaterThan(0.025);
      }),
    );
  });
});

const sizes = [16, 64, 256, 1024, 4096];
const binned = (bins: number): Condition => ({ kind: 'binned', bins });

function meanEpisodes(condition: Condition, N: number, seeds: number): number {
  const channel = channelOf(condition, N);
  const random = rng(7, 'test');
  let sum = 0;
  for (let seed = 0; seed < seeds; seed++) sum += thompson(channel, random.below(N), random);
  return sum / seeds;
}

describe('the ideal learner', () => {
  it.each<{ condition: Condition; means: number[] }>([
    { condition: binned(2), means: [3.7, 6.6, 12.1, 23.6, 44.9] },
    { condition: binned(4), means: [3.5, 5.8, 6.7, 9.4, 14.7] },
    { condition: binned(8), means: [2.65, 3.65, 5.0, 6.4, 8.5] },
    { condition: binned(16), means: [2.3, 3.1, 4.0, 4.8, 6.0] },
    { condition: binned(32), means: [2.2, 2.8, 3.4, 4.2, 4.8] },
    { condition: { kind: 'log-distance' }, means: [2.2, 2.3, 2.3, 2.25, 2.3] },
  ])('needs the expected number of episodes with $condition', ({ condition, means }) => {
    sizes.forEach((N, index) => {
      const ratio = meanEpisodes(condition, N, N > 1000 ? 150 : 400) / means[index]!;
      expect(ratio).toBeGreaterThan(0.9);
      expect(ratio).toBeLessThan(1.1);
    });
  });

  it.each(sizes)('needs half of %i guesses with binary rewards', (N) => {
    expect(meanEpisodes({ kind: 'binary' }, N, 4000) / ((N + 1) / 2)).toBeCloseTo(1, 1);
  });

  it('needs at most two episodes with a reward for each bit, and one with examples', () => {
    const dense = channelOf({ kind: 'dense', credit: 'stepwise' }, 100);
    fc.assert(
      fc.property(fc.nat({ max: 99 }), fc.nat(), (secret, seed) => {
        expect(thompson(dense, secret, rng(seed, 'test'))).toBeLessThanOrEqual(2);
        expect(thompson(channelOf({ kind: 'sft' }, 100), secret, rng(seed, 'test'))).toBe(1);
      }),
    );
  });

  it('finds every secret, also when neighbours earn the top reward', () => {
    const condition = fc.oneof(
      fc.constantFrom<Condition>({ kind: 'binary' }, { kind: 'log-distance' }, { kind: 'dense', credit: 'trajectory' }),
      fc.integer({ min: 2, max: 9 }).map(binned),
    );
    fc.assert(
      fc.property(condition, fc.integer({ min: 1, max: 70 }), fc.nat(), (channel, N, seed) => {
        const episodes = thompson(channelOf(channel, N), seed % N, rng(seed, 'test'));
        expect(episodes).toBeGreaterThanOrEqual(1);
        expect(episodes).toBeLessThanOrEqual(N);
      }),
    );
  });
});
