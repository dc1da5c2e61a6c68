import { readFileSync } from 'node:fs';
import { AdaptedEngine } from '../../../../src/lab/engine/adapters/adapted-engine.js';
import type { AdapterConfig } from '../../../../src/lab/engine/adapters/config.js';
import { adapterLayout, computedShape } from '../../../../src/lab/engine/adapters/layout.js';
import { compiledKernels } from '../../../../src/lab/engine/create-engine.js';
import { flatFrom, weightsFrom } from '../../../../src/lab/engine/checkpoint.js';
import type { ModelShape, PromptGroup } from '../../../../src/lab/engine/engine.js';
import { loopKernels } from '../../../../src/lab/engine/kernels/loop-kernels.js';
import { layout, type Tensor } from '../../../../src/lab/engine/layout.js';
import { engineOn } from '../every-engine.js';
import { slopes, trainedLookingWeights } from '../models.js';

/** Numbers by tensor: base64 of single floats, row-major. */
type Packed = Readonly<Record<string, string>>;
type Mode = { readonly scales: Record<string, number>; readonly logprobs: string; readonly gradient: Packed };

/** What `test/fixtures/engine/adapters.py` wrote. */
export const fixture = JSON.parse(readFileSync('test/fixtures/engine/adapters.json', 'utf8')) as {
  readonly shape: ModelShape;
  readonly tokens: number[][];
  readonly prompt: number;
  readonly slopes: number[][];
  readonly weights: Packed;
  readonly single: {
    readonly rank: number;
    readonly alpha: number;
    readonly parameters: Packed;
    readonly logprobs: string;
    readonly logits: string;
    readonly gradient: Packed;
    readonly afterAdam: Packed;
  };
  readonly dual: { readonly parameters: Packed; readonly modes: Mode[] };
  readonly nets: { readonly parameters: Packed; readonly modes: Mode[] };
};

export function unpack(text: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
}

/** The flat vector of these tensors. */
export function flatOf(tensors: readonly Tensor[], packed: Packed): Float32Array {
  const stored = tensors.map(({ name, shape }) => [name, { shape, values: unpack(packed[name]!) }] as const);
  return flatFrom(tensors, new Map(stored));
}

/** The fixture's frozen weights. */
export function fixtureWeights(): Float32Array {
  const { shape, weights } = fixture;
  const stored = layout(shape).map(
    ({ name, shape: sizes }) => [name, { shape: sizes, values: unpack(weights[name]!) }] as const,
  );
  return weightsFrom(shape, new Map(stored));
}

/** The fixture's sequences, and the derivatives by their log-probabilities. */
export const sequences: readonly PromptGroup[] = fixture.tokens.map((tokens) => ({
  prompt: Int32Array.from(tokens.slice(0, fixture.prompt)),
  continuations: [Int32Array.from(tokens.slice(fixture.prompt))],
}));
export const sequenceSlopes = Float32Array.from(fixture.slopes.flat());

/** An engine of this kind with adapters, all zeros, on weights that are given or look trained. */
export async function adaptedOn(
  backend: string,
  shape: ModelShape,
  adapters: AdapterConfig,
  weights = trainedLookingWeights(shape),
): Promise<AdaptedEngine> {
  const engine = await engineOn(backend, computedShape(shape, adapters));
  const kernels = backend === 'loops' ? loopKernels() : await compiledKernels();
  return AdaptedEngine.on(engine, kernels, { shape, weights, adapters });
}

/** The same with parameters large enough that each matters. */
export async function trainedAdaptedOn(
  backend: string,
  shape: ModelShape,
  adapters: AdapterConfig,
): Promise<AdaptedEngine> {
  const engine = await adaptedOn(backend, shape, adapters);
  await engine.loadWeights(slopes(adapterLayout(shape, adapters).size, 77));
  return engine;
}
