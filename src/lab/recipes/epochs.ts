import { rng, shuffle } from '../rng.js';

/** Whole batches of `size` in one pass over so many examples; what is left over is not used. */
export function batchesPerEpoch(examples: number, size: number): number {
  return Math.floor(examples / size);
}

/**
 * The examples of each step when all are gone through epoch by epoch. The order of an epoch is its own, so that a resumed run
 * sees the same batches.
 *
 * @param name Of the stream that shuffles an epoch.
 */
export function epochBatches<T>(
  examples: readonly T[],
  size: number,
  { seed, name }: { readonly seed: number; readonly name: string },
): (step: number) => T[] {
  const perEpoch = batchesPerEpoch(examples.length, size);
  let known = { epoch: -1, order: [] as readonly number[] };
  return (step) => {
    const epoch = Math.floor(step / perEpoch);
    if (known.epoch !== epoch) {
      known = { epoch, order: shuffle([...examples.keys()], rng(seed, `${name}/${epoch}`)) };
    }
    const from = (step % perEpoch) * size;
    return known.order.slice(from, from + size).map((index) => examples[index]!);
  };
}
