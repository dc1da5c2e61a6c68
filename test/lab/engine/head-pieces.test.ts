import { describe, expect, it } from 'vitest';
import type { Engine, PromptGroup } from '../../../src/lab/engine/engine.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import {
  backends,
  groupsOf,
  makeEngine,
  maxDifference,
  slopes,
  trainedLookingWeights,
  type Backend,
} from './models.js';

/** No piece of its scores is filled: 256 rows of 4,001 scores are worked on at a time. */
const shape = { ...presets.micro, vocabulary: 4001, width: 8, heads: 2, kvHeads: 1, feedForward: 12, context: 220 };
const blockScores = 256 * 4004;

async function trained(engine: Engine, groups: readonly PromptGroup[], temperature = 1) {
  await engine.loadWeights(trainedLookingWeights(shape));
  const scores = await engine.forward(groups, { temperature });
  const count = scores.logprobs.length;
  await engine.backward(slopes(count, 1), slopes(count, 2));
  return { scores, gradient: await engine.gradient() };
}

const engine = (backend: Backend, keptScores?: number) => makeEngine(backend, shape, keptScores);

describe.each(backends)('the head of a large vocabulary, on %s', (backend) => {
  it.each([
    { what: 'a piece and part of another', lengths: [[3, 200, 102]], temperature: 1 },
    { what: 'one row more than a piece, at another temperature', lengths: [[2, 130, 128]], temperature: 0.7 },
  ])('gives the same bits whether scores are kept or recomputed: $what', async ({ lengths, temperature }) => {
    const groups = groupsOf(shape, lengths);
    const kept = await trained(await engine(backend), groups, temperature);
    expect(await trained(await engine(backend, blockScores), groups, temperature)).toEqual(kept);
  });

  it('gives each row the bits that it has alone', async () => {
    const groups = groupsOf(shape, [[3, 200, 102]]);
    const { scores } = await trained(await engine(backend), groups);
    const [{ prompt, continuations }] = groups as [PromptGroup];
    const alone = await trained(await engine(backend), [{ prompt, continuations: [continuations[1]!.slice(0, 1)] }]);
    expect(alone.scores.logprobs[0]).toBe(scores.logprobs[200]);
    expect(alone.scores.entropies[0]).toBe(scores.entropies[200]);
  });
});

describe('the head of a large vocabulary', () => {
  it.each([{ lengths: [[3, 200, 102]] }, { lengths: [[1, 1]] }])(
    'has the gradient of the plain loops: $lengths',
    async ({ lengths }) => {
      const groups = groupsOf(shape, lengths);
      const simd = await trained(await engine('wasm'), groups);
      const loops = await trained(await engine('loops'), groups);
      expect(maxDifference(simd.scores.logprobs, loops.scores.logprobs)).toBeLessThan(1e-4);
      expect(maxDifference(simd.gradient, loops.gradient)).toBeLessThan(2e-4);
      expect(simd.gradient.some((slope) => Math.abs(slope) > 0.01)).toBe(true);
    },
  );
});
