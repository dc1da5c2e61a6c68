import type { ModelShape } from '../engine.js';
import { offsetsOf } from '../layout.js';

/**
 * The shape that the kernels compute with: the feed-forward layer padded to a multiple of 4, the lanes of a vector.
 *
 * The added weights are zeros and stay so. They add silu(0) · 0 = 0 to a layer, hence their gradient is 0, and neither
 * Adam nor weight decay moves a weight of 0 that has never had a gradient.
 */
export function paddedShape(shape: ModelShape): ModelShape {
  return { ...shape, feedForward: Math.ceil(shape.feedForward / 4) * 4 };
}

/** Neighbours in the model's flat vector, at `from`, that are neighbours in the padded one too, at `to`. */
export type Stretch = { readonly from: number; readonly to: number; readonly count: number };

/**
 * The whole flat vector in its order; one stretch when nothing is padded.
 *
 * @param padded The same shape with at least as wide a feed-forward layer.
 */
export function stretches(shape: ModelShape, padded: ModelShape = paddedShape(shape)): Stretch[] {
  const { width, feedForward } = shape;
  const from = offsetsOf(shape);
  const to = offsetsOf(padded);
  const all: Stretch[] = [];
  let known = { from: 0, to: 0 };
  const upTo = (end: number) => push(all, { ...known, count: end - known.from });
  from.layers.forEach((layer, index) => {
    upTo(layer.gateUp);
    // A row holds the gate's weights and then those of `up`.
    for (let half = 0; half < 2 * width; half++) {
      const start = {
        from: layer.gateUp + half * feedForward,
        to: to.layers[index]!.gateUp + half * padded.feedForward,
      };
      push(all, { ...start, count: feedForward });
    }
    push(all, { from: layer.down, to: to.layers[index]!.down, count: feedForward * width });
    known = { from: layer.down + feedForward * width, to: to.layers[index]!.down + padded.feedForward * width };
  });
  upTo(from.size);
  return all;
}

/** Adds a stretch, or extends the last one when the new one follows it directly. */
export function push(all: Stretch[], { from, to, count }: Stretch): void {
  const last = all.at(-1);
  if (last !== undefined && last.from + last.count === from && last.to + last.count === to) {
    all[all.length - 1] = { ...last, count: last.count + count };
  } else {
    all.push({ from, to, count });
  }
}
