/** Samples from saved weights, with one engine for each base model and kind of adapters. */
import { UserError } from '../../../base/user-error.js';
import type { Engine, Sampling, SeededPrompt } from '../../engine/engine.js';
import { rng } from '../../rng.js';
import {
  emptyCell,
  type PromptTensor,
  type SampledSequence,
  type SampleResponse,
  type TopLogprobs,
} from '../protocol/messages.js';
import { requireVocabulary } from './datums.js';
import type { BaseModel } from './model-catalogue.js';
import { type EngineFactory, engineOf, type Parameters } from './parameters.js';
import type { TimeSlices } from './time-slices.js';

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
  /** Number of the prompt's last tokens to score; null for all. */
  readonly lastPromptLogprobs: number | null;
  readonly topSampleLogprobs: number;
  /** Tokens to score at each place of the prompt after the first; null for none. */
  readonly promptTargets: PromptTargets | null;
  /** Number of tokens to draw at each place of the prompt after the first. */
  readonly promptAlternatives: number;
};

/** Tokens in rows, one row for each place; −1 names none. */
export type PromptTargets = { readonly ids: readonly number[] } & Pick<PromptTensor, 'shape' | 'sparse'>;

/** Weights to sample from. `id` identifies them alone; `parameters` is called when the engine does not hold them. */
export type SamplerWeights = {
  readonly id: string;
  readonly base: BaseModel;
  readonly parameters: () => Promise<Parameters | null>;
};

export class Samplers {
  readonly #factory: EngineFactory;
  readonly #slices: TimeSlices;
  /** `holds`: id of the weights in the engine; null when they are not whole. */
  readonly #engines = new Map<string, { readonly engine: Engine; holds: string | null }>();

  constructor(factory: EngineFactory, slices: TimeSlices) {
    this.#factory = factory;
    this.#slices = slices;
  }

  /** @param requests Requests of one group (`groupOf`): their sampling settings differ in the seed alone. */
  async sample(weights: SamplerWeights, requests: readonly SampleRequest[]): Promise<SampleResponse[]> {
    const { base } = weights;
    for (const request of requests) checkRequest(request, base);
    // Parameters are needed even when the engine holds the weights, because the adapters decide the kind of engine.
    const parameters = await weights.parameters();
    const key = JSON.stringify([base.name, parameters?.adapters ?? null]);
    return this.#slices.serially(`sampler ${key}`, async () =>
      this.#respond(await this.#engineWith(weights, parameters, key), base, requests),
    );
  }

  async #respond(engine: Engine, base: BaseModel, requests: readonly SampleRequest[]): Promise<SampleResponse[]> {
    const generated = await generate(engine, base, requests);
    const responses: SampleResponse[] = [];
    for (const request of requests) {
      const { prompt, samples, promptLogprobs, topPromptLogprobs: top, lastPromptLogprobs: last } = request;
      const from = last === null ? 0 : prompt.length - last;
      responses.push({
        sequences: await withLikeliest(engine, base, request, generated.splice(0, samples)),
        promptLogprobs: promptLogprobs ? await scoresOf(engine, prompt, from) : null,
        topPromptLogprobs: top > 0 ? await likeliest(engine, prompt, atMost(base, top), from) : null,
        ...(request.promptTargets && {
          targetPromptLogprobs: await scoresAt(engine, prompt, request.promptTargets),
        }),
        ...(request.promptAlternatives > 0 && { promptAltTokens: await alternatives(engine, request) }),
      });
      await this.#slices.pause();
    }
    return responses;
  }

  /** @param key Names the kind of engine. */
  async #engineWith({ id, base }: SamplerWeights, parameters: Parameters | null, key: string): Promise<Engine> {
    const make = async () => ({
      engine: await engineOf(base, parameters?.adapters ?? null, this.#factory),
      holds: null,
    });
    const known = this.#engines.get(key) ?? (await make());
    this.#engines.set(key, known);
    if (known.holds !== id) {
      known.holds = null;
      await known.engine.loadWeights(parameters?.values ?? base.weights);
      known.holds = id;
    }
    return known.engine;
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

/** Limit of the log-probabilities of a prompt beyond those of its own tokens. */
const MOST_BESIDE = 2 ** 22;

function checkRequest(request: SampleRequest, base: BaseModel): void {
  const { prompt, promptLogprobs, topPromptLogprobs, promptTargets, promptAlternatives } = request;
  if (prompt.length === 0) throw new UserError('The prompt has no tokens.', 'Send at least one.');
  requireVocabulary('The prompt', prompt, base);
  const { context } = base.shape;
  const isScored = promptLogprobs || topPromptLogprobs > 0 || promptTargets !== null || promptAlternatives > 0;
  if (prompt.length > context || (prompt.length === context && !isScored)) {
    throw new UserError(
      `The prompt has ${prompt.length} tokens and leaves no room for an answer: the context is ${context}.`,
      'Send a shorter prompt, or serve a model with a longer context.',
    );
  }
  if (promptTargets !== null) checkTargets(promptTargets, prompt, base);
  if (prompt.length * promptAlternatives > MOST_BESIDE) throw tooMuchBeside();
}

function checkTargets({ ids, shape, sparse }: PromptTargets, prompt: Int32Array, base: BaseModel): void {
  const [rows, width = 0] = shape;
  const isMatrix = shape.length === 2 && rows === prompt.length - 1 && (sparse !== null || rows * width === ids.length);
  if (!isMatrix || ids.length === 0) {
    throw new UserError(
      `target_prompt_logprobs has the shape [${shape.join(', ')}], and the prompt has ${prompt.length} tokens.`,
      'Send a row for each token of the prompt but the first.',
    );
  }
  const named = ids.filter((id) => id !== -1);
  requireVocabulary('target_prompt_logprobs', named, base);
  if (prompt.length * widestRow({ ids, shape, sparse }) > MOST_BESIDE) throw tooMuchBeside();
}

function tooMuchBeside(): UserError {
  return new UserError(
    `More than ${MOST_BESIDE} log-probabilities were asked for beside one prompt.`,
    'Ask for fewer at each place, or send a shorter prompt.',
  );
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

// Log-probabilities beyond those of the samples: of a prompt's own tokens, and of the likeliest tokens at each
// position.

/** Log-probability of each token given those before it, from place `from` on; NaN before it, and for the first. */
async function scoresOf(engine: Engine, tokens: Int32Array, from: number): Promise<Float32Array> {
  const scores = new Float32Array(tokens.length).fill(NaN);
  const start = Math.max(1, from);
  if (start >= tokens.length) return scores;
  const sequence = { prompt: tokens.subarray(0, start), continuations: [tokens.subarray(start)] };
  scores.set((await engine.forward([sequence])).logprobs, start);
  return scores;
}

function widestRow({ shape, sparse }: PromptTargets): number {
  if (sparse === null) return shape[1]!;
  return sparse.rows.reduce((most, start, row) => Math.max(most, start - (sparse.rows[row - 1] ?? start)), 1);
}

/** Log-probabilities of the named tokens, in the layout in which they were named; NaN where none was. */
async function scoresAt(engine: Engine, prompt: Int32Array, targets: PromptTargets): Promise<PromptTensor> {
  const { ids, shape, sparse } = targets;
  const width = widestRow(targets);
  const starts = sparse?.rows ?? Array.from({ length: shape[0]! + 1 }, (_, row) => row * width);
  const places = ids.map(() => 0);
  const tokens = new Int32Array(shape[0]! * width);
  for (let row = 0; row < shape[0]!; row++) {
    for (let at = starts[row]!; at < starts[row + 1]!; at++) {
      const place = row * width + at - starts[row]!;
      places[at] = place;
      tokens[place] = Math.max(0, ids[at]!);
    }
  }
  const sequence = { prompt: prompt.subarray(0, 1), continuations: [prompt.subarray(1)], targets: [tokens] };
  const { logprobs } = await engine.forward([sequence]);
  return { values: Float32Array.from(places, (place, at) => (ids[at] === -1 ? NaN : logprobs[place]!)), shape, sparse };
}

/** Tokens drawn at each place of the prompt, at the temperature of the request, and their log-probabilities under the model itself. */
async function alternatives(engine: Engine, { prompt, params, place, promptAlternatives: k }: SampleRequest) {
  const random = rng(params.seed ?? 0, params.seed === null ? `${place}/alternatives` : 'alternatives');
  const shape = [Math.max(0, prompt.length - 1), k];
  const [tokens, logprobs] = [new Int32Array(shape[0]! * k), new Float32Array(shape[0]! * k)];
  const decoder = await engine.decoder(prompt.subarray(0, 1), 1);
  for (let row = 0; row < shape[0]!; row++) {
    for (let at = row * k; at < (row + 1) * k; at++) {
      const drawn = await decoder.sample([random.next()], params.temperature);
      tokens[at] = drawn.tokens[0]!;
      logprobs[at] = drawn.logprobs[0]!;
    }
    if (row + 1 < shape[0]!) await decoder.extend([[prompt[row + 1]!]]);
  }
  return { tokens: { values: tokens, shape, sparse: null }, logprobs: { values: logprobs, shape, sparse: null } };
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
