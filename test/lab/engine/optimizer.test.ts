import { describe, expect, it } from 'vitest';
import { engineOn, everyEngine, trainedEngineOn } from './every-engine.js';
import { groupsOf, maxDifference, oddShape, slopes } from './models.js';

const options = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-3 };

describe.each(everyEngine)('the optimizer on %s', (backend) => {
  it('takes the steps of Kingma and Ba, and gives the norm of the gradient', async () => {
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

  it('clears the gradient after a step, and when told to', async () => {
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

  it('goes on bit for bit from weights and state that were loaded', async () => {
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

  it('learns a sequence by heart', async () => {
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
});
