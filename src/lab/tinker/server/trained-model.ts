/** A model that a client trains: adapters or all weights of a base model, in the words of the protocol. */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import { allLayers, type AdapterConfig } from '../../engine/adapters/config.js';
import { initialAdapters } from '../../engine/adapters/initial-adapters.js';
import { computedShape } from '../../engine/adapters/layout.js';
import { compiledKernels } from '../../engine/create-engine.js';
import type { AdamOptions, Engine, ModelShape } from '../../engine/engine.js';
import { tokenizerFiles } from '../../hugging-face/tokenizer.js';
import type { Objective } from '../../objectives/objectives.js';
import { rng } from '../../rng.js';
import { readModel } from '../../run/model-files.js';
import { EngineService } from '../../service/engine-service.js';
import { lossOfDatum } from '../../service/loss-terms.js';
import type { Datum } from '../../service/service.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from '../protocol/messages.js';
import { datumOf, lossOf } from './losses.js';
import type { BaseModel } from './model-catalogue.js';
import { plansOf } from './shared-prefixes.js';

/** Matrices that have adapters, and their rank. Rank 0 stands for no adapters: all weights are trained. */
export type LoraSettings = {
  readonly rank: number;
  readonly seed: number;
  readonly trainUnembed: boolean;
  readonly trainMlp: boolean;
  readonly trainAttn: boolean;
};

/** The trained numbers as one vector, and the model and adapters they belong to. */
export type Parameters = {
  readonly base: BaseModel;
  readonly adapters: AdapterConfig | null;
  readonly values: Float32Array;
};

/** Makes an engine for a shape; decides its kind and its number of threads. */
export type EngineFactory = (shape: ModelShape) => Promise<Engine>;

/** Tinker's own service uses this alpha for every rank. */
const alpha = 32;
/** Limit of the tokens in one pass, which bounds the memory of activations. */
const TOKENS_AT_ONCE = 8192;

export function adaptersOf(lora: LoraSettings): AdapterConfig | null {
  if (lora.rank === 0) return null;
  const targets = [
    ...(lora.trainAttn ? (['q_proj', 'k_proj', 'v_proj', 'o_proj'] as const) : []),
    ...(lora.trainMlp ? (['gate_proj', 'up_proj', 'down_proj'] as const) : []),
    ...(lora.trainUnembed ? (['lm_head'] as const) : []),
  ];
  const [first, ...more] = targets;
  if (first === undefined)
    throw new UserError('The lora_config trains nothing.', 'Set train_attn, train_mlp or train_unembed.');
  return [{ kind: 'lora', name: 'lora', rank: lora.rank, alpha, layers: allLayers, targets: [first, ...more] }];
}

/** The engine of a base model, with adapters whose parameters are zero until they are loaded. */
export async function engineOf(
  base: BaseModel,
  adapters: AdapterConfig | null,
  create: EngineFactory,
): Promise<Engine> {
  const { shape, weights } = base;
  if (adapters === null) {
    const engine = await create(shape);
    await engine.loadWeights(weights);
    return engine;
  }
  const engine = await create(computedShape(shape, adapters));
  return AdaptedEngine.on(engine, await compiledKernels(), { shape, weights, adapters });
}

export class TrainedModel {
  readonly base: BaseModel;
  readonly lora: LoraSettings;
  readonly #service: EngineService;

  private constructor(base: BaseModel, lora: LoraSettings, service: EngineService) {
    this.base = base;
    this.lora = lora;
    this.#service = service;
  }

  static async create(base: BaseModel, lora: LoraSettings, create: EngineFactory): Promise<TrainedModel> {
    const adapters = adaptersOf(lora);
    const engine = await engineOf(base, adapters, create);
    if (adapters !== null) {
      const random = rng(lora.seed, 'adapters');
      await engine.loadWeights(initialAdapters(base.shape, adapters, () => random.next()));
    }
    return new TrainedModel(base, lora, new EngineService(engine));
  }

  get parameterCount(): number {
    return this.#service.engine.parameterCount;
  }

  async forwardBackward(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    const objective = lossOf(request);
    // All datums are checked before the first pass, because a request is carried out whole or not at all.
    const datums = request.data.map((datum, index) => datumOf(datum, index, objective));
    this.#checkTokens(datums);
    const logprobs: Float32Array[] = [];
    let loss = 0;
    for (const plan of plansOf(datums, TOKENS_AT_ONCE)) {
      const learnt = await this.#compute(plan.datums, objective, request.forwardOnly);
      loss += learnt.loss;
      logprobs.push(...plan.restore(learnt.logprobs));
    }
    return { logprobs, metrics: { 'loss:sum': loss } };
  }

  async #compute(datums: readonly Datum[], objective: Objective, forwardOnly: boolean) {
    if (!forwardOnly) return this.#service.forwardBackward(datums, { objective });
    const logprobs = await this.#service.forward(datums);
    const loss = datums.reduce((sum, datum, index) => sum + lossOfDatum(datum, logprobs[index]!, objective), 0);
    return { loss, logprobs };
  }

  /** @returns the norm of the gradient before it was clipped. */
  async optimStep(options: AdamOptions): Promise<number> {
    return (await this.#service.optimStep(options)).gradientNorm!;
  }

  async parameters(): Promise<Parameters> {
    return { base: this.base, adapters: adaptersOf(this.lora), values: await this.#service.weights() };
  }

  /** Writes the model with its tokenizer into a directory that exists; every command can read it as a model. */
  async save(directory: string): Promise<void> {
    await this.#service.saveState(directory);
    for (const name of Object.values(tokenizerFiles)) {
      const from = join(this.base.directory, name);
      if (existsSync(from)) copyFileSync(from, join(directory, name));
    }
  }

  /** @param withOptimizer false starts the optimizer from its beginning. */
  async load(directory: string, withOptimizer: boolean): Promise<void> {
    const { engine } = this.#service;
    const { values, optimizer } = savedParameters(directory);
    if (withOptimizer && optimizer === null) {
      throw new UserError(`${directory} holds no state of an optimizer.`, 'Load it without the optimizer.');
    }
    await engine.loadWeights(values);
    const zeros = () => new Float32Array(values.length);
    await engine.loadOptimizerState(withOptimizer ? optimizer! : { step: 0, m: zeros(), v: zeros() });
    await engine.clearGradient();
  }

  dispose(): Promise<void> {
    return this.#service.engine.dispose();
  }

  #checkTokens(datums: readonly Datum[]): void {
    datums.forEach(({ prompt, tokens }, index) => {
      requireVocabulary(`Datum ${index}`, [prompt[0]!, ...tokens], this.base);
      const { context } = this.base.shape;
      if (tokens.length < context) return;
      throw new UserError(
        `Datum ${index} has ${tokens.length} tokens, and the model's context is ${context}.`,
        'Send shorter sequences.',
      );
    });
  }
}

/** @throws UserError when the model has no such token. */
export function requireVocabulary(what: string, tokens: ArrayLike<number>, { shape }: BaseModel): void {
  const wrong = Array.from(tokens).find((token) => !(token >= 0 && token < shape.vocabulary));
  if (wrong === undefined) return;
  throw new UserError(
    `${what} has the token ${wrong}, and the vocabulary ends at ${shape.vocabulary - 1}.`,
    'Use the tokenizer of the model.',
  );
}

/** The trained numbers of a saved model, and the state of its optimizer. */
export function savedParameters(directory: string) {
  const { weights, optimizer, adapters } = readModel(directory);
  return adapters === null
    ? { values: weights, optimizer }
    : { values: adapters.parameters, optimizer: adapters.optimizer };
}
