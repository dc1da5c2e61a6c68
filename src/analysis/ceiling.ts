import type { Condition } from './memory-task.js';

/**
 * The most bits about the secret that one episode (SFT: one example) can carry.
 *
 * `nominal`: the number of distinguishable rewards, log2 of it. `reference`: the reward is continuous, so there is no
 * such number; given instead is how much the distance of a uniform guess tells of a uniform secret.
 */
export type Ceiling = { kind: 'nominal' | 'reference'; bits: number };

export function ceilingOf(condition: Condition, N: number): Ceiling {
  switch (condition.kind) {
    case 'sft':
      return { kind: 'nominal', bits: secretBits(N) };
    case 'binary':
      return { kind: 'nominal', bits: 1 };
    case 'binned':
      return { kind: 'nominal', bits: Math.log2(condition.bins) };
    case 'log-distance':
      return { kind: 'reference', bits: distanceBits(N) };
    case 'dense':
      return { kind: 'nominal', bits: condition.credit === 'trajectory' ? Math.log2(turns(N) + 1) : turns(N) };
  }
}

/** Bits in a uniform secret below N. One, by the source system's convention, when there is but one secret. */
export function secretBits(N: number): number {
  return N <= 1 ? 1 : Math.log2(N);
}

/** How many integers around an inner secret earn the top reward: 1 if only the secret does. */
export function topRewardTies(condition: Condition, N: number): number {
  if (condition.kind !== 'binned') return 1;
  const top = condition.bins - 1;
  let distance = 0;
  while (distance + 1 < N && level(distance + 1, N, top) === top) distance += 1;
  return 2 * distance + 1;
}

/** Bits that a policy which earns the top reward always need know. Below `secretBits` when integers tie for the top. */
export function reachableBits(condition: Condition, N: number): number {
  return Math.max(0, secretBits(N) - Math.log2(topRewardTies(condition, N)));
}

/** Turns of a dense episode: one per bit of the largest secret. */
function turns(N: number): number {
  return N <= 1 ? 1 : Math.max(1, Math.ceil(Math.log2(N)));
}

/** The reward's level at this distance, of 0 to `top`; ties round to the even level, as in the reward itself. */
function level(distance: number, N: number, top: number): number {
  const exact = Math.max(0, 1 - Math.log2(distance + 1) / secretBits(N)) * top;
  const below = Math.floor(exact);
  if (exact - below !== 0.5) return Math.round(exact);
  return below % 2 === 0 ? below : below + 1;
}

/** Entropy of |secret − guess|, secret uniform, averaged over uniform guesses. */
function distanceBits(N: number): number {
  // Distances with a secret on both sides have probability 2/N, the others 1/N: each pair costs 2/N of one bit.
  let pairs = 0;
  for (let guess = 0; guess < N; guess++) pairs += Math.min(guess, N - 1 - guess);
  return Math.log2(N) - (2 * pairs) / (N * N);
}
