import type { Engine, Sampling } from '../engine/engine.js';
import type { Completion } from '../rewards/completion.js';
import type { Rng } from '../rng.js';
import type { Tokenizer } from '../text/tokenizer.js';

/** How completions are written. */
export type Manner = Pick<Sampling, 'maxTokens' | 'temperature'> & { readonly repetitionPenalty: number };

/** A prompt with its tokens. Never with an end after them: the model would take it for a finished story. */
export type Prompt = { readonly text: string; readonly tokens: Int32Array };

export type Rollout = {
  readonly prompt: Prompt;
  /** With the end, if it was said. */
  readonly tokens: Int32Array;
  readonly ended: boolean;
  readonly completion: Completion;
};

export function promptOf(text: string, tokenizer: Tokenizer): Prompt {
  return { text, tokens: Int32Array.from(tokenizer.encode(text)) };
}

/**
 * Writes `copies` completions of each prompt, side by side; the rollouts of one prompt are neighbours.
 *
 * @param random One number is drawn for each completion: the seed of its own stream.
 */
export async function rollOut(
  { engine, tokenizer }: { readonly engine: Engine; readonly tokenizer: Tokenizer },
  prompts: readonly Prompt[],
  { copies, ...manner }: Manner & { readonly copies: number },
  random: Rng,
): Promise<Rollout[]> {
  const each = prompts.flatMap((prompt) => Array.from({ length: copies }, () => prompt));
  const seeded = each.map(({ tokens }) => ({ tokens, seed: random.below(2 ** 32) }));
  const stop = tokenizer.end === null ? [] : [tokenizer.end];
  const generated = await engine.generate(seeded, { ...manner, stop });
  return generated.map(({ tokens, ended }, index) => {
    const prompt = each[index]!;
    const completion = { prompt: prompt.text, text: tokenizer.decodePlain(tokens), ids: [...tokens] };
    return { prompt, tokens, ended: ended === 'stop', completion };
  });
}
