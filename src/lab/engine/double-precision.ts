import { AdaptedEngine } from './adapters/adapted-engine.js';
import { computedShape } from './adapters/layout.js';
import { createEngine } from './create-engine.js';
import type { Engine } from './engine.js';
import { loopKernels } from './kernels/loop-kernels.js';
import { layout } from './layout.js';

/** A copy of a model in double precision, with its adapters and the optimizer's state. Some twenty times slower: for small models. */
export async function inDoublePrecision(engine: Engine): Promise<Engine> {
  const kernels = () => loopKernels('double');
  const isAdapted = engine instanceof AdaptedEngine;
  const shape = isAdapted ? computedShape(engine.shape, engine.adapters) : engine.shape;
  const plain = await createEngine(shape, { kernels: kernels() });
  const adaptation = isAdapted ? { ...engine, weights: engine.frozenWeights() } : null;
  const copy = adaptation === null ? plain : await AdaptedEngine.on(plain, kernels(), adaptation);
  if (isAdapted) await (copy as AdaptedEngine).setScales(engine.scales);
  await copy.loadWeights(await engine.weights());
  await copy.loadOptimizerState(await engine.optimizerState());
  return copy;
}

/** Tells which of the trained numbers have weight decay by default: matrices, but not norms. */
export function decayingWeights(engine: Engine): (index: number) => boolean {
  const tensors = engine instanceof AdaptedEngine ? engine.tensors : layout(engine.shape);
  const norms = new Set<number>();
  for (const { shape, offset } of tensors) {
    if (shape.length === 1) for (let at = 0; at < shape[0]; at++) norms.add(offset + at);
  }
  return (index) => !norms.has(index);
}
