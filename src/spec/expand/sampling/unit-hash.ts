import { fnv1a64 } from '../identity.js';

/**
 * A number between 0 and 1, both excluded, that follows from a name alone and looks random: the same on every machine, and
 * without a state, so that one more draw or one more parameter leaves all others as they were.
 */
export function unitHash(name: string): number {
  const digits = fnv1a64(name);
  const high = mixed(Number.parseInt(digits.slice(0, 8), 16));
  const low = mixed(Number.parseInt(digits.slice(8), 16) ^ high);
  // 26 and 26 bits, and half a step, so that neither 0 nor 1 is ever reached.
  return ((high >>> 6) * 2 ** 26 + (low >>> 6) + 0.5) / 2 ** 52;
}

/** MurmurHash3's last step: every bit of the result depends on every bit of the word. */
function mixed(word: number): number {
  let mix = word >>> 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
