import { describe, expect, it } from 'vitest';
import { bitLength, signalBits } from '../../../../src/lab/environments/memory/rules.js';
import { bitsValue, secretBits } from '../../../../src/lab/environments/memory/secret.js';
import { multiStepTheory, singleStepTheory } from '../../../../src/lab/environments/memory/rewards.js';

describe('secrets', () => {
  it('are written with as many bits as N needs, the most significant first', () => {
    expect(secretBits(57, 1024).join('')).toBe('0000111001');
    expect([1, 2, 3, 16, 17, 4096].map(bitLength)).toEqual([1, 1, 2, 4, 5, 12]);
    expect(bitsValue(secretBits(547, 1024))).toBe(547);
  });

  it('hold log2 N bits, and 1 when there is only one', () => {
    expect(signalBits(1024)).toBe(10);
    expect(signalBits(1)).toBe(1);
  });
});

describe('the channel', () => {
  it.each([
    [{ type: 'binary' } as const, 1],
    [{ type: 'log_distance' } as const, Number.NaN],
    [{ type: 'binned_log_distance', bins: 8 } as const, 3],
  ])('of %j carries %f bits per episode', (rule, bits) => {
    expect(singleStepTheory(64, rule)).toEqual({ 'theory/signal_bits': 6, 'theory/channel_bits_per_episode': bits });
  });

  it('of the multi-step game carries k bits, but only log2(k+1) when the rewards are summed', () => {
    expect(multiStepTheory(1024, 'stepwise')['theory/credit_bits_per_episode']).toBe(10);
    expect(multiStepTheory(1024, 'trajectory')['theory/credit_bits_per_episode']).toBeCloseTo(3.4594, 4);
    expect(multiStepTheory(1024, 'trajectory')['theory/channel_bits_per_episode']).toBe(10);
  });
});
