/**
 * Everything that computes: base models, models under training, and samplers.
 *
 * A pass takes seconds on a large model, and the service has to answer meanwhile. So this object lives in a thread of
 * its own (`compute-thread.ts`); arguments and results are plain data that can be copied between threads. Its calls
 * share the thread by time slices; those on one model, or with one sampler's engine, are carried out one after the
 * other.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { initialAdapters } from '../../engine/adapters/initial-adapters.js';
import type { AdamOptions, Engine, ModelShape } from '../../engine/engine.js';
import { layout } from '../../engine/layout.js';
import type { Pause } from '../../engine/model/steps.js';
import { saveModel } from '../../hugging-face/directory.js';
import { writePeft } from '../../hugging-face/peft.js';
import { specialsOf, tokenizerFiles } from '../../hugging-face/tokenizer.js';
import type { Objective } from '../../objectives/objectives.js';
import { rng } from '../../rng.js';
import { EngineService } from '../../service/engine-service.js';
import { type Datum, lossOfDatum } from '../../service/service.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest, SampleResponse } from '../protocol/messages.js';
import { encryptFiles, writeArchive } from './archive.js';
import { datumOf, lossOf, plansOf, requireVocabulary } from './datums.js';
import type { BaseModel, ModelCatalogue } from './model-catalogue.js';
import {
  adaptersOf,
  engineOf,
  savedParameters,
  type EngineFactory,
  type LoraSettings,
  type Parameters,
} from './parameters.js';
import { SamplerSources, type SamplerSource } from './sampler-sources.js';
import { Samplers, type SampleRequest } from './samplers.js';
import { Refusal } from './refusal.js';
import { stepTime } from './step-time.js';
import type { TimeSlices } from './time-slices.js';

/** Facts of a model that has been made. `base`: name of its base model. `directory`: holds the tokenizer; absolute. */
export type MadeModel = {
  readonly base: string;
  readonly directory: string;
  readonly parameterCount: number;
  /** Engine that computes it, as `Engine.backend`. */
  readonly backend: string;
};

/** The methods of a `Computation`, wherever it runs. `signal`: ends the call at its next pause. */
export type ComputationMethods = {
  readonly [name in keyof Computation]: Computation[name] extends (...values: infer Values) => infer Result
    ? (...values: [...values: Values, signal?: AbortSignal]) => Result
    : never;
};

export class Computation {
  readonly #catalogue: ModelCatalogue;
  readonly #engines: EngineFactory;
  readonly #slices: TimeSlices;
  readonly #samplers: Samplers;
  readonly #sources = new SamplerSources();
  readonly #models = new Map<string, TrainedModel>();
  /** Times of a step, ms, by the shape of the model. */
  readonly #times = new Map<string, number>();

  constructor(catalogue: ModelCatalogue, create: EngineFactory['create'], slices: TimeSlices) {
    this.#catalogue = catalogue;
    this.#engines = { create, pause: slices.pause };
    this.#slices = slices;
    this.#samplers = new Samplers(this.#engines, slices);
  }

  /** Estimates how long a training step (`usualStep`) of a base model takes here, ms. */
  async stepTime(base: string): Promise<number> {
    const shape = this.#catalogue.shapeOf(this.#catalogue.nameOf(base));
    const key = JSON.stringify(shape);
    return this.#slices.serially(`step ${key}`, async () => {
      const open = (part: ModelShape, pause: Pause) => this.#engines.create(part, { of: shape, pause });
      const time = this.#times.get(key) ?? (await stepTime(shape, { open, pause: this.#slices.endSlice }));
      this.#times.set(key, time);
      return time;
    });
  }

  /** @param id Names the model in later calls. */
  async createModel(id: string, base: string, lora: LoraSettings): Promise<MadeModel> {
    const opened = await this.#open(base);
    return this.#slices.serially(id, async () => {
      const trained = await TrainedModel.create(opened, lora, this.#engines);
      this.#models.set(id, trained);
      const { parameterCount, backend } = trained.engine;
      return { base: opened.name, directory: opened.directory, parameterCount, backend };
    });
  }

  async forwardBackward(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    return this.#on(request.modelId, (model) => model.forwardBackward(request));
  }

  /** @returns the norm of the gradient before it was clipped. */
  async optimStep(id: string, options: AdamOptions): Promise<number> {
    return this.#on(id, (model) => model.optimStep(options));
  }

  /** Writes a model into a directory that exists. */
  async save(id: string, directory: string): Promise<void> {
    await this.#on(id, (model) => model.save(directory));
  }

  /**
   * Writes a model for other programs into a directory that exists: a LoRA for PEFT, and a model whose weights are all trained for
   * transformers.
   *
   * @param recipients Public keys of age, to which the files are encrypted; none leaves them as they are.
   */
  async export(id: string, directory: string, recipients: readonly string[]): Promise<void> {
    await this.#on(id, (model) => model.export(directory));
    if (recipients.length > 0) encryptFiles(directory, recipients);
  }

  /** Packs saved weights. @param files Names of the files of external weights. */
  async archive(directory: string, target: string, files: readonly string[]): Promise<void> {
    await writeArchive(directory, target, files);
  }

  /** @param withOptimizer false starts the optimizer from its beginning. */
  async load(id: string, directory: string, withOptimizer: boolean): Promise<void> {
    await this.#on(id, (model) => model.load(directory, withOptimizer));
  }

  /** Copies the weights of a model into memory for a sampler. */
  async keepForSampler(id: string, sampler: string): Promise<void> {
    this.#sources.keep(sampler, await this.#on(id, (model) => model.parameters()));
  }

  async forgetSampler(sampler: string): Promise<void> {
    this.#sources.forget(sampler);
  }

  /** @param requests Requests of one group (`groupOf`): their sampling settings differ in the seed alone. */
  async sample(source: SamplerSource, requests: readonly SampleRequest[]): Promise<SampleResponse[]> {
    const base = await this.#open(source.base);
    return this.#samplers.sample(this.#sources.weights(base, source), requests);
  }

  async dispose(id: string): Promise<void> {
    await this.#slices.serially(id, async () => {
      await this.#models.get(id)?.dispose();
      this.#models.delete(id);
    });
  }

  /** A base model that several ask for is built and read once. */
  #open(base: string): Promise<BaseModel> {
    return this.#slices.serially('catalogue', () => this.#catalogue.open(base));
  }

  #on<T>(id: string, work: (model: TrainedModel) => Promise<T>): Promise<T> {
    return this.#slices.serially(id, () => {
      const model = this.#models.get(id);
      if (model === undefined) throw new Refusal(410, `The model ${id} is no longer in memory.`);
      return work(model);
    });
  }
}

/** Limit of the tokens in one pass, which bounds the memory of activations. */
const TOKENS_AT_ONCE = 8192;

/** A model that a client trains: adapters or all weights of a base model, in the words of the protocol. */
class TrainedModel {
  readonly base: BaseModel;
  readonly lora: LoraSettings;
  readonly #service: EngineService;
  readonly #pause: Pause;

  private constructor(base: BaseModel, lora: LoraSettings, service: EngineService, pause: Pause) {
    this.base = base;
    this.lora = lora;
    this.#service = service;
    this.#pause = pause;
  }

  static async create(base: BaseModel, lora: LoraSettings, engines: EngineFactory): Promise<TrainedModel> {
    const adapters = adaptersOf(lora);
    const engine = await engineOf(base, adapters, engines);
    if (adapters !== null) {
      const random = rng(lora.seed, 'adapters');
      await engine.loadWeights(initialAdapters(base.shape, adapters, () => random.next()));
    }
    return new TrainedModel(base, lora, new EngineService(engine), engines.pause);
  }

  get engine(): Engine {
    return this.#service.engine;
  }

  async forwardBackward(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    const objective = lossOf(request);
    // All datums are checked before the first pass, because a request is carried out whole or not at all.
    const { vocabulary } = this.base.shape;
    const known = (token: number) => token >= 0 && token < vocabulary;
    const datums = request.data.map((datum, index) => datumOf(datum, index, { objective, known }));
    this.#checkTokens(datums);
    const logprobs: Float32Array[] = [];
    let loss = 0;
    const restore = request.forwardOnly ? null : await this.#service.engine.keepGradient();
    try {
      for (const plan of plansOf(datums, TOKENS_AT_ONCE)) {
        const learnt = await this.#compute(plan.datums, objective, request.forwardOnly);
        loss += learnt.loss;
        logprobs.push(...plan.restore(learnt.logprobs));
        await this.#pause();
      }
    } catch (error) {
      await restore?.();
      throw error;
    }
    return { logprobs, trailing: datums.map(({ trailing }) => trailing), metrics: { 'loss:sum': loss } };
  }

  async #compute(datums: readonly Datum[], objective: Objective, forwardOnly: boolean) {
    if (!forwardOnly) return this.#service.forwardBackward(datums, { objective });
    const logprobs = await this.#service.forward(datums);
    const loss = datums.reduce((sum, datum, index) => sum + lossOfDatum(datum, logprobs[index]!, objective), 0);
    return { loss, logprobs };
  }

  /** @returns the norm of the gradient before it was clipped. */
  async optimStep({ weightDecay = 0, ...options }: AdamOptions): Promise<number> {
    // In PyTorch's AdamW, whose terms the protocol uses, norms decay like all other weights. Adapters have no norms.
    const norms = layout(this.base.shape).filter(({ shape }) => shape.length === 1);
    const groups = [{ tensors: norms.map(({ name }) => name), weightDecay }];
    const decay = weightDecay > 0 ? { weightDecay, ...(this.lora.rank === 0 && { groups }) } : {};
    return (await this.#service.optimStep({ ...options, ...decay })).gradientNorm!;
  }

  async parameters(): Promise<Parameters> {
    return { base: this.base, adapters: adaptersOf(this.lora), values: await this.#service.weights() };
  }

  /** Writes the model with its tokenizer into a directory that exists; every command can read it as a model. */
  async save(directory: string): Promise<void> {
    await this.#service.saveState(directory);
    this.#copyTokenizer(directory);
  }

  async export(directory: string): Promise<void> {
    const { shape, tokenizer, directory: base } = this.base;
    const [adapter] = adaptersOf(this.lora) ?? [];
    const values = await this.#service.weights();
    if (adapter?.kind === 'lora') return writePeft(directory, shape, { adapter, parameters: values }, base);
    saveModel(directory, { config: { shape, ...specialsOf(tokenizer) }, weights: values });
    this.#copyTokenizer(directory);
  }

  #copyTokenizer(directory: string): void {
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
      throw new UserError(`${directory} holds no optimizer state.`, 'Load it without the optimizer.');
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
    datums.forEach(({ prompt, tokens, targets }, index) => {
      for (const each of [prompt, tokens, targets ?? []]) requireVocabulary(`Datum ${index}`, each, this.base);
      const { context } = this.base.shape;
      if (tokens.length < context) return;
      throw new UserError(
        `Datum ${index} has ${tokens.length} tokens, and the model's context is ${context}.`,
        'Send shorter sequences.',
      );
    });
  }
}
