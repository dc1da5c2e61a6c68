import * as z from 'zod';
import { signalBits } from '../environments/memory/rules.js';
import { UserError } from '../../base/user-error.js';
import { rewardsByDistance } from './channel.js';
import type { LabCondition } from './conditions.js';
import { roundedReward, type ObservedEpisode } from './observed-episode.js';

/** Secrets are enumerated. */
const LARGEST_N = 65_536;

export const ObserverState = z.object({
  episodes: z.int().nonnegative(),
  determined: z.int().nonnegative().nullable(),
  /** A bit for each secret, 1 when it is possible; base64. */
  possible: z.string(),
});
export type ObserverState = z.infer<typeof ObserverState>;

/**
 * The ideal observer of a run: it sees the guesses and the rewards that the learner sees, knows the rules of the game,
 * and draws every conclusion. All secrets are equally likely at first, and no reward is noisy, so its knowledge is the
 * set of secrets left.
 *
 * From a multi-step episode it gets the rewards that the learner is credited with: each bit, or only how many were
 * right.
 */
export class Observer {
  readonly #N: number;
  readonly #fits: (episode: ObservedEpisode) => ((secret: number) => boolean) | null;
  #possible: Int32Array;
  #episodes = 0;
  #determined: number | null;
  /** Guesses already seen: a repeated guess has the same reward and reveals nothing. */
  readonly #seen = new Set<string | number>();

  /** @throws UserError when N is too large. */
  constructor(condition: LabCondition, N: number) {
    if (N > LARGEST_N) {
      throw new UserError(`An observer keeps secrets below ${LARGEST_N}, and N is ${N}.`, 'Set observer=False.');
    }
    this.#N = N;
    this.#fits = fitting(condition, N);
    this.#possible = Int32Array.from({ length: N }, (_, secret) => secret);
    this.#determined = N === 1 ? 0 : null;
  }

  get episodes(): number {
    return this.#episodes;
  }

  /** Episodes after which only one secret was possible; null while there are more. */
  get determined(): number | null {
    return this.#determined;
  }

  /** Number of possible secrets; 0 when the rewards contradict each other. */
  get possible(): number {
    return this.#possible.length;
  }

  /** Entropy of the secret, in bits. */
  get entropy(): number {
    return Math.log2(this.#possible.length);
  }

  /** Bits known of the secret, on the same scale as those of the weights. */
  get bitsKnown(): number {
    return signalBits(this.#N) - this.entropy;
  }

  note(episode: ObservedEpisode): void {
    this.#episodes++;
    const question = episode.kind === 'bits' ? episode.bits.join(',') : (episode.guess ?? '');
    if (this.#seen.has(question)) return;
    this.#seen.add(question);
    const fits = this.#fits(episode);
    if (fits === null) return;
    this.#possible = this.#possible.filter(fits);
    if (this.#possible.length === 1) this.#determined ??= this.#episodes;
  }

  state(): ObserverState {
    const bits = new Uint8Array(Math.ceil(this.#N / 8));
    for (const secret of this.#possible) bits[secret >> 3]! |= 1 << (secret & 7);
    return {
      episodes: this.#episodes,
      determined: this.#determined,
      possible: Buffer.from(bits).toString('base64'),
    };
  }

  /** Restores the state to continue from. */
  restore({ episodes, determined, possible }: ObserverState): void {
    const bits = Buffer.from(possible, 'base64');
    this.#episodes = episodes;
    this.#determined = determined;
    this.#possible = Int32Array.from({ length: this.#N }, (_, secret) => secret).filter(
      (secret) => ((bits[secret >> 3]! >> (secret & 7)) & 1) === 1,
    );
  }
}

/** The secrets that are consistent with an episode; null: all of them. */
function fitting(
  condition: LabCondition,
  N: number,
): (episode: ObservedEpisode) => ((secret: number) => boolean) | null {
  if (condition.kind === 'sft') return () => null;
  if (condition.kind === 'dense') return (episode) => fittingBits(episode, condition.credit === 'trajectory');
  const earned = rewardsByDistance(condition, N).map(roundedReward);
  return (episode) => {
    if (episode.kind !== 'number' || episode.guess === null) return null;
    const [guess, reward] = [episode.guess, roundedReward(episode.reward)];
    return (secret) => earned[Math.abs(guess - secret)] === reward;
  };
}

function fittingBits(episode: ObservedEpisode, isSummed: boolean): ((secret: number) => boolean) | null {
  if (episode.kind !== 'bits') return null;
  const { bits, rewards } = episode;
  const last = bits.length - 1;
  const isRight = (secret: number, position: number) => ((secret >> (last - position)) & 1) === bits[position];
  const legible = [...bits.keys()].filter((position) => bits[position] !== null);
  if (!isSummed)
    return (secret) => legible.every((position) => isRight(secret, position) === (rewards[position] === 1));
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  return (secret) => legible.filter((position) => isRight(secret, position)).length === sum;
}
