import { bitLength, rewardLevel, signalBits } from './rules.js';
import type { Condition } from './task.js';

/**
 * The most bits about the secret that one episode (SFT: one example) can carry.
 *
 * `nominal`: log2 of the number of distinguishable rewards. `reference`: a continuous reward has no such number, so the
 * information about the secret in the distance of a uniform guess is used.
 */
export type Ceiling = { kind: 'nominal' | 'reference'; bits: number };

export function ceilingOf(condition: Condition, N: number): Ceiling {
  switch (condition.kind) {
    case 'sft':
      return { kind: 'nominal', bits: signalBits(N) };
    case 'binary':
      return { kind: 'nominal', bits: 1 };
    case 'binned':
      return { kind: 'nominal', bits: Math.log2(condition.bins) };
    case 'log-distance':
      return { kind: 'reference', bits: distanceBits(N) };
    case 'dense':
      return { kind: 'nominal', bits: condition.credit === 'trajectory' ? Math.log2(bitLength(N) + 1) : bitLength(N) };
  }
}

/** How many integers around an inner secret earn the top reward: 1 if only the secret does. */
export function topRewardTies(condition: Condition, N: number): number {
  if (condition.kind !== 'binned') return 1;
  const { bins } = condition;
  let distance = 0;
  while (distance + 1 < N && rewardLevel(distance + 1, N, bins) === bins - 1) distance += 1;
  return 2 * distance + 1;
}

/** Bits that a policy needs to know to earn the top reward always. Below `signalBits` when several integers tie for the top. */
export function reachableBits(condition: Condition, N: number): number {
  return Math.max(0, signalBits(N) - Math.log2(topRewardTies(condition, N)));
}

/** Entropy of |secret − guess|, secret uniform, averaged over uniform guesses. */
function distanceBits(N: number): number {
  // A distance that the secret can have on both sides has probability 2/N, any other 1/N: each such pair costs 2/N of one bit.
  let pairs = 0;
  for (let guess = 0; guess < N; guess++) pairs += Math.min(guess, N - 1 - guess);
  return Math.log2(N) - (2 * pairs) / (N * N);
}
