/**
 * The rules of the memory task: how many bits a secret below N has, and what a guess earns. The laboratory's environment and the
 * analysis of its runs follow the same rules.
 */

/** Bits that write every number below N, at least 1; also the number of turns of a dense episode. */
export function bitLength(N: number): number {
  return N <= 1 ? 1 : Math.max(1, Math.ceil(Math.log2(N)));
}

/** Bits in a uniform secret below N. For N = 1 it is 1, memory-rl's convention, as it is a divisor. */
export function signalBits(N: number): number {
  return N <= 1 ? 1 : Math.log2(N);
}

/** 1 for the secret itself, falling with the logarithm of the distance to 0. */
export function closeness(distance: number, N: number): number {
  return Math.max(0, 1 - Math.log2(distance + 1) / signalBits(N));
}

/** The reward's level at this distance, from 0 to `bins` − 1. */
export function rewardLevel(distance: number, N: number, bins: number): number {
  return roundHalfEven(closeness(distance, N) * (bins - 1));
}

/** Python's `round`: ties go to the even neighbour. At N=64 with 4 bins, distance 1 is such a tie (2.5 → 2). */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
