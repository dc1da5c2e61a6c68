import { UserError } from '../../base/user-error.js';
import type { ModelShape, OptimizerState } from './engine.js';
import { layout, type Tensor } from './layout.js';
import type { Safetensors, StoredTensor } from './safetensors.js';

/** Prefixes of the optimizer's moments beside the weights of the same names. */
const moments = { m: 'adam.m.', v: 'adam.v.' } as const;
const stepKey = 'adam_step';

/** Weights under Hugging Face's names and in its orientation ([out, in]), as `transformers` loads them. */
export function weightTensors(shape: ModelShape, weights: Float32Array): Map<string, StoredTensor> {
  return new Map(layout(shape).map((tensor) => [tensor.name, extract(tensor, weights)]));
}

/**
 * The flat vector of weights from tensors of these names.
 *
 * A tied model ignores `lm_head.weight`, which some programs store all the same.
 *
 * @throws UserError when one is missing or has another shape.
 */
export function weightsFrom(shape: ModelShape, tensors: ReadonlyMap<string, StoredTensor>): Float32Array {
  return flatFrom(layout(shape), tensors);
}

/** Weights and optimizer state in one file. A run resumed from it continues bit for bit. */
export function checkpoint(shape: ModelShape, weights: Float32Array, optimizer: OptimizerState): Safetensors {
  return checkpointOf(layout(shape), weights, optimizer);
}

/** Tensors and optimizer moments of one flat vector, as a file; `parts` lays the vector out. */
export function checkpointOf(
  parts: readonly Tensor[],
  weights: Float32Array,
  { step, ...vectors }: OptimizerState,
): Safetensors {
  const tensors = new Map(parts.map((tensor) => [tensor.name, extract(tensor, weights)]));
  for (const [key, prefix] of Object.entries(moments)) {
    for (const tensor of parts) tensors.set(prefix + tensor.name, extract(tensor, vectors[key as 'm' | 'v']));
  }
  return { tensors, metadata: { format: 'pt', [stepKey]: String(step) } };
}

/** The optimizer's state of a checkpoint; null when it holds weights alone. Throws a UserError when it is incomplete. */
export function optimizerFrom(shape: ModelShape, saved: Safetensors): OptimizerState | null {
  return optimizerOf(layout(shape), saved);
}

/** The optimizer's state of the tensors `parts`; null when the checkpoint holds weights alone. */
export function optimizerOf(parts: readonly Tensor[], { tensors, metadata }: Safetensors): OptimizerState | null {
  const step = metadata[stepKey];
  if (step === undefined) return null;
  if (!/^\d+$/.test(step)) {
    throw new UserError(`The checkpoint's \`${stepKey}\` is "${step}".`, 'Use an earlier checkpoint.');
  }
  return { step: Number(step), m: flatFrom(parts, tensors, moments.m), v: flatFrom(parts, tensors, moments.v) };
}

/** A tensor of a flat vector. */
export function extract({ shape, offset, strides }: Tensor, flat: Float32Array): StoredTensor {
  const [rows, columns = 1] = shape;
  const [rowStride, columnStride = 0] = strides;
  const values = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) values[i * columns + j] = flat[offset + i * rowStride + j * columnStride]!;
  }
  return { shape, values };
}

/** The flat vector of these tensors. @throws UserError when one is missing or has another shape. */
export function flatFrom(
  parts: readonly Tensor[],
  tensors: ReadonlyMap<string, StoredTensor>,
  prefix = '',
): Float32Array {
  const size = parts.reduce((sum, { shape: [rows, columns = 1] }) => sum + rows * columns, 0);
  const flat = new Float32Array(size);
  for (const tensor of parts) placeTensor(tensor, requireTensor(tensors, prefix + tensor.name, tensor), flat);
  return flat;
}

/** Puts a tensor's numbers where they belong in the flat vector. Its shape must be the stored one. */
export function placeTensor({ shape, offset, strides }: Tensor, { values }: StoredTensor, flat: Float32Array): void {
  const [rows, columns = 1] = shape;
  const [rowStride, columnStride = 0] = strides;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) flat[offset + i * rowStride + j * columnStride] = values[i * columns + j]!;
  }
}

function requireTensor(tensors: ReadonlyMap<string, StoredTensor>, name: string, { shape }: Tensor): StoredTensor {
  const stored = tensors.get(name);
  if (stored === undefined) {
    throw new UserError(`The checkpoint has no tensor "${name}".`, 'Use the checkpoint of a model of the same shape.');
  }
  if (stored.shape.join() !== shape.join()) {
    throw new UserError(
      `Tensor "${name}" has shape [${stored.shape.join(', ')}] in the checkpoint and [${shape.join(', ')}] in the model.`,
      'Use the checkpoint of a model of the same shape.',
    );
  }
  return stored;
}
