import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ceilingOf } from '../../../src/lab/environments/memory/ceiling.js';
import type { Condition } from '../../../src/lab/environments/memory/task.js';
import { channelOf, mutualBits } from '../../../src/lab/reference/channel.js';

const sizes = [16, 64, 256, 1024, 4096];
const binned = (bins: number): Condition => ({ kind: 'binned', bins });

describe('the information of an episode about the secret, averaged over uniform guesses', () => {
  it.each<{ condition: Condition; bits: number[] }>([
    { condition: { kind: 'sft' }, bits: [4, 6, 8, 10, 12] },
    { condition: { kind: 'binary' }, bits: [0.3373, 0.1161, 0.03687, 0.01117, 0.00328] },
    { condition: binned(2), bits: [0.8605, 0.7045, 0.4992, 0.3219, 0.1958] },
    { condition: binned(4), bits: [1.6052, 1.4861, 1.3868, 1.26, 1.1361] },
    { condition: binned(8), bits: [2.4563, 2.4475, 2.1978, 1.9642, 1.7841] },
    { condition: binned(16), bits: [3.166, 3.3651, 3.1472, 2.9002, 2.683] },
    { condition: binned(32), bits: [3.5312, 4.187, 4.1059, 3.8695, 3.6341] },
    { condition: { kind: 'log-distance' }, bits: [3.5625, 5.5156, 7.5039, 9.501, 11.5002] },
    { condition: { kind: 'dense', credit: 'stepwise' }, bits: [4, 6, 8, 10, 12] },
    { condition: { kind: 'dense', credit: 'to_go' }, bits: [4, 6, 8, 10, 12] },
    // H(Bin(k, ½)).
    { condition: { kind: 'dense', credit: 'trajectory' }, bits: [2.0306, 2.3334, 2.5442, 2.7064, 2.8385] },
  ])('is exact for $condition', ({ condition, bits }) => {
    sizes.forEach((N, index) => {
      expect(Math.abs(mutualBits(channelOf(condition, N)) - bits[index]!)).toBeLessThan(1e-4);
    });
  });

  it('equals the entropy of a coin of probability 1/N for binary rewards', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 300 }), (N) => {
        const p = 1 / N;
        const entropy = -p * Math.log2(p) - (1 - p) * Math.log2(1 - p || 1);
        expect(mutualBits(channelOf({ kind: 'binary' }, N))).toBeCloseTo(entropy, 9);
      }),
    );
  });

  it('equals a count over every pair of guess and secret, also for N that is odd or no power of two', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(binned(5), { kind: 'dense', credit: 'trajectory' } as const),
        fc.integer({ min: 2, max: 40 }),
        (condition, N) => {
          const channel = channelOf(condition, N);
          const guesses = Array.from({ length: channel.guesses }, (_, guess) => guess);
          const bits = guesses.map((guess) => {
            const heard = Array.from({ length: N }, (_, secret) => channel.rewardIndex(guess, secret));
            return heard.reduce(
              (sum, each) => sum - Math.log2(heard.filter((other) => other === each).length / N) / N,
              0,
            );
          });
          expect(mutualBits(channel)).toBeCloseTo(bits.reduce((sum, each) => sum + each, 0) / guesses.length, 9);
        },
      ),
    );
  });

  it('is at most the ceiling, and at most the bits of the secret', () => {
    const condition = fc.oneof(
      fc.constantFrom<Condition>({ kind: 'sft' }, { kind: 'binary' }, { kind: 'log-distance' }),
      fc.integer({ min: 2, max: 40 }).map(binned),
      fc.constantFrom('stepwise', 'to_go', 'trajectory').map((credit): Condition => ({ kind: 'dense', credit })),
    );
    fc.assert(
      fc.property(condition, fc.integer({ min: 2, max: 130 }), (channel, N) => {
        const bits = mutualBits(channelOf(channel, N));
        expect(bits).toBeGreaterThan(0);
        expect(bits).toBeLessThanOrEqual(Math.min(Math.log2(N), ceilingOf(channel, N).bits) + 1e-9);
      }),
    );
  });
});

describe('the reward of a uniform guess', () => {
  it.each([
    { bins: 4, bits: [1.216, 1.296, 1.267] },
    { bins: 8, bits: [2.072, 2.158, 1.659] },
    { bins: 16, bits: [2.965, 2.895, 2.72] },
    { bins: 32, bits: [3.889, 3.995, 3.696] },
  ])('varies by $bits bits for the sweep’s three secrets below 1024 with $bins levels', ({ bins, bits }) => {
    const { guesses, rewardIndex: told } = channelOf(binned(bins), 1024);
    const entropy = (secret: number) => {
      const heard = Array.from({ length: guesses }, (_, guess) => told(guess, secret));
      const share = (reward: number) => heard.filter((each) => each === reward).length / guesses;
      return heard.reduce((sum, reward) => sum - Math.log2(share(reward)) / guesses, 0);
    };
    expect([57, 814, 547].map((secret) => entropy(secret).toFixed(3))).toEqual(bits.map((each) => each.toFixed(3)));
  });
});
