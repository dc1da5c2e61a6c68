import { bitLength } from './rules.js';

/** The secret as bits, most significant first, padded to the length that N needs. */
export function secretBits(secret: number, N: number): number[] {
  return [...secret.toString(2).padStart(bitLength(N), '0')].map(Number);
}

/** The number these bits write, most significant first. */
export function bitsValue(bits: readonly number[]): number {
  return bits.reduce((value, bit) => value * 2 + bit, 0);
}
