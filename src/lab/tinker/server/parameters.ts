/** Parameters of models and their engines: a base model alone, or with adapters, in the words of the protocol. */
import { UserError } from '../../../base/user-error.js';
import { AdaptedEngine } from '../../engine/adapters/adapted-engine.js';
import { allLayers, type AdapterConfig } from '../../engine/adapters/config.js';
import { computedShape } from '../../engine/adapters/layout.js';
import { compiledKernels } from '../../engine/create-engine.js';
import type { Engine, ModelShape } from '../../engine/engine.js';
import type { Pause } from '../../engine/model/steps.js';
import { readModel } from '../../run/model-files.js';
import type { BaseModel } from './model-catalogue.js';

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

/** An engine, and the number of its threads; null where these are not ours. */
export type OpenedEngine = { readonly engine: Engine; readonly threads: number | null };

/**
 * `create`: makes an engine for a shape; decides its kind and its number of threads, which is that of the model `of` where the shape is a
 * part of it. `pause`: called between the steps of long computations.
 */
export type EngineFactory = {
  readonly create: (
    shape: ModelShape,
    part?: { readonly of: ModelShape; readonly pause: Pause },
  ) => Promise<OpenedEngine>;
  readonly pause: Pause;
};

/** Tinker's own service uses this alpha for every rank. */
const alpha = 32;

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
  { create, pause }: EngineFactory,
): Promise<Engine> {
  const { shape, weights } = base;
  if (adapters === null) {
    const { engine } = await create(shape);
    await engine.loadWeights(weights);
    return engine;
  }
  const { engine } = await create(computedShape(shape, adapters));
  return AdaptedEngine.on(engine, await compiledKernels(), { shape, weights, adapters }, pause);
}

/** The trained numbers of a saved model, and the state of its optimizer. */
export function savedParameters(directory: string) {
  const { weights, optimizer, adapters } = readModel(directory);
  return adapters === null
    ? { values: weights, optimizer }
    : { values: adapters.parameters, optimizer: adapters.optimizer };
}
