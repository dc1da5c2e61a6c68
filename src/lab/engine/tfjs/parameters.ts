import type { ModelShape } from '../engine.js';
import { offsetsOf } from '../layout.js';
import { widthsOf } from '../model-shape.js';
import type { Device, Tensor } from './device.js';

/** The matrices of one layer, [in × out], its norms, [width], and the bias of queries, keys and values, if they have one. */
export type LayerWeights = {
  readonly attentionNorm: Tensor;
  readonly qkv: Tensor;
  readonly qkvBias: Tensor | null;
  readonly output: Tensor;
  readonly mlpNorm: Tensor;
  readonly gateUp: Tensor;
  readonly down: Tensor;
};

/** The weights, or their gradient, cut into matrices and norms. */
type Weights = {
  /** [vocabulary × width]. The head has the same shape, and is the embedding itself when tied. */
  readonly embedding: Tensor;
  readonly layers: readonly LayerWeights[];
  readonly finalNorm: Tensor;
  readonly head: Tensor;
};

/** The flat vectors on the device, in the order of `layout`, and the weights cut into matrices. */
export class Parameters {
  readonly count: number;
  /** Counts changes of the weights. */
  version = 0;
  /** Steps that the optimizer has taken. */
  step = 0;
  readonly #device: Device;
  readonly #shape: ModelShape;
  #flat: Record<'weights' | 'm' | 'v', Tensor>;
  #gradient: Tensor | null = null;
  #parts: Weights | null = null;

  constructor(device: Device, shape: ModelShape) {
    this.#device = device;
    this.#shape = shape;
    this.count = offsetsOf(shape).size;
    const { tf } = device;
    this.#flat = device.run(() => ({
      weights: tf.keep(tf.zeros([this.count])),
      m: tf.keep(tf.zeros([this.count])),
      v: tf.keep(tf.zeros([this.count])),
    }));
  }

  /** The weights' parts; call it inside `Device.run`. They stay until the weights change. */
  get parts(): Weights {
    this.#parts ??= splitWeights(this.#device, this.#shape, this.#flat.weights);
    return this.#parts;
  }

  get(name: 'weights' | 'm' | 'v'): Tensor {
    return this.#flat[name];
  }

  /** Replaces a tensor, and owns the new one from now on. */
  put(name: 'weights' | 'm' | 'v', tensor: Tensor): void {
    this.#flat[name].dispose();
    this.#flat = { ...this.#flat, [name]: this.#device.tf.keep(tensor) };
    if (name === 'weights') this.#changed();
  }

  /** null when nothing has been added since it was last cleared. */
  get gradient(): Tensor | null {
    return this.#gradient;
  }

  addGradient(more: Tensor): void {
    const sum = this.#gradient === null ? more : this.#device.tf.add(this.#gradient, more);
    this.clearGradient();
    this.#gradient = this.#device.tf.keep(sum);
  }

  clearGradient(): void {
    this.#gradient?.dispose();
    this.#gradient = null;
  }

  dispose(): void {
    this.clearGradient();
    this.#changed();
    this.#device.free(this.#flat);
  }

  #changed(): void {
    this.version++;
    // A tied head is the embedding: each tensor is disposed of once.
    if (this.#parts !== null) for (const tensor of new Set(tensorsOf(this.#parts))) tensor.dispose();
    this.#parts = null;
  }
}

/** The parts as one flat vector in the order of `layout`; a tied `head` is left out. */
export function flatten({ tf }: Device, parts: Weights): Tensor {
  return tf.concat(
    tensorsOf(parts).map((tensor) => tf.reshape(tensor, [-1])),
    0,
  );
}

function tensorsOf({ embedding, layers, finalNorm, head }: Weights): Tensor[] {
  const own = layers.flatMap(({ attentionNorm, qkv, qkvBias, output, mlpNorm, gateUp, down }) => [
    ...[attentionNorm, qkv],
    ...(qkvBias === null ? [] : [qkvBias]),
    output,
    ...[mlpNorm, gateUp, down],
  ]);
  return [embedding, ...own, finalNorm, ...(head === embedding ? [] : [head])];
}

function splitWeights({ tf }: Device, shape: ModelShape, flat: Tensor): Weights {
  const { vocabulary, width, feedForward, tied } = shape;
  const offsets = offsetsOf(shape);
  const part = (offset: number, ...sizes: [number] | [number, number]): Tensor => {
    const count = sizes.reduce((product, size) => product * size, 1);
    return tf.keep(tf.reshape(tf.slice(flat, offset, count), sizes));
  };
  const embedding = part(offsets.embedding, vocabulary, width);
  return {
    embedding,
    layers: offsets.layers.map((layer) => ({
      attentionNorm: part(layer.attentionNorm, width),
      qkv: part(layer.qkv, width, widthsOf(shape).qkv),
      qkvBias: layer.qkvBias === null ? null : part(layer.qkvBias, widthsOf(shape).qkv),
      output: part(layer.output, width, width),
      mlpNorm: part(layer.mlpNorm, width),
      gateUp: part(layer.gateUp, width, 2 * feedForward),
      down: part(layer.down, feedForward, width),
    })),
    finalNorm: part(offsets.finalNorm, width),
    head: tied ? embedding : part(offsets.head, vocabulary, width),
  };
}
