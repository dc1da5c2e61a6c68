import type { ModelShape } from '../engine.js';
import type { AdapterConfig } from './config.js';
import { adapterLayout, placesOf } from './layout.js';

/**
 * Fresh adapters as one flat vector, with which the model equals the frozen one: input matrices (A; G and U) are
 * uniform in ±1/√inputs, Kaiming's rule with a = √5, and output matrices (B; D) are 0.
 *
 * @param uniform A stream of numbers in [0, 1); one is drawn for each number that is not 0, tensor by tensor.
 */
export function initialAdapters(shape: ModelShape, adapters: AdapterConfig, uniform: () => number): Float32Array {
  const { tensors, size } = adapterLayout(shape, adapters);
  const parameters = new Float32Array(size);
  for (const tensor of tensors) {
    if (/\.(lora_B|down_adapter)\./.test(tensor.name)) continue;
    const most = 1 / Math.sqrt(tensor.shape[1]!);
    for (const place of placesOf(tensor)) parameters[place] = (2 * uniform() - 1) * most;
  }
  return parameters;
}
