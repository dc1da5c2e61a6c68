/** A model that a client trains: the service on an engine, adapters included, behind the words of the protocol. */
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
import type { Clip, Objective } from '../../objectives/objectives.js';
import { rng } from '../../rng.js';
import { readModel } from '../../run/model-files.js';
import { EngineService } from '../../service/engine-service.js';
import type { Datum } from '../../service/service.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from '../protocol/messages.js';
import { datumOf, lossOf } from './losses.js';
import type { BaseModel } from './model-catalogue.js';
import { plansOf } from './shared-prefixes.js';

/** Of rank 0: there are no adapters, and all weights are trained. */
export type LoraSettings = {
  readonly rank: number;
  readonly seed: number;
  readonly trainUnembed: boolean;
  readonly trainMlp: boolean;
  readonly trainAttn: boolean;
};

/** Everything that is trained, as one vector, and what it belongs to. */
export type Parameters = {
  readonly base: BaseModel;
  readonly adapters: AdapterConfig | null;
  readonly values: Float32Array;
};

/** Makes an engine for a shape: which kind, and with how many threads. */
export type EngineFactory = (shape: ModelShape) => Promise<Engine>;

/** As the service that the protocol is of has it, whatever the rank. */
const alpha = 32;
/** Tokens of a pass: between two of them other requests are taken in, and no more activations than theirs are kept. */
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
  readonly #pause: () => Promise<void>;

  private constructor(base: BaseModel, lora: LoraSettings, service: EngineService, pause: () => Promise<void>) {
    this.base = base;
    this.lora = lora;
    this.#service = service;
    this.#pause = pause;
  }

  /** @param pause Called between two passes. */
  static async create(
    base: BaseModel,
    lora: LoraSettings,
    { create, pause }: { create: EngineFactory; pause: () => Promise<void> },
  ): Promise<TrainedModel> {
    const adapters = adaptersOf(lora);
    const engine = await engineOf(base, adapters, create);
    if (adapters !== null) {
      const random = rng(lora.seed, 'adapters');
      await engine.loadWeights(initialAdapters(base.shape, adapters, () => random.next()));
    }
    return new TrainedModel(base, lora, new EngineService(engine), pause);
  }

  get parameterCount(): number {
    return this.#service.engine.parameterCount;
  }

  async forwardBackward(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    const objective = lossOf(request);
    // Everything is looked at before anything is learnt: a request is done whole or not at all.
    const datums = request.data.map((datum, index) => datumOf(datum, index, objective));
    this.#checkTokens(datums);
    const logprobs: Float32Array[] = [];
    let loss = 0;
    for (const plan of plansOf(datums, TOKENS_AT_ONCE)) {
      await this.#pause();
      const learnt = await this.#compute(plan.datums, objective, request.forwardOnly);
      loss += learnt.loss;
      logprobs.push(...plan.restore(learnt.logprobs));
    }
    return { logprobs, metrics: { 'loss:sum': loss } };
  }

  async #compute(datums: readonly Datum[], objective: Objective, forwardOnly: boolean) {
    if (!forwardOnly) return this.#service.forwardBackward(datums, { objective });
    const logprobs = await this.#service.forward(datums);
    const loss = datums.reduce((sum, datum, index) => sum + lossAlone(objective, datum, logprobs[index]!), 0);
    return { loss, logprobs };
  }

  /** @returns the norm of the gradient before it was clipped. */
  async optimStep(options: AdamOptions): Promise<number> {
    return (await this.#service.optimStep(options)).gradientNorm!;
  }

  async parameters(): Promise<Parameters> {
    return { base: this.base, adapters: adaptersOf(this.lora), values: await this.#service.weights() };
  }

  /** Into a directory that exists, with the tokenizer: so other commands can use the weights as any model's. */
  async save(directory: string): Promise<void> {
    await this.#service.saveState(directory);
    for (const name of Object.values(tokenizerFiles)) {
      const from = join(this.base.directory, name);
      if (existsSync(from)) copyFileSync(from, join(directory, name));
    }
  }

  /** @param withOptimizer Otherwise the optimizer begins anew. */
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
    const { vocabulary, context } = this.base.shape;
    datums.forEach(({ prompt, tokens }, index) => {
      const wrong = [prompt[0]!, ...tokens].find((token) => !(token >= 0 && token < vocabulary));
      if (wrong !== undefined) {
        throw new UserError(
          `Datum ${index} has the token ${wrong}, and the vocabulary ends at ${vocabulary - 1}.`,
          'Use the tokenizer of the model.',
        );
      }
      if (tokens.length < context) return;
      throw new UserError(
        `Datum ${index} has ${tokens.length} tokens, and the model's context is ${context}.`,
        'Send shorter sequences.',
      );
    });
  }
}

/** What was trained of a saved model. */
export function savedParameters(directory: string) {
  const { weights, optimizer, adapters } = readModel(directory);
  return adapters === null
    ? { values: weights, optimizer }
    : { values: adapters.parameters, optimizer: adapters.optimizer };
}

/** Of a datum that is scored and not learnt from. */
function lossAlone(objective: Objective, datum: Datum, scores: Float32Array): number {
  const { weights, advantages, logprobs } = datum;
  const at = (values: ArrayLike<number> | undefined, token: number, otherwise: number) => values?.[token] ?? otherwise;
  return scores.reduce((sum, lp, token) => {
    if (weights[token] === 0) return sum;
    const [q, advantage] = [at(logprobs, token, lp), at(advantages, token, 0)];
    return sum + weights[token]! * objective.loss(lp, q, advantage, clipOf(objective, datum, token));
  }, 0);
}

function clipOf({ clip }: Objective, { clips }: Datum, token: number): Clip | undefined {
  if (clip === undefined || clips === undefined) return clip;
  return { low: clips.low?.[token] ?? clip.low, high: clips.high?.[token] ?? clip.high };
}
