import { blocksOf, resultPlaces, type Reader } from './attention-plan.js';
import { attentionTables } from './attention.js';
import type { Tensor } from './device.js';
import { distribution } from './head.js';
import { layerForward } from './layer.js';
import type { Model } from './model.js';
import { rmsNorm } from './norm.js';
import { rotationAt } from './rotation.js';

/** Keys and values of the tokens seen so far, one row each, [rows × (keys | values)] in every layer. */
export type Cache = { readonly rows: number; readonly layers: readonly Tensor[] };

/** New tokens of one sequence. */
export type Part = {
  readonly rows: number;
  /** Position of its first token in the sequence. */
  readonly position: number;
  /** Rows of the cache that all of its tokens see. */
  readonly seen: readonly number[];
};

/**
 * Runs new tokens, part by part, after the cached ones. Their rows of the cache are appended in the same order. Call
 * it inside `Device.run`.
 *
 * @param tokens One id a row, on the device.
 * @returns The longer cache, and the log-probabilities after each part's last token, [parts × vocabulary].
 */
export function runTokens(
  model: Model,
  cache: Cache | null,
  parts: readonly Part[],
  tokens: Tensor,
): { cache: Cache; logprobs: Tensor } {
  const { device, shape, parameters } = model;
  const weights = parameters.parts;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const context = { device, shape, ...placesOf(model, cache?.rows ?? 0, parts, rows) };
  const layers: Tensor[] = [];
  let x = device.rows(weights.embedding, tokens);
  weights.layers.forEach((layer, index) => {
    const keysOf = (rotated: Tensor) => {
      const added = device.tf.slice(rotated, [0, shape.width], [rows, -1]);
      layers.push(cache === null ? added : device.tf.concat([cache.layers[index]!, added], 0));
      return layers[index]!;
    };
    x = layerForward(context, layer, x, keysOf).next;
  });
  const last = rows === parts.length ? x : device.rows(x, device.ids(lastRows(parts)));
  const normed = rmsNorm(device, last, weights.finalNorm, shape.normEpsilon);
  const { logprobs } = distribution(device, normed.result, weights.head);
  return { cache: { rows: (cache?.rows ?? 0) + rows, layers }, logprobs };
}

/** Rotation of the new rows, and the rows that each may see. */
function placesOf({ device, shape, rotation }: Model, cached: number, parts: readonly Part[], rows: number) {
  const readers: Reader[] = [];
  const positions: number[] = [];
  for (const part of parts) {
    const row = positions.length;
    const own = Array.from({ length: part.rows }, (_, i) => i);
    readers.push({ row, rows: part.rows, keys: [...part.seen, ...own.map((i) => cached + row + i)] });
    positions.push(...own.map((i) => part.position + i));
  }
  const blocks = blocksOf(shape, [readers], {
    stride: 2 * shape.kvHeads,
    firstKey: 0,
    firstValue: shape.kvHeads,
  });
  return {
    rotation: rotationAt(device, rotation, device.ids(positions)),
    tables: attentionTables(device, blocks, resultPlaces(shape, rows, blocks)),
  };
}

function lastRows(parts: readonly Part[]): number[] {
  let end = 0;
  return parts.map(({ rows }) => (end += rows) - 1);
}
