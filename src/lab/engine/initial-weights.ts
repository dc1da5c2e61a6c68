import type { ModelShape } from './engine.js';
import { layout, offsetsOf, type Tensor } from './layout.js';
import { checkShape } from './model-shape.js';

const deviation = 0.02;

/**
 * Fresh weights as one flat vector: N(0, 0.02²), the two matrices of each layer that write to the residual stream
 * divided by √(2 · layers) (GPT-2's rule), norms 1, biases 0.
 *
 * @param uniform A stream of numbers in [0, 1); two are drawn for each two weights, tensor by tensor as in `layout`.
 */
export function initialWeights(shape: ModelShape, uniform: () => number): Float32Array {
  checkShape(shape);
  const weights = new Float32Array(offsetsOf(shape).size);
  const residual = deviation / Math.sqrt(2 * shape.layers);
  for (const tensor of layout(shape)) {
    const writesResidual = /\.(o_proj|down_proj)\./.test(tensor.name);
    if (tensor.name.endsWith('.bias')) continue;
    if (tensor.shape.length === 1) weights.fill(1, tensor.offset, tensor.offset + tensor.shape[0]);
    else fillNormal(weights, tensor, writesResidual ? residual : deviation, uniform);
  }
  return weights;
}

function fillNormal(weights: Float32Array, tensor: Tensor, scale: number, uniform: () => number): void {
  const [rows, columns = 1] = tensor.shape;
  const [rowStride, columnStride = 0] = tensor.strides;
  // Box–Muller gives two numbers at a time; the last one of an odd count is dropped.
  let spare: number | null = null;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const [now, next]: [number, number | null] = spare === null ? normalPair(uniform) : [spare, null];
      spare = next;
      weights[tensor.offset + i * rowStride + j * columnStride] = now * scale;
    }
  }
}

function normalPair(uniform: () => number): [number, number] {
  // 1 − u is above 0, so its logarithm exists.
  const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
  const angle = 2 * Math.PI * uniform();
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}
