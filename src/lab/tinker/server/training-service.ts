/** The protocol's operations on sessions and on models under training. Knows nothing of HTTP. */
import { UserError } from '../../../base/user-error.js';
import type { ForwardBackwardRequest } from '../protocol/messages.js';
import type { Checkpoint, Checkpoints } from './checkpoints.js';
import type { ComputationMethods, MadeModel } from './computation.js';
import type { Futures, RequestQueue, Result } from './futures.js';
import { Refusal } from './refusal.js';
import type { CreateModel, CreateSession, LoadWeights, OptimStep, SaveExternal, SaveWeights } from './requests.js';
import { learntResult, plainResult } from './results.js';
import type { Model, Sessions } from './sessions.js';
import type { LoraSettings } from './parameters.js';
import type { StepCosts } from './step-costs.js';
import type { weightKinds } from '../../run/served-weights.js';

type TrainingParts = {
  readonly checkpoints: Checkpoints;
  readonly sessions: Sessions;
  readonly futures: Futures;
  readonly queue: RequestQueue;
  readonly computing: ComputationMethods;
  readonly costs: StepCosts;
  /** Limit of the models in memory. */
  readonly mostModels: number;
  /** Receives one line of the log. */
  readonly log: (line: string) => void;
  /** Receives errors that no request caused. */
  readonly bug: (error: unknown) => void;
};

export type AcceptedRequest = { readonly request_id: string };

/** The model of a request, and the number of the request among those on this model. */
type ModelPlace = Pick<SaveWeights, 'model_id' | 'seq_id'>;

type Ready = Model & { readonly made: MadeModel };

const fullFineTuning: LoraSettings = { rank: 0, seed: 0, trainUnembed: true, trainMlp: true, trainAttn: true };

export class TrainingService {
  readonly #parts: TrainingParts;
  /** Models that are being made. */
  #making = 0;

  constructor(parts: TrainingParts) {
    this.#parts = parts;
  }

  createSession({ sdk_version: version, display_name: name = null, user_metadata: metadata = null }: CreateSession) {
    const { sessions, log } = this.#parts;
    const session = sessions.begin({ name, metadata });
    log(`session ${session.id} begins${version == null ? '' : ` (SDK ${version})`}`);
    return { type: 'create_session', session_id: session.id };
  }

  heartbeat(id: string): void {
    this.#parts.sessions.touch(id);
  }

  finish(id: string, why = 'finished'): void {
    const { sessions, queue, futures, computing, log } = this.#parts;
    const session = sessions.session(id);
    queue.drop(id, new Refusal(410, `The session ${id} has ended.`));
    futures.forgetSession(id);
    sessions.end(session);
    // The thread frees memory after its current work; nobody waits for that.
    const freed = [
      ...[...session.samplers.values()].map((sampler) => computing.forgetSampler(sampler.id)),
      ...[...session.models.values()].map((model) => computing.dispose(model.id)),
    ];
    Promise.all(freed).catch((error: unknown) => this.#parts.bug(error));
    log(`session ${id} ${why}`);
  }

  /** Ends the sessions whose clients have been silent for longer than `ms`. */
  endIdle(ms: number): void {
    for (const { id } of this.#parts.sessions.idle(ms)) this.finish(id, 'has been silent, and ends');
  }

  createModel(request: CreateModel): AcceptedRequest {
    requireAdam(request.optimizer_config);
    const lora = loraOf(request.lora_config);
    return this.#create(request, { base: request.base_model, lora }, async (model, signal) => {
      await this.#make(model, signal);
      return { type: 'create_model', model_id: model.id };
    });
  }

  /** Frees the memory of a model. Its session goes on, and its saved weights stay. */
  unload(id: string): AcceptedRequest {
    return this.#onModel({ model_id: id, seq_id: null }, async (model) => {
      await this.#parts.computing.dispose(id);
      this.#parts.sessions.endModel(model);
      return plainResult({ type: 'unload_model', model_id: id });
    });
  }

  info(id: string) {
    const { base: name, lora, made } = this.#parts.sessions.model(id);
    if (made === null) throw new Refusal(409, `The model ${id} is being made; ask again when it is there.`);
    const modelData = { arch: 'llama', model_name: name, tokenizer_id: made.directory };
    return {
      type: 'get_info',
      model_data: modelData,
      model_id: id,
      model_name: name,
      is_lora: lora.rank > 0,
      lora_rank: lora.rank,
    };
  }

  /** @param bytes Size of the request. */
  forwardBackward(request: ForwardBackwardRequest, bytes: number): AcceptedRequest {
    const work = async ({ session }: Ready, signal: AbortSignal) => {
      const output = await this.#parts.computing.forwardBackward(request, signal);
      this.#parts.sessions.session(session).done.trained += request.data.length;
      return learntResult(output);
    };
    return this.#onModel({ model_id: request.modelId, seq_id: request.seqId }, work, bytes);
  }

  /** Keeps the place of an invalid request in its model's order, since later ones would wait for it forever. */
  refuse(place: ModelPlace, error: unknown): AcceptedRequest {
    return this.#onModel(place, () => {
      throw error;
    });
  }

  optimStep({ adam_params: adam, ...place }: OptimStep): AcceptedRequest {
    return this.#onModel(place, async ({ id, session }) => {
      const norm = await this.#parts.computing.optimStep(id, {
        learningRate: adam.learning_rate,
        beta1: adam.beta1,
        beta2: adam.beta2,
        epsilon: adam.eps,
        weightDecay: adam.weight_decay,
        ...(adam.grad_clip_norm > 0 && { clipNorm: adam.grad_clip_norm }),
      });
      this.#parts.sessions.session(session).done.steps++;
      return plainResult({ type: 'optim_step', metrics: { 'optim/grad_norm': norm } });
    });
  }

  saveWeights(request: SaveWeights): AcceptedRequest {
    return this.#onModel(request, async (model) => {
      const { path: name } = request;
      if (name == null) throw new UserError('save_weights has no path.', 'Give the weights a name.');
      const path = await this.#save(model, { ...request, path: name }, 'weights');
      return plainResult({ type: 'save_weights', path });
    });
  }

  saveForSampler(request: SaveWeights): AcceptedRequest {
    return this.#onModel(request, async (model) => {
      const { path: name, sampling_session_seq_id: number } = request;
      const type = 'save_weights_for_sampler';
      if (name != null) {
        const path = await this.#save(model, { ...request, path: name, overwrite: true }, 'sampler_weights');
        return plainResult({ type, path });
      }
      if (number == null) throw new UserError('The weights have neither a path nor a sampling session.', 'Give one.');
      const { sessions, computing } = this.#parts;
      const id = `${model.session}:sample:${number}`;
      await computing.keepForSampler(model.id, id);
      const weights = { path: null, source: { kind: 'memory', id, base: model.made.base } } as const;
      const sampler = sessions.addSampler(sessions.session(model.session), number, weights);
      return plainResult({ type, sampling_session_id: sampler.id });
    });
  }

  saveExternal(request: SaveExternal): AcceptedRequest {
    const { age_encryption_recipients: recipients } = request;
    return this.#onModel(request, async (model) => {
      const path = await this.#save(model, { ...request, overwrite: true }, 'external_weights', (directory) =>
        this.#parts.computing.export(model.id, directory, recipients ?? []),
      );
      return plainResult({ type: 'save_weights_external', path });
    });
  }

  loadWeights(request: LoadWeights): AcceptedRequest {
    const { path, optimizer, model_id: id } = request;
    const { checkpoints, computing } = this.#parts;
    requireAdam(request.optimizer_config);
    if (id != null) {
      return this.#onModel({ model_id: id, seq_id: request.seq_id }, async (model) => {
        const { directory, manifest } = checkpoints.openOwn(path);
        requireSame(manifest, model);
        await computing.load(id, directory, optimizer);
        return plainResult({ type: 'load_weights', path, model_id: id });
      });
    }
    const { directory, manifest } = checkpoints.openOwn(path);
    const { session_id: session, model_seq_id: number } = request;
    if (session == null || number == null) throw new Refusal(400, 'load_weights names neither a model nor a session.');
    const creating = { session_id: session, model_seq_id: number };
    return this.#create(creating, { base: manifest.base_model, lora: manifest.lora }, async (model) => {
      await this.#make(model);
      await computing.load(model.id, directory, optimizer);
      return { type: 'load_weights', path, model_id: model.id };
    });
  }

  /** Registers a model at once, so that requests on it can follow before it has been made. */
  #create(
    request: { session_id: string; model_seq_id: number },
    facts: Pick<Model, 'base' | 'lora'>,
    make: (model: Model, signal: AbortSignal) => Promise<unknown>,
  ): AcceptedRequest {
    const { sessions, futures } = this.#parts;
    const session = sessions.touch(request.session_id);
    const number = request.model_seq_id;
    const known = session.creating.get(number);
    if (known !== undefined) return { request_id: known };
    const id = futures.create(session.id, 0);
    const model = sessions.addModel(session, number, facts);
    session.creating.set(number, id);
    this.#enqueue(session.id, id, async (signal) => plainResult(await make(model, signal)));
    return { request_id: id };
  }

  async #make(model: Model, signal?: AbortSignal): Promise<void> {
    const { computing, costs, sessions, mostModels, log, bug } = this.#parts;
    const { id, lora } = model;
    if (sessions.madeModels + this.#making >= mostModels) {
      throw new UserError(
        `There are ${mostModels} models in memory.`,
        'Finish a session, or serve with more max_models.',
      );
    }
    this.#making++;
    try {
      model.made = await computing.createModel(id, model.base, lora, signal);
    } finally {
      this.#making--;
    }
    const what = lora.rank === 0 ? 'all weights' : `LoRA of rank ${lora.rank}`;
    const { base, parameterCount, backend } = model.made;
    log(`model ${id}: ${base}, ${what}, ${parameterCount} parameters, computed by ${backend}`);
    costs.logIfSlow(id, base).catch((error: unknown) => bug(error));
  }

  /** @param bytes Size of the request. */
  #onModel(
    place: ModelPlace,
    work: (model: Ready, signal: AbortSignal) => Promise<Result>,
    bytes = 0,
  ): AcceptedRequest {
    const { sessions, futures } = this.#parts;
    const model = sessions.model(place.model_id);
    sessions.touch(model.session);
    const requestId = model.sequence.take(
      place.seq_id ?? null,
      () => futures.create(model.session, bytes),
      (future) =>
        this.#enqueue(model.session, future, async (signal) => {
          const { made } = model;
          if (made === null) throw new UserError(`The model ${model.id} could not be made.`, 'Create another.');
          return work({ ...model, made }, signal);
        }),
    );
    return { request_id: requestId };
  }

  #enqueue(session: string, id: string, work: (signal: AbortSignal) => Promise<Result>): void {
    const { queue, futures } = this.#parts;
    const giveUp = queue.add(session, {
      request: null,
      group: null,
      work: async (_, signal) => [await work(signal)],
      done: (result) => futures.settle(id, result as Result),
      failed: (error) => futures.fail(id, error),
    });
    futures.onCancel(id, giveUp);
  }

  /** @param write Writes the weights into a directory that exists. */
  async #save(
    model: Ready,
    request: Pick<SaveWeights, 'ttl_seconds' | 'overwrite'> & {
      path: string;
      user_metadata?: SaveWeights['user_metadata'];
    },
    kind: (typeof weightKinds)[number],
    write = (directory: string) => this.#parts.computing.save(model.id, directory),
  ): Promise<string> {
    const { checkpoints, log } = this.#parts;
    const place = { model: model.id, kind, name: request.path, overwrite: request.overwrite };
    const facts = {
      base: model.made.base,
      lora: model.lora,
      ttl: request.ttl_seconds ?? null,
      metadata: request.user_metadata ?? null,
    };
    const path = await checkpoints.write(place, facts, write);
    log(`saved ${path}`);
    return path;
  }
}

/** @throws Refusal for an optimizer that is not there. */
function requireAdam(optimizer: CreateModel['optimizer_config']): void {
  if (optimizer != null && optimizer.type !== 'adamw') {
    throw new Refusal(400, `There is no optimizer ${optimizer.type} here; use adamw.`);
  }
}

function loraOf(config: CreateModel['lora_config']): LoraSettings {
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
function requireSame({ base_model: base, lora }: Checkpoint['manifest'], model: Ready): void {
  const { rank, trainUnembed, trainMlp, trainAttn } = model.lora;
  const isSame =
    base === model.made.base &&
    lora.rank === rank &&
    lora.trainUnembed === trainUnembed &&
    lora.trainMlp === trainMlp &&
    lora.trainAttn === trainAttn;
  if (isSame) return;
  throw new UserError(
    `The weights are of ${base} with rank ${lora.rank}, and the model is ${model.made.base} with rank ${rank}, or other matrices are trained.`,
    'Create the model from the weights (create_training_client_from_state).',
  );
}
