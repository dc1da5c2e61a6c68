import type { Decoder, Engine } from './engine/engine.js';
import type { Game } from './memory/game.js';
import type { Rng } from './rng.js';
import { endingId } from './text/memory-vocabulary.js';

/** One played episode. The arrays over tokens hold all that followed the game's prompt, said by the model or to it. */
export type Episode = {
  readonly tokens: number[];
  /** Log-probability with which the model said the token; 0 for what was said to it. */
  readonly logprobs: number[];
  /** The turn in which the model said the token; −1 for what was said to it. */
  readonly turns: number[];
  /** One per turn. */
  readonly rewards: number[];
  /** Measurements of the game, one object per turn. */
  readonly metrics: Readonly<Record<string, number>>[];
  /** Tokens of the answers, one list per turn. */
  readonly answers: number[][];
  /** Sum over turns of the tokens the model had before it when it answered. */
  observed: number;
};

/** `temperature` 0 takes the most likely token each time. `maxTokens`: of one answer. */
type Manner = { readonly episodes: number; readonly maxTokens: number; readonly temperature: number };

/** Plays episodes side by side, all with the engine's present weights. Draws one number per token said. */
export async function play(engine: Engine, game: Game, manner: Manner, random: Rng): Promise<Episode[]> {
  const episodes = Array.from({ length: manner.episodes }, emptyEpisode);
  const decoder = await engine.decoder(game.prompt, manner.episodes);
  for (let turn = 0; turn < game.turns; turn++) {
    if (turn > 0) await decoder.extend(episodes.map((episode) => observe(episode, game.request(turn - 1))));
    for (const episode of episodes) {
      episode.observed += game.prompt.length + episode.tokens.length;
      episode.answers.push([]);
    }
    await answer(decoder, episodes, manner, random);
    for (const episode of episodes) {
      const { reward, metrics } = game.judge(episode.answers[turn]!, episode.rewards);
      episode.rewards.push(reward);
      episode.metrics.push(metrics);
    }
  }
  return episodes;
}

/** Lets every episode answer, token by token, until each has said its end or the limit is reached. */
async function answer(decoder: Decoder, episodes: readonly Episode[], manner: Manner, random: Rng): Promise<void> {
  const uniforms = new Array<number>(episodes.length).fill(0);
  for (let said = 0; ; said++) {
    const open = drawFor(episodes, uniforms, random);
    if (open === 0) return;
    const { tokens, logprobs } = await decoder.sample(uniforms, manner.temperature);
    episodes.forEach((episode, index) => {
      if (!Number.isNaN(uniforms[index])) say(episode, tokens[index]!, logprobs[index]!);
    });
    if (said === manner.maxTokens - 1) return;
    await decoder.extend(
      episodes.map((episode) => (ended(episode) ? [] : [episode.tokens[episode.tokens.length - 1]!])),
    );
  }
}

/** A number for each answer that goes on, NaN for those that are ended. @returns how many go on. */
function drawFor(episodes: readonly Episode[], uniforms: number[], random: Rng): number {
  let open = 0;
  episodes.forEach((episode, index) => {
    const goesOn = !ended(episode);
    uniforms[index] = goesOn ? random.next() : Number.NaN;
    if (goesOn) open++;
  });
  return open;
}

function say(episode: Episode, token: number, logprob: number): void {
  const turn = episode.answers.length - 1;
  episode.tokens.push(token);
  episode.logprobs.push(logprob);
  episode.turns.push(turn);
  episode.answers[turn]!.push(token);
}

function ended(episode: Episode): boolean {
  const answered = episode.answers[episode.answers.length - 1]!;
  return answered[answered.length - 1] === endingId;
}

/** Adds the next request to the episode. @returns the tokens the decoder has not seen: the last one said, and these. */
function observe(episode: Episode, request: readonly number[]): number[] {
  const unseen = [episode.tokens[episode.tokens.length - 1]!];
  // An answer that was cut off is ended for the model, as the renderer would write it.
  const told = ended(episode) ? request : [endingId, ...request];
  for (const token of told) {
    episode.tokens.push(token);
    episode.logprobs.push(0);
    episode.turns.push(-1);
    unseen.push(token);
  }
  return unseen;
}

function emptyEpisode(): Episode {
  return { tokens: [], logprobs: [], turns: [], rewards: [], metrics: [], answers: [], observed: 0 };
}
