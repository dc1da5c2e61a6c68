import type { Rng } from '../rng.js';
import type { Channel } from './channel.js';

/**
 * A player that knows the rules: it guesses any of the secrets that are still possible and not yet guessed, each
 * equally likely (Thompson 1933, with a uniform prior and rewards without noise), and rules out secrets by each
 * reward. It tries to be right at once rather than to learn most, so there may be faster players.
 *
 * @returns the episodes up to and including the first in which it guesses the secret. With an example it is the first.
 */
export function thompson(channel: Channel, secret: number, random: Rng): number {
  const { condition, N, rewardIndex } = channel;
  if (condition.kind === 'sft') return 1;
  // A wrong guess rules out nothing but itself, so all numbers are guessed in random order.
  if (condition.kind === 'binary') return 1 + random.below(N);
  // Words of the multi-step environment that are no number below N are never worth guessing.
  const guessed = new Uint8Array(N);
  let possible = Array.from({ length: N }, (_, value) => value);
  for (let episode = 1; ; episode++) {
    const untried = possible.filter((value) => guessed[value] === 0);
    const guess = untried[random.below(untried.length)]!;
    guessed[guess] = 1;
    const observed = rewardIndex(guess, secret);
    possible = possible.filter((candidate) => rewardIndex(guess, candidate) === observed);
    if (guess === secret) return episode;
  }
}
