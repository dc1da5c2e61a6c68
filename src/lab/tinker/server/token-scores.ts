/** Log-probabilities that a client wants beside what is sampled: of a prompt's own tokens, and of the likeliest tokens at each place. */
import type { Engine } from '../../engine/engine.js';
import { emptyCell, type TopLogprobs } from '../protocol/messages.js';

/** Log-probability of each token given those before it, from place `from` on; NaN before it, and for the first. */
export async function scoresOf(engine: Engine, tokens: Int32Array, from: number): Promise<Float32Array> {
  const scores = new Float32Array(tokens.length).fill(NaN);
  const start = Math.max(1, from);
  if (start >= tokens.length) return scores;
  const sequence = { prompt: tokens.subarray(0, start), continuations: [tokens.subarray(start)] };
  scores.set((await engine.forward([sequence])).logprobs, start);
  return scores;
}

/** The `k` likeliest tokens at each place from `from` on; rows before it, and that of the first place, are empty. */
export async function likeliest(engine: Engine, tokens: Int32Array, k: number, from: number): Promise<TopLogprobs> {
  const ids = new Int32Array(tokens.length * k);
  const logprobs = new Float32Array(tokens.length * k).fill(emptyCell);
  const start = Math.max(1, from);
  if (start >= tokens.length) return { tokens: ids, logprobs, k };
  const decoder = await engine.decoder(tokens.subarray(0, start), 1);
  for (let at = start; at < tokens.length; at++) {
    const scores = await decoder.logprobs();
    const order = Array.from(scores.keys()).sort((a, b) => scores[b]! - scores[a]!);
    for (let rank = 0; rank < k; rank++) {
      ids[at * k + rank] = order[rank]!;
      logprobs[at * k + rank] = scores[order[rank]!]!;
    }
    if (at + 1 < tokens.length) await decoder.extend([[tokens[at]!]]);
  }
  return { tokens: ids, logprobs, k };
}

/** The likeliest tokens at each place of an answer. */
export async function likeliestIn(
  engine: Engine,
  prompt: Int32Array,
  answer: Int32Array,
  k: number,
): Promise<TopLogprobs> {
  const { tokens, logprobs } = await likeliest(engine, Int32Array.of(...prompt, ...answer), k, prompt.length);
  const from = prompt.length * k;
  return { tokens: tokens.subarray(from), logprobs: logprobs.subarray(from), k };
}
