import { describe, expect, it } from 'vitest';
import { ceilingOf, reachableBits, topRewardTies } from '../../../../src/lab/environments/memory/ceiling.js';
import { signalBits } from '../../../../src/lab/environments/memory/rules.js';
import type { Condition } from '../../../../src/lab/environments/memory/task.js';

const sizes = [16, 64, 256, 1024, 4096];
const binned = (bins: number): Condition => ({ kind: 'binned', bins });

describe('the ceiling of a channel', () => {
  it.each<{ condition: Condition; kind: 'nominal' | 'reference'; bits: number[] }>([
    { condition: { kind: 'sft' }, kind: 'nominal', bits: [4, 6, 8, 10, 12] },
    { condition: { kind: 'binary' }, kind: 'nominal', bits: [1, 1, 1, 1, 1] },
    { condition: binned(8), kind: 'nominal', bits: [3, 3, 3, 3, 3] },
    { condition: { kind: 'log-distance' }, kind: 'reference', bits: [3.5625, 5.5156, 7.5039, 9.501, 11.5002] },
    { condition: { kind: 'dense', credit: 'stepwise' }, kind: 'nominal', bits: [4, 6, 8, 10, 12] },
    { condition: { kind: 'dense', credit: 'to_go' }, kind: 'nominal', bits: [4, 6, 8, 10, 12] },
    {
      condition: { kind: 'dense', credit: 'trajectory' },
      kind: 'nominal',
      bits: [2.3219, 2.8074, 3.1699, 3.4594, 3.7004],
    },
  ])('of $condition is $bits over N', ({ condition, kind, bits }) => {
    sizes.forEach((N, index) => {
      const ceiling = ceilingOf(condition, N);
      expect(ceiling.kind).toBe(kind);
      expect(ceiling.bits).toBeCloseTo(bits[index]!, 4);
    });
  });

  it('rounds the bits of other sizes up to whole turns in the dense game', () => {
    expect(ceilingOf({ kind: 'dense', credit: 'stepwise' }, 100).bits).toBe(7);
    expect([signalBits(1), signalBits(2)]).toEqual([1, 1]);
  });
});

describe('integers that tie for the top reward', () => {
  // Largest distance that still earns the top reward, for N = 16, 64, 256, 1024, 4096.
  it.each([
    { bins: 2, distances: [2, 6, 14, 30, 62] },
    { bins: 4, distances: [0, 0, 1, 2, 2] },
    { bins: 8, distances: [0, 0, 0, 0, 0] },
    { bins: 16, distances: [0, 0, 0, 0, 0] },
    { bins: 32, distances: [0, 0, 0, 0, 0] },
  ])('with $bins bins lie within $distances', ({ bins, distances }) => {
    expect(sizes.map((N) => topRewardTies(binned(bins), N))).toEqual(distances.map((distance) => 2 * distance + 1));
  });

  it('lower the bits that can be learnt', () => {
    expect(reachableBits(binned(4), 1024)).toBeCloseTo(7.678, 3);
    expect(reachableBits(binned(8), 1024)).toBe(10);
    expect(reachableBits({ kind: 'binary' }, 1024)).toBe(10);
  });
});
