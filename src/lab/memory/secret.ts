/** Bits that write every number below N: at least 1. */
export function bitLength(N: number): number {
  return N <= 1 ? 1 : Math.max(1, Math.ceil(Math.log2(N)));
}

/** The information in a uniform secret below N, in bits; 1 when there is nothing to know, so that it can divide. */
export function signalBits(N: number): number {
  return N <= 1 ? 1 : Math.log2(N);
}

/** The secret as bits, most significant first, padded to the length that N needs. */
export function secretBits(secret: number, N: number): number[] {
  return [...secret.toString(2).padStart(bitLength(N), '0')].map(Number);
}

/** The number these bits write, most significant first. */
export function bitsValue(bits: readonly number[]): number {
  return bits.reduce((value, bit) => value * 2 + bit, 0);
}

/** The sweep's secret: spread over [0, N) by the seed. Note that seed 0 gives 57 for every N from 64 on. */
export function secretFor(seed: number, N: number): number {
  return (seed * 9973 + 12345) % N;
}
