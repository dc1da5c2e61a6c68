/** The operations of the protocol, on sessions, models and samplers. Knows nothing of HTTP. */
import type * as z from 'zod';
import { UserError } from '../../../base/user-error.js';
import type { ForwardBackwardRequest } from '../protocol/messages.js';
import { sizeOf, type Checkpoint, type Checkpoints } from './checkpoints.js';
import type { Futures, Result } from './futures.js';
import type { BaseModel, ModelCatalogue } from './model-catalogue.js';
import { Refusal } from './refusal.js';
import {
  tokensOf,
  type CreateModel,
  type CreateSamplingSession,
  type CreateSession,
  type LoadWeights,
  type OptimStep,
  type Sample,
  type SaveWeights,
} from './requests.js';
import { failedResult, learntResult, plainResult, sampledResult } from './results.js';
import type { SamplerSources } from './sampler-sources.js';
import { groupOf, type SampleRequest, type Samplers, type SamplerWeights } from './samplers.js';
import type { Model, Sampler, Session, Sessions } from './sessions.js';
import { TrainedModel, type EngineFactory, type LoraSettings } from './trained-model.js';
import type { Turns } from './turns.js';

export type ServiceParts = {
  readonly catalogue: ModelCatalogue;
  readonly checkpoints: Checkpoints;
  readonly sessions: Sessions;
  readonly futures: Futures;
  readonly turns: Turns;
  readonly samplers: Samplers;
  readonly sources: SamplerSources;
  readonly create: EngineFactory;
  readonly pause: () => Promise<void>;
  /** Unix ms. */
  readonly now: () => number;
  /** One line for people. */
  readonly log: (line: string) => void;
  readonly bug: (error: unknown) => void;
};

type Accepted = { readonly request_id: string };

/** What has been done since the service began. */
export type Counts = { steps: number; learnt: number; sampled: number };

const fullFineTuning: LoraSettings = { rank: 0, seed: 0, trainUnembed: true, trainMlp: true, trainAttn: true };

export class TrainingService {
  readonly #parts: ServiceParts;
  readonly counts: Counts = { steps: 0, learnt: 0, sampled: 0 };

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  createSession({ tags, user_metadata: metadata, sdk_version: version }: z.infer<typeof CreateSession>) {
    const { sessions, now, log } = this.#parts;
    const session = sessions.begin({ began: now(), tags, metadata: metadata ?? null });
    log(`session ${session.id} begins${version == null ? '' : ` (SDK ${version})`}`);
    return { type: 'create_session', session_id: session.id };
  }

  heartbeat(id: string): void {
    this.#session(id);
  }

  async finish(id: string, why = 'finished'): Promise<void> {
    const { sessions, turns, futures, sources, log } = this.#parts;
    const session = sessions.session(id);
    turns.drop(id, new Refusal(410, `The session ${id} has ended.`));
    for (const sampler of session.samplers.values()) sources.forget(sampler.id);
    futures.forgetSession(id);
    await sessions.end(session);
    log(`session ${id} ${why}`);
  }

  /** Ends the sessions that nobody has been heard of for so long. */
  async endIdle(ms: number): Promise<void> {
    const { sessions, now } = this.#parts;
    const idle = sessions.all.filter(({ lastSeen }) => now() - lastSeen > ms);
    for (const { id } of idle) await this.finish(id, 'has been silent, and ends');
  }

  createModel(request: z.infer<typeof CreateModel>): Accepted {
    const { optimizer_config: optimizer } = request;
    if (optimizer != null && optimizer.type !== 'adamw') {
      throw new Refusal(400, `There is no optimizer ${optimizer.type} here; use adamw.`);
    }
    const lora = loraOf(request.lora_config);
    return this.#create(request, { base: request.base_model, lora }, async (model) => {
      await this.#make(model);
      return { type: 'create_model', model_id: model.id };
    });
  }

  info(id: string) {
    const { base: name, lora, trained } = this.#parts.sessions.model(id);
    if (trained === null) throw new Refusal(409, `The model ${id} is being made; ask again when it is there.`);
    const modelData = { arch: 'llama', model_name: name, tokenizer_id: trained.base.directory };
    return {
      type: 'get_info',
      model_data: modelData,
      model_id: id,
      model_name: name,
      is_lora: lora.rank > 0,
      lora_rank: lora.rank,
    };
  }

  forwardBackward(request: ForwardBackwardRequest): Accepted {
    return this.#onModel(request.modelId, request.seqId, async (model) => {
      const output = await model.forwardBackward(request);
      this.counts.learnt += request.data.length;
      return learntResult(output);
    });
  }

  optimStep({ model_id: id, seq_id: number, adam_params: adam }: z.infer<typeof OptimStep>): Accepted {
    return this.#onModel(id, number, async (model, { id: name }) => {
      const norm = await model.optimStep({
        learningRate: adam.learning_rate,
        beta1: adam.beta1,
        beta2: adam.beta2,
        epsilon: adam.eps,
        weightDecay: adam.weight_decay,
        ...(adam.grad_clip_norm > 0 && { clipNorm: adam.grad_clip_norm }),
      });
      this.counts.steps++;
      this.#parts.sessions.model(name).steps++;
      return plainResult({ type: 'optim_step', metrics: { 'optim/grad_norm': norm } });
    });
  }

  saveWeights(request: z.infer<typeof SaveWeights>): Accepted {
    const { path: name } = request;
    if (name == null) throw new Refusal(400, 'save_weights has no path: give the weights a name.');
    return this.#onModel(request.model_id, request.seq_id, async (model, { id }) => {
      const path = await this.#save(model, { ...request, model_id: id, path: name }, 'weights');
      return plainResult({ type: 'save_weights', path });
    });
  }

  saveForSampler(request: z.infer<typeof SaveWeights>): Accepted {
    return this.#onModel(request.model_id, request.seq_id, async (model, { id, session }) => {
      const { path: name, sampling_session_seq_id: number } = request;
      const type = 'save_weights_for_sampler';
      if (name != null) {
        const path = await this.#save(
          model,
          { ...request, model_id: id, path: name, overwrite: true },
          'sampler_weights',
        );
        return plainResult({ type, path });
      }
      if (number == null) throw new UserError('The weights have neither a path nor a sampling session.', 'Give one.');
      const { sessions, sources } = this.#parts;
      const weights = sources.ofMemory(`${session}:sample:${number}`, await model.parameters());
      const facts = { base: model.base.name, path: null, weights };
      const sampler = sessions.addSampler(sessions.session(session), number, facts);
      return plainResult({ type, sampling_session_id: sampler.id });
    });
  }

  loadWeights(request: z.infer<typeof LoadWeights>): Accepted {
    const { path, optimizer, model_id: id } = request;
    const { directory, manifest } = this.#parts.checkpoints.open(path);
    if (id != null) {
      return this.#onModel(id, request.seq_id, async (model) => {
        requireSame(manifest, model);
        await model.load(directory, optimizer);
        return plainResult({ type: 'load_weights', path, model_id: id });
      });
    }
    const { session_id: session, model_seq_id: number } = request;
    if (session == null || number == null) throw new Refusal(400, 'load_weights names neither a model nor a session.');
    const creating = { session_id: session, model_seq_id: number, user_metadata: request.user_metadata };
    return this.#create(creating, { base: manifest.base_model, lora: manifest.lora }, async (model) => {
      const trained = await this.#make(model);
      await trained.load(directory, optimizer);
      return { type: 'load_weights', path, model_id: model.id };
    });
  }

  async createSamplingSession(request: z.infer<typeof CreateSamplingSession>) {
    const session = this.#session(request.session_id);
    const number = request.sampling_session_seq_id;
    const known = session.samplers.get(number);
    const sampler =
      known ??
      this.#parts.sessions.addSampler(session, number, await this.#sourceOf(request.model_path, request.base_model));
    return { type: 'create_sampling_session', sampling_session_id: sampler.id };
  }

  samplerInfo(id: string) {
    const { base, path } = this.#parts.sessions.sampler(id);
    return { sampler_id: id, base_model: base, model_path: path };
  }

  async sample(
    request: z.infer<typeof Sample>,
  ): Promise<Accepted & { readonly sample_sequence_ids: readonly string[] }> {
    const { sampling_session_id: id, seq_id: number } = request;
    const sampler = id == null ? null : this.#parts.sessions.sampler(id);
    if (sampler !== null) this.#session(sampler.session);
    const known = number == null ? undefined : sampler?.known.get(number);
    const requestId = known ?? (await this.#sample(request, sampler));
    if (known === undefined && sampler !== null && number != null) sampler.known.set(number, requestId);
    const ids = Array.from({ length: request.num_samples }, (_, index) => `${requestId}:${index}`);
    return { request_id: requestId, sample_sequence_ids: ids };
  }

  weightsInfo(path: string) {
    const { base_model: base, lora } = this.#parts.checkpoints.open(path).manifest;
    return {
      base_model: base,
      is_lora: lora.rank > 0,
      lora_rank: lora.rank,
      train_unembed: lora.trainUnembed,
      train_mlp: lora.trainMlp,
      train_attn: lora.trainAttn,
    };
  }

  checkpoints(model: string) {
    return this.#parts.checkpoints.ofModel(model).map(describeCheckpoint);
  }

  trainingRuns() {
    return this.#parts.checkpoints.models().flatMap((model) => {
      const saved = this.#parts.checkpoints.ofModel(model);
      return saved.length === 0 ? [] : [describeRun(model, saved)];
    });
  }

  removeCheckpoint(path: string): void {
    this.#parts.checkpoints.remove(path);
  }

  #session(id: string): Session {
    const session = this.#parts.sessions.session(id);
    session.lastSeen = this.#parts.now();
    return session;
  }

  /** Registers a model at once, so that requests on it can follow before it has been made. */
  #create(
    request: { session_id: string; model_seq_id: number; user_metadata?: Record<string, unknown> | null | undefined },
    facts: Pick<Model, 'base' | 'lora'>,
    make: (model: Model) => Promise<unknown>,
  ): Accepted {
    const { sessions, futures, turns, now } = this.#parts;
    const session = this.#session(request.session_id);
    const number = request.model_seq_id;
    const known = session.creating.get(number);
    if (known !== undefined) return { request_id: known };
    turns.requireRoom();
    const model = sessions.addModel(session, number, {
      ...facts,
      lastRequest: now(),
      metadata: request.user_metadata ?? null,
    });
    const id = futures.create(session.id);
    session.creating.set(number, id);
    this.#inTurn(session.id, id, async () => plainResult(await make(model)));
    return { request_id: id };
  }

  async #make(model: Model): Promise<TrainedModel> {
    const { catalogue, create, pause, log } = this.#parts;
    const base = await catalogue.open(model.base);
    model.trained = await TrainedModel.create(base, model.lora, { create, pause });
    const what = model.lora.rank === 0 ? 'all weights' : `LoRA of rank ${model.lora.rank}`;
    log(`model ${model.id}: ${base.name}, ${what}, ${model.trained.parameterCount} parameters`);
    return model.trained;
  }

  #onModel(
    id: string,
    number: number | null | undefined,
    work: (trained: TrainedModel, model: Model) => Promise<Result>,
  ): Accepted {
    const { sessions, futures, turns, now } = this.#parts;
    const model = sessions.model(id);
    this.#session(model.session);
    model.lastRequest = now();
    turns.requireRoom();
    const requestId = model.sequence.take(
      number ?? null,
      () => futures.create(model.session),
      (future) =>
        this.#inTurn(model.session, future, async () => {
          if (model.trained === null) throw new UserError(`The model ${id} could not be made.`, 'Create another.');
          return work(model.trained, model);
        }),
    );
    return { request_id: requestId };
  }

  #inTurn(session: string, id: string, work: () => Promise<Result>): void {
    const { turns, futures, bug } = this.#parts;
    turns.add(session, {
      request: null,
      group: null,
      work: async () => [await work()],
      done: (result) => futures.settle(id, result as Result),
      failed: (error) => futures.settle(id, failedResult(error, bug)),
    });
  }

  async #save(
    model: TrainedModel,
    request: z.infer<typeof SaveWeights> & { path: string },
    kind: 'weights' | 'sampler_weights',
  ): Promise<string> {
    const { checkpoints, log } = this.#parts;
    const place = { model: request.model_id, kind, name: request.path, overwrite: request.overwrite };
    const facts = {
      base: model.base.name,
      lora: model.lora,
      ttl: request.ttl_seconds ?? null,
      metadata: request.user_metadata ?? null,
    };
    const path = await checkpoints.write(place, facts, (directory) => model.save(directory));
    log(`saved ${path}`);
    return path;
  }

  async #sourceOf(
    path: string | null | undefined,
    name: string | null | undefined,
  ): Promise<Pick<Sampler, 'base' | 'path' | 'weights'>> {
    const { catalogue, checkpoints, sources } = this.#parts;
    if (path != null) {
      const checkpoint = checkpoints.open(path);
      const base = await catalogue.open(checkpoint.manifest.base_model);
      return { base: base.name, path, weights: sources.ofCheckpoint(base, checkpoint) };
    }
    if (name == null) throw new Refusal(400, 'There is neither a model_path nor a base_model to sample from.');
    const base: BaseModel = await catalogue.open(name);
    return { base: base.name, path: null, weights: sources.ofBase(base) };
  }

  async #sample(request: z.infer<typeof Sample>, sampler: Sampler | null): Promise<string> {
    const { turns, futures, samplers, bug } = this.#parts;
    turns.requireRoom();
    const session = sampler?.session ?? 'no session';
    const weights: SamplerWeights =
      sampler?.weights ?? (await this.#sourceOf(request.model_path, request.base_model)).weights;
    const id = futures.create(session);
    const wanted = sampleRequest(request, sampler === null ? id : placeOf(sampler, request.seq_id, id));
    turns.add(session, {
      request: wanted,
      group: `${weights.id} ${groupOf(wanted)}`,
      work: (requests: readonly SampleRequest[]) => samplers.sample(weights, requests),
      done: (response) => {
        this.counts.sampled += wanted.samples;
        futures.settle(id, sampledResult(response as Parameters<typeof sampledResult>[0]));
      },
      failed: (error) => futures.settle(id, failedResult(error, bug)),
    });
    return id;
  }
}

/** A request in the order of its session, without the part of the ids that is new at each start. */
function placeOf({ id }: Sampler, number: number | null | undefined, future: string): string {
  return `${id.slice(id.indexOf('-') + 1)}/${number ?? future.slice(future.indexOf('-') + 1)}`;
}

function sampleRequest(request: z.infer<typeof Sample>, place: string): SampleRequest {
  const { sampling_params: params, topk_prompt_logprobs: top } = request;
  const { stop } = params;
  return {
    prompt: tokensOf(request.prompt),
    samples: request.num_samples,
    params: {
      maxTokens: params.max_tokens ?? null,
      seed: params.seed ?? null,
      stop: typeof stop === 'string' ? [stop] : (stop ?? null),
      temperature: params.temperature,
      topK: params.top_k > 0 ? params.top_k : null,
      topP: params.top_p,
    },
    place,
    promptLogprobs: request.prompt_logprobs === true,
    topPromptLogprobs: top,
  };
}

function loraOf(config: z.infer<typeof CreateModel>['lora_config']): LoraSettings {
  if (config == null) return fullFineTuning;
  return {
    rank: config.rank,
    seed: config.seed ?? 0,
    trainUnembed: config.train_unembed,
    trainMlp: config.train_mlp,
    trainAttn: config.train_attn,
  };
}

/** @throws UserError when weights do not belong to a model of this kind. */
function requireSame({ base_model: base, lora }: Checkpoint['manifest'], model: TrainedModel): void {
  const { rank, trainUnembed, trainMlp, trainAttn } = model.lora;
  const isSame =
    base === model.base.name &&
    lora.rank === rank &&
    lora.trainUnembed === trainUnembed &&
    lora.trainMlp === trainMlp &&
    lora.trainAttn === trainAttn;
  if (isSame) return;
  throw new UserError(
    `The weights are of ${base} with rank ${lora.rank}, and the model is ${model.base.name} with rank ${rank}, or other matrices are trained.`,
    'Create the model from the weights (create_training_client_from_state).',
  );
}

function describeCheckpoint({ path, directory, manifest }: Checkpoint) {
  const [, , , kind = '', name = ''] = path.split('/');
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: kind === 'weights' ? 'training' : 'sampler',
    time: new Date(manifest.saved_at).toISOString(),
    tinker_path: path,
    size_bytes: sizeOf(directory),
    public: false,
    user_metadata: manifest.user_metadata,
    expires_at: manifest.expires_at === null ? null : new Date(manifest.expires_at).toISOString(),
  };
}

function describeRun(model: string, saved: readonly Checkpoint[]) {
  const { manifest } = saved.at(-1)!;
  const all = saved.map(describeCheckpoint);
  return {
    training_run_id: model,
    base_model: manifest.base_model,
    model_owner: 'local',
    is_lora: manifest.lora.rank > 0,
    lora_rank: manifest.lora.rank,
    last_request_time: new Date(manifest.saved_at).toISOString(),
    last_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'training') ?? null,
    last_sampler_checkpoint: all.findLast(({ checkpoint_type: type }) => type === 'sampler') ?? null,
    user_metadata: manifest.user_metadata,
  };
}
