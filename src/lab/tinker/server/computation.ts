/**
 * All that computes: base models, models under training, and samplers.
 *
 * A pass takes seconds on a large model, and the service has to answer meanwhile. So this object lives in a thread of its own
 * (`compute-thread.ts`); arguments and results are plain data that can be copied between threads.
 */
import type { AdamOptions } from '../../engine/engine.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest, SampleResponse } from '../protocol/messages.js';
import type { ModelCatalogue } from './model-catalogue.js';
import { SamplerSources, type SamplerSource } from './sampler-sources.js';
import { Samplers, type SampleRequest } from './samplers.js';
import { TrainedModel, type EngineFactory, type LoraSettings } from './trained-model.js';

/** Facts of a model that has been made. `base`: name of its base model. `directory`: holds the tokenizer; absolute. */
export type MadeModel = { readonly base: string; readonly directory: string; readonly parameterCount: number };

/** The methods of a `Computation`, wherever it runs. */
export type Computing = Pick<Computation, keyof Computation>;

export class Computation {
  readonly #catalogue: ModelCatalogue;
  readonly #create: EngineFactory;
  readonly #samplers: Samplers;
  readonly #sources = new SamplerSources();
  readonly #models = new Map<string, TrainedModel>();

  constructor(catalogue: ModelCatalogue, create: EngineFactory) {
    this.#catalogue = catalogue;
    this.#create = create;
    this.#samplers = new Samplers(create);
  }

  /** @param id Names the model in later calls. */
  async createModel(id: string, base: string, lora: LoraSettings): Promise<MadeModel> {
    const { name, directory, ...model } = await this.#catalogue.open(base);
    const trained = await TrainedModel.create({ name, directory, ...model }, lora, this.#create);
    this.#models.set(id, trained);
    return { base: name, directory, parameterCount: trained.parameterCount };
  }

  async forwardBackward(request: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    return this.#model(request.modelId).forwardBackward(request);
  }

  /** @returns the norm of the gradient before it was clipped. */
  async optimStep(id: string, options: AdamOptions): Promise<number> {
    return this.#model(id).optimStep(options);
  }

  /** Writes a model into a directory that exists. */
  async save(id: string, directory: string): Promise<void> {
    await this.#model(id).save(directory);
  }

  /** @param withOptimizer false starts the optimizer from its beginning. */
  async load(id: string, directory: string, withOptimizer: boolean): Promise<void> {
    await this.#model(id).load(directory, withOptimizer);
  }

  /** Copies the weights of a model into memory for a sampler. */
  async keepForSampler(id: string, sampler: string): Promise<void> {
    this.#sources.keep(sampler, await this.#model(id).parameters());
  }

  async forgetSampler(sampler: string): Promise<void> {
    this.#sources.forget(sampler);
  }

  /** @param requests Requests of one group (`groupOf`): their sampling settings differ in the seed alone. */
  async sample(source: SamplerSource, requests: readonly SampleRequest[]): Promise<SampleResponse[]> {
    const base = await this.#catalogue.open(source.base);
    return this.#samplers.sample(this.#sources.weights(base, source), requests);
  }

  async dispose(id: string): Promise<void> {
    await this.#models.get(id)?.dispose();
    this.#models.delete(id);
  }

  #model(id: string): TrainedModel {
    return this.#models.get(id)!;
  }
}
