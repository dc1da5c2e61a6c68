import type { Rng } from '../rng.js';
import type { Channel } from './channel.js';

/**
 * Plays as one who knows the rules: guesses any of the secrets that are still possible and that it has not said yet, each
 * equally likely (Thompson 1933, with a uniform prior and rewards without noise), and strikes out all that the reward rules
 * out. It tries to be right at once rather than to hear most, so there may be faster ones.
 *
 * @returns the episodes up to the first in which it says the secret, that one counted. An example says it at once.
 */
export function thompson(channel: Channel, secret: number, random: Rng): number {
  const { condition, N, told } = channel;
  if (condition.kind === 'sft') return 1;
  // "Wrong" strikes out nothing but the guess, so it says all numbers in random order.
  if (condition.kind === 'binary') return 1 + random.below(N);
  // The words of the dense game that are no number below N are never worth saying.
  const said = new Uint8Array(N);
  let possible = Array.from({ length: N }, (_, value) => value);
  for (let episode = 1; ; episode++) {
    const unsaid = possible.filter((value) => said[value] === 0);
    const guess = unsaid[random.below(unsaid.length)]!;
    said[guess] = 1;
    const heard = told(guess, secret);
    possible = possible.filter((candidate) => told(guess, candidate) === heard);
    if (guess === secret) return episode;
  }
}
