import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/lab/environments/memory/task.js';
import { channelOf } from '../../../src/lab/reference/channel.js';
import { thompson } from '../../../src/lab/reference/thompson.js';
import { rng } from '../../../src/lab/rng.js';

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
  ])('guesses the secret after as many episodes as it should with $condition', ({ condition, means }) => {
    sizes.forEach((N, index) => {
      const ratio = meanEpisodes(condition, N, N > 1000 ? 150 : 400) / means[index]!;
      expect(ratio).toBeGreaterThan(0.9);
      expect(ratio).toBeLessThan(1.1);
    });
  });

  it.each(sizes)('asks for half of %i numbers when it only hears right or wrong', (N) => {
    expect(meanEpisodes({ kind: 'binary' }, N, 4000) / ((N + 1) / 2)).toBeCloseTo(1, 1);
  });

  it('needs two episodes at most when each bit is judged, and one example', () => {
    const dense = channelOf({ kind: 'dense', credit: 'stepwise' }, 100);
    fc.assert(
      fc.property(fc.nat({ max: 99 }), fc.nat(), (secret, seed) => {
        expect(thompson(dense, secret, rng(seed, 'test'))).toBeLessThanOrEqual(2);
        expect(thompson(channelOf({ kind: 'sft' }, 100), secret, rng(seed, 'test'))).toBe(1);
      }),
    );
  });

  it('comes to an end for every secret, also where neighbours earn the top reward', () => {
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
