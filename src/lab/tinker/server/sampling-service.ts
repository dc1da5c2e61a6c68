/** The protocol's operations on samplers: the weights they draw from, and what they draw. Knows nothing of HTTP. */
import type { SampleResponse } from '../protocol/messages.js';
import { requirePlaces } from '../protocol/tensors.js';
import type { Checkpoints } from './checkpoints.js';
import type { ComputationMethods } from './computation.js';
import type { Futures, RequestQueue } from './futures.js';
import type { ModelCatalogue } from './model-catalogue.js';
import { Refusal } from './refusal.js';
import { tokensOf, type CreateSamplingSession, type Sample, type TensorData } from './requests.js';
import { sampledResult } from './results.js';
import { groupOf, type PromptTargets, type SampleRequest } from './samplers.js';
import type { Sampler, Sessions } from './sessions.js';
import type { AcceptedRequest } from './training-service.js';

type SamplingParts = {
  readonly catalogue: ModelCatalogue;
  readonly checkpoints: Checkpoints;
  readonly sessions: Sessions;
  readonly futures: Futures;
  readonly queue: RequestQueue;
  readonly computing: ComputationMethods;
};

/** Number of requests that a sampler remembers, so that a repeated one is carried out once. */
const MOST_KNOWN = 20_000;

type SamplerWeights = Pick<Sampler, 'path' | 'source'>;

export class SamplingService {
  readonly #parts: SamplingParts;

  constructor(parts: SamplingParts) {
    this.#parts = parts;
  }

  createSamplingSession(request: CreateSamplingSession) {
    const { sessions } = this.#parts;
    const session = sessions.touch(request.session_id);
    const number = request.sampling_session_seq_id;
    const known = session.samplers.get(number);
    const sampler = known ?? sessions.addSampler(session, number, this.#weightsOf(request));
    return { type: 'create_sampling_session', sampling_session_id: sampler.id };
  }

  samplerInfo(id: string) {
    const { source, path } = this.#parts.sessions.sampler(id);
    return { sampler_id: id, base_model: source.base, model_path: path };
  }

  sample(request: Sample): AcceptedRequest & { readonly sample_sequence_ids: readonly string[] } {
    const { sampling_session_id: id, seq_id: number } = request;
    const { sessions } = this.#parts;
    const sampler = id == null ? null : sessions.sampler(id);
    if (sampler !== null) sessions.touch(sampler.session);
    const known = number == null ? undefined : sampler?.known.get(number);
    const requestId = known ?? this.#sample(request, sampler);
    if (known === undefined && sampler !== null && number != null) {
      sampler.known.set(number, requestId);
      if (sampler.known.size > MOST_KNOWN) sampler.known.delete([...sampler.known.keys()][0]!);
    }
    const ids = Array.from({ length: request.num_samples }, (_, index) => `${requestId}:${index}`);
    return { request_id: requestId, sample_sequence_ids: ids };
  }

  #weightsOf({ model_path: path, base_model: name }: Pick<Sample, 'model_path' | 'base_model'>): SamplerWeights {
    const { catalogue, checkpoints } = this.#parts;
    if (path != null) {
      const { directory, manifest } = checkpoints.openOwn(path);
      const { base_model: base, lora, saved_at: savedAt } = manifest;
      return { path, source: { kind: 'checkpoint', id: `${path}@${savedAt}`, base, directory, lora } };
    }
    if (name == null) throw new Refusal(400, 'There is neither a model_path nor a base_model to sample from.');
    const base = catalogue.nameOf(name);
    return { path: null, source: { kind: 'base', id: base, base } };
  }

  #sample(request: Sample, sampler: Sampler | null): string {
    const { queue, futures, sessions, computing } = this.#parts;
    const session = sampler === null ? null : sessions.session(sampler.session);
    const turn = session?.id ?? 'no session';
    const { source } = sampler ?? this.#weightsOf(request);
    const asked = sampleRequest(request);
    const id = futures.create(turn, asked.prompt.byteLength);
    const wanted = { ...asked, place: sampler === null ? id : placeOf(sampler, request.seq_id, id) };
    const giveUp = queue.add(turn, {
      request: wanted,
      group: `${source.id} ${groupOf(wanted)}`,
      work: (requests: readonly SampleRequest[], signal) => computing.sample(source, requests, signal),
      done: (response) => {
        if (session !== null) session.done.sampled += wanted.samples;
        futures.settle(id, sampledResult(response as SampleResponse));
      },
      failed: (error) => futures.fail(id, error),
    });
    futures.onCancel(id, giveUp);
    return id;
  }
}

/** Name of a request's place in its session, without the part of ids that differs between starts of the service. */
function placeOf({ id }: Sampler, number: Sample['seq_id'], future: string): string {
  return `${id.slice(id.indexOf('-') + 1)}/${number ?? future.slice(future.indexOf('-') + 1)}`;
}

/** A negative seed is the same 32 bits read as int32. */
function toUnsigned(seed: number): number {
  return seed < 0 && seed >= -(2 ** 31) ? seed + 2 ** 32 : seed;
}

function sampleRequest(request: Sample): Omit<SampleRequest, 'place'> {
  const { sampling_params: params, topk_prompt_logprobs: top } = request;
  const { stop } = params;
  return {
    prompt: tokensOf(request.prompt),
    samples: request.num_samples,
    params: {
      maxTokens: params.max_tokens ?? null,
      seed: params.seed == null ? null : toUnsigned(params.seed),
      stop: typeof stop === 'string' ? [stop] : (stop ?? null),
      temperature: params.temperature,
      topK: params.top_k > 0 ? params.top_k : null,
      topP: params.top_p,
    },
    promptLogprobs: request.prompt_logprobs === true,
    topPromptLogprobs: top,
    lastPromptLogprobs: request.prompt_logprobs_last_n ?? null,
    topSampleLogprobs: request.topk_sample_logprobs,
    promptTargets: request.target_prompt_logprobs == null ? null : promptTargets(request.target_prompt_logprobs),
    promptAlternatives: request.prompt_alt_tokens_k,
  };
}

function promptTargets({ data: ids, shape: given, ...places }: TensorData): PromptTargets {
  const { sparse_crow_indices: rows, sparse_col_indices: columns } = places;
  const shape = given ?? [ids.length];
  if (rows == null || columns == null) return { ids, shape, sparse: null };
  requirePlaces({ count: ids.length, rows, columns }, shape);
  return { ids, shape, sparse: { rows, columns } };
}
