import * as z from 'zod';
import { bitLength } from '../environments/memory/rules.js';

/** A guess and its reward, as an observer without the model or the secret sees them. */
export type ObservedEpisode =
  | {
      readonly kind: 'number';
      /** null for an invalid answer: its reward is 0, and it reveals nothing. */
      readonly guess: number | null;
      readonly reward: number;
    }
  | {
      readonly kind: 'bits';
      /** Most significant bit first; null for an invalid answer. */
      readonly bits: readonly (0 | 1 | null)[];
      /** Has one for each bit: 1 if it was right. */
      readonly rewards: readonly number[];
    };

/**
 * Row of `episodes.jsonl`, one for each training step: numbers and rewards, or for the multi-step environment a text
 * for each episode with a character for each bit (`.` for an invalid answer).
 */
export const EpisodesRow = z.object({
  step: z.int().nonnegative(),
  guesses: z.array(z.union([z.number(), z.string(), z.null()])),
  rewards: z.array(z.union([z.number(), z.string()])),
});
export type EpisodesRow = z.infer<typeof EpisodesRow>;

/** Six decimals distinguish all rewards that an observer uses (N up to 65,536), and keep a row short. */
const SCALE = 1e6;

export function roundedReward(reward: number): number {
  return Math.round(reward * SCALE) / SCALE;
}

export function episodesRow(step: number, episodes: readonly ObservedEpisode[]): EpisodesRow {
  return {
    step,
    guesses: episodes.map((seen) =>
      seen.kind === 'number' ? seen.guess : seen.bits.map((bit) => bit ?? '.').join(''),
    ),
    rewards: episodes.map((seen) => (seen.kind === 'number' ? roundedReward(seen.reward) : seen.rewards.join(''))),
  };
}

/** The episodes of a row, in order; null when it is not a row of a game with secrets below N. */
export function episodesIn({ guesses, rewards }: EpisodesRow, N: number): ObservedEpisode[] | null {
  if (guesses.length !== rewards.length) return null;
  const seen = guesses.map((guess, index) => seenAs(guess, rewards[index]!, N));
  return seen.every((episode) => episode !== null) ? seen : null;
}

function seenAs(guess: number | string | null, reward: number | string, N: number): ObservedEpisode | null {
  if (typeof guess === 'string') return seenBits(guess, String(reward), bitLength(N));
  const isGuess = guess === null || (Number.isInteger(guess) && guess >= 0 && guess < N);
  return isGuess && typeof reward === 'number' ? { kind: 'number', guess, reward } : null;
}

function seenBits(text: string, earned: string, k: number): ObservedEpisode | null {
  if (!/^[01.]+$/.test(text) || !/^[01]+$/.test(earned) || text.length !== k || earned.length !== k) return null;
  const bits = [...text].map((bit) => (bit === '.' ? null : bit === '1' ? 1 : 0));
  return { kind: 'bits', bits, rewards: [...earned].map(Number) };
}
