import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tiered } from '../../tiers.js';
import type { AdamOptions } from '../../../src/lab/engine/engine.js';
import { layout } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { buildModel } from '../../../src/lab/engine/model/model.js';
import { Optimizer } from '../../../src/lab/engine/model/optimizer.js';
import { engineOn, everyEngine, trainedEngineOn } from './every-engine.js';
import { backends, groupsOf, kernelsOf, maxDifference, oddShape, slopes } from './models.js';

/** Made with PyTorch by the program beside it. */
const torch = JSON.parse(readFileSync('test/fixtures/engine/adamw.json', 'utf8')) as Record<
  'decay' | 'groups',
  { norms: number[]; weights: number[] }
>;
const small = { ...presets.micro, vocabulary: 6, width: 8, heads: 2, kvHeads: 1, feedForward: 8, context: 8 };
const names = layout(small).map(({ name }) => name);
const such = (part: string) => names.filter((name) => name.includes(part));

const adamW: AdamOptions = {
  learningRate: 0.01,
  beta1: 0.8,
  beta2: 0.95,
  epsilon: 1e-4,
  weightDecay: 0.1,
  clipNorm: 0.5,
};

const options = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-3 };

describe.each(backends)('AdamW on %s kernels', (backend) => {
  it.each<{ name: 'decay' | 'groups'; how: Partial<AdamOptions> }>([
    { name: 'decay', how: {} },
    {
      name: 'groups',
      how: {
        groups: [
          { tensors: such('q_proj'), learningRate: 0.03 },
          { tensors: such('norm'), weightDecay: 0.3 },
          { tensors: such('k_proj'), frozen: true },
        ],
      },
    },
  ])("takes the steps of PyTorch's AdamW, with its clipping: $name", async ({ name, how }) => {
    const kernels = await kernelsOf(backend);
    const model = buildModel(kernels, small);
    const { weights, gradient, count } = model.parameters;
    const optimizer = new Optimizer({ ...model, tensors: layout(small) });
    kernels.heap.f32.set(slopes(count, 1), weights / 4);
    for (let step = 0; step < 4; step++) {
      // The third is too short to be clipped.
      const size = step === 2 ? 0.01 : 1;
      kernels.heap.f32.set(
        slopes(count, 10 + step).map((g) => g * size),
        gradient / 4,
      );
      expect(optimizer.take({ ...adamW, ...how }) / torch[name].norms[step]!).toBeCloseTo(1, 6);
    }
    const after = kernels.heap.f32.slice(weights / 4, weights / 4 + count);
    expect(maxDifference(after, torch[name].weights)).toBeLessThan(1e-6);
  });
});

describe.each(everyEngine)('the optimizer on %s', (backend) => {
  it('takes the steps of Kingma and Ba, and returns the norm of the gradient', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const expected = Float64Array.from(await engine.weights());
    const m = new Float64Array(expected.length);
    const v = new Float64Array(expected.length);
    for (let step = 1; step <= 3; step++) {
      await engine.forward(groupsOf(oddShape, [[2, 3, 4]], step));
      await engine.backward(slopes(7, step), null);
      const gradient = await engine.gradient();
      const norm = await engine.adam(options);
      expect(norm / Math.hypot(...gradient)).toBeCloseTo(1, 5);
      gradient.forEach((g, i) => {
        m[i] = 0.9 * m[i]! + 0.1 * g;
        v[i] = 0.99 * v[i]! + 0.01 * g * g;
        const mean = m[i] / (1 - 0.9 ** step);
        const variance = v[i] / (1 - 0.99 ** step);
        expected[i]! -= (0.01 * mean) / (Math.sqrt(variance) + 1e-3);
      });
    }
    expect(maxDifference(await engine.weights(), expected)).toBeLessThan(2e-6);
    const state = await engine.optimizerState();
    expect(state.step).toBe(3);
    expect(maxDifference(state.m, m)).toBeLessThan(1e-6);
    expect(maxDifference(state.v, v)).toBeLessThan(1e-6);
  });

  it.each([
    { what: 'a part of a matrix', part: 'self_attn.v_proj' },
    { what: 'a padded part of one', part: 'mlp.gate_proj' },
    { what: 'norms', part: 'norm' },
    { what: 'a layer', part: 'layers.1' },
    { what: 'the embedding', part: 'embed_tokens' },
  ])('leaves weights and moments of frozen tensors unchanged, byte for byte: $what', async ({ part }) => {
    const shape = { ...oddShape, feedForward: 11 };
    const frozen = layout(shape).filter(({ name }) => name.includes(part));
    const groups = [{ tensors: frozen.map(({ name }) => name), frozen: true }];
    const engine = await trainedEngineOn(backend, shape);
    const step = async (how: AdamOptions) => {
      await engine.forward(groupsOf(shape, [[2, 3, 4]]));
      await engine.backward(slopes(7, 1), null);
      await engine.adam(how);
      const { m, v } = await engine.optimizerState();
      return { weights: await engine.weights(), m, v };
    };
    const before = await step(adamW);
    const after = await step({ ...adamW, groups });
    const isFrozen = new Uint8Array(engine.parameterCount);
    for (const { shape: sizes, offset, strides } of frozen) {
      for (let i = 0; i < sizes[0]; i++) {
        for (let j = 0; j < (sizes[1] ?? 1); j++) isFrozen[offset + i * strides[0] + j * (strides[1] ?? 0)] = 1;
      }
    }
    for (const vector of ['weights', 'm', 'v'] as const) {
      const moved = before[vector].map((value, i) => Number(!Object.is(value, after[vector][i])));
      expect(moved.some((is, i) => is === 1 && isFrozen[i] === 1)).toBe(false);
      // The rows of tokens that were not seen have no gradient; every other weight moves.
      expect(moved.reduce((sum, is) => sum + is, 0)).toBeGreaterThan(0.6 * isFrozen.filter((is) => is === 0).length);
    }
    expect((await engine.gradient()).every((g) => g === 0)).toBe(true);
  });

  it('returns the norm over unfrozen tensors, before clipping', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    await engine.forward(groupsOf(oddShape, [[2, 3, 4]]));
    await engine.backward(slopes(7, 1), null);
    const gradient = await engine.gradient();
    const head = layout(oddShape).find(({ name }) => name === 'lm_head.weight')!;
    gradient.fill(0, head.offset, head.offset + head.shape[0] * head.shape[1]!);
    const groups = [{ tensors: [head.name], frozen: true }];
    expect((await engine.adam({ ...adamW, clipNorm: 1e-3, groups })) / Math.hypot(...gradient)).toBeCloseTo(1, 5);
  });

  it('clears the gradient after a step, and on request', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[2, 3]]);
    await engine.forward(groups);
    await engine.backward(slopes(3, 1), null);
    await engine.adam(options);
    expect((await engine.gradient()).every((g) => g === 0)).toBe(true);
    await engine.forward(groups);
    await engine.backward(slopes(3, 1), null);
    await engine.clearGradient();
    expect((await engine.gradient()).every((g) => g === 0)).toBe(true);
  });

  it('continues bit for bit from loaded weights and state', async () => {
    const step = async (engine: Awaited<ReturnType<typeof engineOn>>, seed: number) => {
      await engine.forward(groupsOf(oddShape, [[2, 3, 4]], seed));
      await engine.backward(slopes(7, seed), null);
      await engine.adam(options);
    };
    const first = await trainedEngineOn(backend, oddShape);
    await step(first, 1);
    const resumed = await engineOn(backend, oddShape);
    await resumed.loadWeights(await first.weights());
    await resumed.loadOptimizerState(await first.optimizerState());
    await step(first, 2);
    await step(resumed, 2);
    expect(await resumed.weights()).toEqual(await first.weights());
  });
});

tiered(everyEngine, 1)('the optimizer on %s learns a sequence by heart', async (backend) => {
  const engine = await trainedEngineOn(backend, oddShape);
  const groups = groupsOf(oddShape, [[2, 6]]);
  const probability = (logprobs: Float32Array) => Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0));
  expect(probability((await engine.forward(groups)).logprobs)).toBeLessThan(0.01);
  for (let i = 0; i < 100; i++) {
    await engine.forward(groups);
    await engine.backward(new Float32Array(6).fill(-1), null);
    await engine.adam({ ...options, epsilon: 1e-8 });
  }
  expect(probability((await engine.forward(groups)).logprobs)).toBeGreaterThan(0.9);
});
