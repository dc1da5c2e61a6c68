import type { Decoder, Engine } from './engine/engine.js';
import type { Environment } from './environment.js';
import type { Rng } from './rng.js';

/** One played episode. The arrays over tokens hold all that followed the environment's prompt, said by the model or to it. */
export type Episode = {
  readonly tokens: number[];
  /** Log-probability with which the model said the token; 0 for what was said to it. */
  readonly logprobs: number[];
  /** The turn in which the model said the token; −1 for what was said to it. */
  readonly turns: number[];
  /** One per turn. */
  readonly rewards: number[];
  /** Measurements of the environment, one object per turn. */
  readonly metrics: Readonly<Record<string, number>>[];
  /** Tokens of the answers, one list per turn. */
  readonly answers: number[][];
  /** Sum over turns of the tokens the model had before it when it answered. */
  observed: number;
};

/** `temperature` 0 takes the most likely token each time. `maxTokens`: of one answer. */
type Manner = { readonly episodes: number; readonly maxTokens: number; readonly temperature: number };

/** Plays episodes side by side, all with the engine's present weights. Draws one number per token said. */
export async function play(engine: Engine, environment: Environment, manner: Manner, random: Rng): Promise<Episode[]> {
  const { prompt, turns, tokenizer } = environment;
  const episodes = Array.from({ length: manner.episodes }, emptyEpisode);
  const decoder = await engine.decoder(prompt, manner.episodes);
  for (let turn = 0; turn < turns; turn++) {
    if (turn > 0) {
      const observation = environment.observation(turn - 1);
      await decoder.extend(episodes.map((episode) => observe(episode, observation, tokenizer.end)));
    }
    for (const episode of episodes) {
      episode.observed += prompt.length + episode.tokens.length;
      episode.answers.push([]);
    }
    await answer(decoder, episodes, { ...manner, end: tokenizer.end }, random);
    for (const episode of episodes) {
      const { reward, metrics } = environment.judge(episode.answers[turn]!, episode.rewards);
      episode.rewards.push(reward);
      episode.metrics.push(metrics);
    }
  }
  return episodes;
}

/** Lets every episode answer, token by token, until each has said its end or the limit is reached. */
async function answer(
  decoder: Decoder,
  episodes: readonly Episode[],
  manner: Manner & { readonly end: number | null },
  random: Rng,
): Promise<void> {
  const { end } = manner;
  const uniforms = new Array<number>(episodes.length).fill(0);
  for (let said = 0; ; said++) {
    const open = drawFor(uniforms, random, (index) => ended(episodes[index]!, end));
    if (open === 0) return;
    const { tokens, logprobs } = await decoder.sample(uniforms, manner.temperature);
    episodes.forEach((episode, index) => {
      if (!Number.isNaN(uniforms[index])) say(episode, tokens[index]!, logprobs[index]!);
    });
    if (said === manner.maxTokens - 1) return;
    await decoder.extend(
      episodes.map((episode) => (ended(episode, end) ? [] : [episode.tokens[episode.tokens.length - 1]!])),
    );
  }
}

/** A number for each answer that goes on, NaN for those that are ended. @returns how many go on. */
function drawFor(uniforms: number[], random: Rng, isEnded: (index: number) => boolean): number {
  let open = 0;
  uniforms.forEach((_, index) => {
    const goesOn = !isEnded(index);
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

/** @param end The token that ends an answer; null when only the limit does. */
function ended(episode: Episode, end: number | null): boolean {
  const answered = episode.answers[episode.answers.length - 1]!;
  return end !== null && answered[answered.length - 1] === end;
}

/** Adds the next observation to the episode. @returns the tokens the decoder has not seen: the last one said, and these. */
function observe(episode: Episode, observation: readonly number[], end: number | null): number[] {
  const unseen = [episode.tokens[episode.tokens.length - 1]!];
  // An answer that was cut off is ended for the model, as the renderer would write it.
  const told = end === null || ended(episode, end) ? observation : [end, ...observation];
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
