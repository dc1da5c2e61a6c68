import type { ModelShape } from './engine.js';
import { widthsOf } from './model-shape.js';

/**
 * A tensor as other programs know it: Hugging Face's name and orientation ([out, in] for a matrix), and the position
 * of its elements in the engine's flat vector of weights (and of gradients and moments, which have the same order).
 * Element (i, j) is at `offset + i · strides[0] + j · strides[1]`.
 */
export type Tensor = {
  readonly name: string;
  readonly shape: readonly [number] | readonly [number, number];
  readonly offset: number;
  readonly strides: readonly [number] | readonly [number, number];
};

/**
 * Offsets of the engine's own matrices in the flat vector. Matrices are row-major, [in × out] except for embedding and
 * head.
 */
type Offsets = {
  /** [vocabulary × width] */
  readonly embedding: number;
  readonly layers: readonly LayerOffsets[];
  readonly finalNorm: number;
  /** [vocabulary × width]; the embedding itself when tied. */
  readonly head: number;
  /** Number of weights. */
  readonly size: number;
};

type LayerOffsets = {
  readonly attentionNorm: number;
  /** [width × (queries | keys | values)] */
  readonly qkv: number;
  /** [queries | keys | values]; null when they have no bias. */
  readonly qkvBias: number | null;
  readonly output: number;
  readonly mlpNorm: number;
  /** [width × (gate | up)] */
  readonly gateUp: number;
  readonly down: number;
};

export function offsetsOf(shape: ModelShape): Offsets {
  const { vocabulary, width, feedForward } = shape;
  let size = 0;
  const take = (count: number): number => {
    size += count;
    return size - count;
  };
  const embedding = take(vocabulary * width);
  const layers = Array.from({ length: shape.layers }, () => ({
    attentionNorm: take(width),
    qkv: take(width * widthsOf(shape).qkv),
    qkvBias: shape.qkvBias === true ? take(widthsOf(shape).qkv) : null,
    output: take(width * width),
    mlpNorm: take(width),
    gateUp: take(width * 2 * feedForward),
    down: take(feedForward * width),
  }));
  const finalNorm = take(width);
  const head = shape.tied ? embedding : take(vocabulary * width);
  return { embedding, layers, finalNorm, head, size };
}

/** The size of the flat vector, found without laying it out: the shape may be of any size. */
export function parameterCount(shape: ModelShape): number {
  const { vocabulary, width, feedForward, layers, tied } = shape;
  const { qkv } = widthsOf(shape);
  const layer = width * (qkv + width + 3 * feedForward + 2) + (shape.qkvBias === true ? qkv : 0);
  return (tied ? 1 : 2) * vocabulary * width + layers * layer + width;
}

/** Every tensor of the model, in the order of a Hugging Face checkpoint. A tied head is not listed twice. */
export function layout(shape: ModelShape): readonly Tensor[] {
  const { vocabulary, width } = shape;
  const offsets = offsetsOf(shape);
  const rows = (name: string, offset: number): Tensor => ({
    name,
    shape: [vocabulary, width],
    offset,
    strides: [width, 1],
  });
  return [
    rows('model.embed_tokens.weight', offsets.embedding),
    ...offsets.layers.flatMap((layer, index) => layerTensors(shape, layer, `model.layers.${index}.`)),
    vector('model.norm.weight', offsets.finalNorm, width),
    ...(shape.tied ? [] : [rows('lm_head.weight', offsets.head)]),
  ];
}

function layerTensors(shape: ModelShape, layer: LayerOffsets, prefix: string): Tensor[] {
  const { width, feedForward } = shape;
  const { kv, qkv } = widthsOf(shape);
  const matrix = (name: string, outIn: readonly [number, number], offset: number, row: number): Tensor => ({
    name: `${prefix}${name}.weight`,
    shape: outIn,
    offset,
    strides: [1, row],
  });
  const parts = [
    { name: 'self_attn.q_proj', count: width, column: 0 },
    { name: 'self_attn.k_proj', count: kv, column: width },
    { name: 'self_attn.v_proj', count: kv, column: width + kv },
  ];
  const { qkvBias } = layer;
  return [
    vector(`${prefix}input_layernorm.weight`, layer.attentionNorm, width),
    ...parts.flatMap(({ name, count, column }) => [
      ...(qkvBias === null ? [] : [vector(`${prefix}${name}.bias`, qkvBias + column, count)]),
      matrix(name, [count, width], layer.qkv + column, qkv),
    ]),
    matrix('self_attn.o_proj', [width, width], layer.output, width),
    vector(`${prefix}post_attention_layernorm.weight`, layer.mlpNorm, width),
    matrix('mlp.gate_proj', [feedForward, width], layer.gateUp, 2 * feedForward),
    matrix('mlp.up_proj', [feedForward, width], layer.gateUp + feedForward, 2 * feedForward),
    matrix('mlp.down_proj', [width, feedForward], layer.down, width),
  ];
}

function vector(name: string, offset: number, count: number): Tensor {
  return { name, shape: [count], offset, strides: [1] };
}
