import { compiledKernels, createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine, ModelShape, PromptGroup } from '../../../src/lab/engine/engine.js';
import type { Kernels } from '../../../src/lab/engine/kernels/kernels.js';
import { loopKernels } from '../../../src/lab/engine/kernels/loop-kernels.js';
import { offsetsOf } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';

/** The sets of kernels: what is said of an engine must hold on each. On threads every call is cut that can be, however small. */
export const backends = ['wasm', 'wasm on 2 threads', 'loops'] as const;
export type Backend = (typeof backends)[number];

/** Small, with everything odd that the interface allows: grouped queries, an untied head, no width a multiple of 8. */
export const oddShape: ModelShape = {
  vocabulary: 13,
  width: 24,
  layers: 2,
  heads: 6,
  kvHeads: 2,
  feedForward: 20,
  tied: false,
  ropeTheta: 500,
  normEpsilon: 1e-6,
  context: 24,
};

/** Biases as Qwen2 has them, and RoPE as Llama 3.1 scales it: a pair that stays, one between, and others that are stretched. */
export const scaledShape: ModelShape = {
  ...oddShape,
  width: 32,
  heads: 4,
  kvHeads: 2,
  qkvBias: true,
  ropeScaling: { factor: 8, lowFrequency: 1, highFrequency: 4, originalContext: 32 },
};

/** Heads of 12 floats, so that the vector loops have tails, and a tied head over a vocabulary above 64. */
export const tailShape: ModelShape = { ...presets.micro, vocabulary: 70, width: 36, heads: 3, kvHeads: 1, context: 20 };

/** @param keptScores For fewer than an engine keeps otherwise. */
export async function makeEngine(backend: Backend, shape: ModelShape, keptScores = 2 ** 24): Promise<Engine> {
  return createEngine(shape, { kernels: await kernelsOf(backend), keptScores });
}

export async function kernelsOf(backend: Backend): Promise<Kernels> {
  if (backend === 'loops') return loopKernels();
  return compiledKernels(backend === 'wasm' ? {} : { threads: 2, leastWork: 0 });
}

/** An engine with weights large enough that every part of the model matters. */
export async function trainedLooking(backend: Backend, shape: ModelShape): Promise<Engine> {
  const engine = await makeEngine(backend, shape);
  await engine.loadWeights(trainedLookingWeights(shape));
  return engine;
}

/** Large enough that every part of the model matters. */
export function trainedLookingWeights(shape: ModelShape): Float32Array {
  const next = numbers(3);
  return Float32Array.from({ length: offsetsOf(shape).size }, () => (next() - 0.5) * 0.8);
}

/** Uniform in [0, 1), the same for the same seed (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Groups of random tokens; `lengths` lists for each group its prompt's length and those of its continuations. */
export function groupsOf(shape: ModelShape, lengths: readonly (readonly number[])[], seed = 5): PromptGroup[] {
  const next = numbers(seed);
  const tokens = (length: number) => Int32Array.from({ length }, () => Math.floor(next() * shape.vocabulary));
  return lengths.map(([prompt, ...rest]) => ({ prompt: tokens(prompt!), continuations: rest.map(tokens) }));
}

/** `count` numbers in [−½, ½). */
export function slopes(count: number, seed: number): Float32Array {
  const next = numbers(seed);
  return Float32Array.from({ length: count }, () => next() - 0.5);
}

export function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  let most = 0;
  for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i]! - b[i]!));
  return most;
}
