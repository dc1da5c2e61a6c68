/** Samples from saved weights, with one engine for each base model and kind of adapters. */
import { UserError } from '../../../base/user-error.js';
import type { Engine, Sampling, SeededPrompt } from '../../engine/engine.js';
import { rng } from '../../rng.js';
import { emptyCell, type SampledSequence, type SampleResponse, type TopLogprobs } from '../protocol/messages.js';
import { requireVocabulary } from './datums.js';
import type { BaseModel } from './model-catalogue.js';
import { type EngineFactory, engineOf, type Parameters } from './parameters.js';

type SamplingParams = {
  /** null lets the sequence go on to the end of the context. */
  readonly maxTokens: number | null;
  /** null derives the seed from the place of the request in its session. */
  readonly seed: number | null;
  /** Texts or token ids. null stands for the model's own endings; an empty list stops nowhere. */
  readonly stop: readonly string[] | readonly number[] | null;
  readonly temperature: number;
  /** null keeps every token. */
  readonly topK: number | null;
  readonly topP: number;
};

export type SampleRequest = {
  readonly prompt: Int32Array;
  readonly samples: number;
  readonly params: SamplingParams;
  /** Names the random stream where the request has no seed. */
  readonly place: string;
  readonly promptLogprobs: boolean;
  readonly topPromptLogprobs: number;
  /** Scores of the prompt are wanted for so many of its last tokens; null for all. */
  readonly lastPromptLogprobs: number | null;
  readonly topSampleLogprobs: number;
};

/** Weights to sample from. `id` identifies them alone; `parameters` is called when the engine does not hold them. */
export type SamplerWeights = {
  readonly id: string;
  readonly base: BaseModel;
  readonly parameters: () => Promise<Parameters | null>;
};

export class Samplers {
  readonly #create: EngineFactory;
  readonly #engines = new Map<string, { engine: Promise<Engine>; holds: string | null }>();

  constructor(create: EngineFactory) {
    this.#create = create;
  }

  /** @param requests Requests of one group (`groupOf`): their sampling settings differ in the seed alone. */
  async sample(weights: SamplerWeights, requests: readonly SampleRequest[]): Promise<SampleResponse[]> {
    const { base } = weights;
    for (const { prompt } of requests) checkPrompt(prompt, base);
    const engine = await this.#engineWith(weights);
    const generated = await generate(engine, base, requests);
    const responses: SampleResponse[] = [];
    for (const request of requests) {
      const { prompt, samples, promptLogprobs, topPromptLogprobs: top, lastPromptLogprobs: last } = request;
      const from = last === null ? 0 : prompt.length - last;
      responses.push({
        sequences: await withLikeliest(engine, base, request, generated.splice(0, samples)),
        promptLogprobs: promptLogprobs ? await scoresOf(engine, prompt, from) : null,
        topPromptLogprobs: top > 0 ? await likeliest(engine, prompt, atMost(base, top), from) : null,
      });
    }
    return responses;
  }

  async #engineWith(weights: SamplerWeights): Promise<Engine> {
    // The kind of engine depends on the adapters, so they are needed even where the engine holds the weights.
    const parameters = await weights.parameters();
    const adapters = parameters?.adapters ?? null;
    const key = JSON.stringify([weights.base.name, adapters]);
    const known = this.#engines.get(key) ?? { engine: engineOf(weights.base, adapters, this.#create), holds: null };
    this.#engines.set(key, known);
    const engine = await known.engine;
    if (known.holds !== weights.id) {
      await engine.loadWeights(parameters?.values ?? weights.base.weights);
      known.holds = weights.id;
    }
    return engine;
  }
}

function atMost({ shape }: BaseModel, k: number): number {
  return Math.min(k, shape.vocabulary);
}

async function withLikeliest(
  engine: Engine,
  base: BaseModel,
  { prompt, topSampleLogprobs: k }: SampleRequest,
  sequences: readonly SampledSequence[],
): Promise<SampledSequence[]> {
  const found: SampledSequence[] = [];
  for (const sequence of sequences) {
    const top = k > 0 ? await likeliestIn(engine, prompt, sequence.tokens, atMost(base, k)) : null;
    found.push({ ...sequence, topLogprobs: top });
  }
  return found;
}

/** The group of a request. Requests of one group can be drawn in one call, because no result depends on the others. */
export function groupOf({ params }: SampleRequest): string {
  return JSON.stringify({ ...params, seed: null });
}

function checkPrompt(prompt: Int32Array, base: BaseModel): void {
  if (prompt.length === 0) throw new UserError('The prompt has no tokens.', 'Send at least one.');
  requireVocabulary('The prompt', prompt, base);
}

async function generate(
  engine: Engine,
  base: BaseModel,
  requests: readonly SampleRequest[],
): Promise<SampledSequence[]> {
  const prompts = requests.flatMap(({ prompt: tokens, samples, params, place }) =>
    Array.from({ length: samples }, (_, index): SeededPrompt => ({ tokens, seed: seedOf(params.seed, place, index) })),
  );
  const { maxTokens, temperature, topK, topP, stop } = requests[0]!.params;
  const texts = (stop ?? []).filter((each) => typeof each === 'string').filter((text) => text !== '');
  const ids = (stop ?? []).filter((each) => typeof each === 'number');
  const sampling: Sampling = {
    maxTokens: maxTokens ?? base.shape.context,
    temperature,
    ...(topK !== null && { topK: Math.min(topK, base.shape.vocabulary) }),
    topP,
    // An empty list means not to stop at all in the protocol, and texts leave the model's own endings in force.
    stop: [...ids, ...(stop === null || texts.length > 0 ? base.endings : [])],
    ...(texts.length > 0 && { ends: endsWith(texts, base) }),
  };
  const generated = await engine.generate(prompts, sampling);
  return generated.map(({ tokens, logprobs, ended }) => ({ stopReason: ended, tokens, logprobs, topLogprobs: null }));
}

/** Whether the end of the text holds one of `texts`; decodes as many tokens as the longest of them may span. */
function endsWith(texts: readonly string[], { tokenizer }: BaseModel): (tokens: readonly number[]) => boolean {
  // A character has up to four bytes, and a token at least one.
  const window = 4 * Math.max(...texts.map((text) => text.length)) + 4;
  return (tokens) => {
    const end = tokenizer.decode(tokens.slice(-window));
    return texts.some((text) => end.includes(text));
  };
}

/** The first sample of a seed is the engine's own sample of that seed; the others have streams of their own. */
function seedOf(seed: number | null, place: string, index: number): number {
  if (seed !== null && index === 0) return seed;
  const random = rng(seed ?? 0, seed === null ? `${place}/${index}` : `sample ${index}`);
  return random.below(2 ** 31) * 2 ** 21 + random.below(2 ** 21);
}

// Log-probabilities that a client wants beside what is sampled: of a prompt's own tokens, and of the likeliest tokens at each place.

/** Log-probability of each token given those before it, from place `from` on; NaN before it, and for the first. */
async function scoresOf(engine: Engine, tokens: Int32Array, from: number): Promise<Float32Array> {
  const scores = new Float32Array(tokens.length).fill(NaN);
  const start = Math.max(1, from);
  if (start >= tokens.length) return scores;
  const sequence = { prompt: tokens.subarray(0, start), continuations: [tokens.subarray(start)] };
  scores.set((await engine.forward([sequence])).logprobs, start);
  return scores;
}

/** The `k` likeliest tokens at each place from `from` on; rows before it, and that of the first place, are empty. */
async function likeliest(engine: Engine, tokens: Int32Array, k: number, from: number): Promise<TopLogprobs> {
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
async function likeliestIn(engine: Engine, prompt: Int32Array, answer: Int32Array, k: number): Promise<TopLogprobs> {
  const { tokens, logprobs } = await likeliest(engine, Int32Array.of(...prompt, ...answer), k, prompt.length);
  const from = prompt.length * k;
  return { tokens: tokens.subarray(from), logprobs: logprobs.subarray(from), k };
}
