import type { Engine } from '../engine/engine.js';
import type { Game } from '../memory/game.js';
import { play } from '../rollout.js';
import { rng } from '../rng.js';

/** The answer the model would give at temperature 0, and how sure of it it is. */
export type GreedyAnswer = {
  /** The integer, or null when the answer is none. */
  readonly 'test/greedy': number | null;
  /** The probability of saying exactly these tokens. Near 1 on a wrong integer, the run is stuck. */
  readonly 'test/greedy_prob': number;
};

export async function greedyAnswer(engine: Engine, game: Game, maxTokens: number): Promise<GreedyAnswer> {
  const manner = { episodes: 1, maxTokens, temperature: 0 };
  // At temperature 0 the numbers drawn decide nothing.
  const [episode] = await play(engine, game, manner, rng(0, 'greedy'));
  const logprob = episode!.logprobs.reduce((sum, each) => sum + each, 0);
  return { 'test/greedy': game.reading(episode!.answers), 'test/greedy_prob': Math.exp(logprob) };
}
