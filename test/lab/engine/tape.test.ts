import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine, PromptGroup } from '../../../src/lab/engine/engine.js';
import type { Kernels } from '../../../src/lab/engine/kernels/kernels.js';
import {
  type Backend,
  backends,
  kernelsOf,
  groupsOf,
  oddShape,
  slopes,
  trainedLooking,
  trainedLookingWeights,
} from './models.js';

/** Lets a decoder see the tokens of a group, in pieces, each but the last of its continuation. */
async function decode(engine: Engine, { prompt, continuations }: PromptGroup, piece: number): Promise<void> {
  const decoder = await engine.decoder(prompt, continuations.length);
  const longest = Math.max(...continuations.map(({ length }) => length));
  for (let from = 0; from < longest - 1; from += piece) {
    await decoder.extend(
      continuations.map((tokens) => [...tokens.slice(from, Math.min(from + piece, tokens.length - 1))]),
    );
  }
}

async function trained(engine: Engine, groups: readonly PromptGroup[]): Promise<unknown> {
  const scores = await engine.forward(groups);
  await engine.backward(slopes(scores.logprobs.length, 1), slopes(scores.logprobs.length, 2));
  return [scores, await engine.gradient()];
}

/** A set of kernels that counts the products it has made. */
async function counting(backend: Backend): Promise<{ kernels: Kernels; products: () => number }> {
  const real = await kernelsOf(backend);
  let products = 0;
  const gemm: Kernels['gemm'] = (...all) => {
    products++;
    real.gemm(...all);
  };
  return { kernels: { ...real, gemm }, products: () => products };
}

describe.each(backends)('a training step on tokens that were just decoded, on %s', (backend) => {
  it('gives the bits of a step that reuses nothing', async () => {
    const decoded = await trainedLooking(backend, oddShape);
    const lengths = fc.tuple(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(lengths, fc.integer({ min: 1, max: 4 }), fc.nat(999), async ([prompt, each], piece, seed) => {
        const groups = groupsOf(oddShape, [[prompt, ...each]], seed);
        const fresh = await trainedLooking(backend, oddShape);
        await decoded.clearGradient();
        await decode(decoded, groups[0]!, piece);
        expect(await trained(decoded, groups)).toEqual(await trained(fresh, groups));
      }),
      { numRuns: 25 },
    );
  });

  it('recomputes no layer, for any selection and order of the sequences', async () => {
    const { kernels, products } = await counting(backend);
    const engine = await createEngine(oddShape, { kernels });
    await engine.loadWeights(trainedLookingWeights(oddShape));
    const [{ prompt, continuations }] = groupsOf(oddShape, [[3, 5, 2, 7]]) as [PromptGroup];
    await decode(engine, { prompt, continuations }, 1);
    const before = products();
    await engine.forward([{ prompt, continuations: [continuations[2]!, continuations[0]!] }]);
    // That of the head.
    expect(products() - before).toBe(1);
    const other = continuations[1]!.map((token) => (token + 1) % oddShape.vocabulary);
    await engine.forward([{ prompt, continuations: [other] }]);
    expect(products() - before).toBeGreaterThan(2);
  });

  it('recomputes everything when the weights have changed', async () => {
    const engine = await trainedLooking(backend, oddShape);
    const fresh = await trainedLooking(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 5, 4]]);
    await decode(engine, groups[0]!, 1);
    for (const each of [engine, fresh]) await each.addToWeights(slopes(engine.parameterCount, 3), 0.1);
    expect(await trained(engine, groups)).toEqual(await trained(fresh, groups));
  });

  it('recomputes only tokens that no longer fitted on the tape', async () => {
    const shape = { ...oddShape, context: 400 };
    const engine = await trainedLooking(backend, shape);
    const groups = groupsOf(shape, [[3, 200, 120, 180]]);
    await decode(engine, groups[0]!, 60);
    expect(await trained(engine, groups)).toEqual(await trained(await trainedLooking(backend, shape), groups));
  });
});
