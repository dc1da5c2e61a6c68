import { ceilingOf } from '../../analysis/ceiling.js';
import { bitLength, signalBits } from '../../analysis/memory-rules.js';
import type { RewardRule } from './rewards.js';
import type { Credit } from '../credit.js';

/** Constants to draw beside the curves; NaN where the source system gives none (a continuous reward). */
type Theory = {
  readonly 'theory/signal_bits': number;
  readonly 'theory/channel_bits_per_episode': number;
};

export function singleStepTheory(N: number, rule: RewardRule): Theory {
  return { 'theory/signal_bits': signalBits(N), 'theory/channel_bits_per_episode': channelBits(rule, N) };
}

/**
 * The dense channel is k bits by the source system's reckoning. That holds if each bit gets its own credit; a learner
 * that is told only the sum of the k rewards can get log2(k + 1) of them.
 */
export function multiStepTheory(N: number, credit: Credit): Theory & { 'theory/credit_bits_per_episode': number } {
  const k = bitLength(N);
  return {
    'theory/signal_bits': signalBits(N),
    'theory/channel_bits_per_episode': k,
    'theory/credit_bits_per_episode': ceilingOf({ kind: 'dense', credit }, N).bits,
  };
}

function channelBits(rule: RewardRule, N: number): number {
  if (rule.type === 'log_distance') return Number.NaN;
  const condition =
    rule.type === 'binary' ? ({ kind: 'binary' } as const) : ({ kind: 'binned', bins: rule.bins } as const);
  return ceilingOf(condition, N).bits;
}
