import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { loopKernels } from '../../../src/lab/engine/kernels/loop-kernels.js';
import { groupsOf, maxDifference, numbers, oddShape, slopes, trainedLooking, trainedLookingWeights } from './models.js';

const groups = groupsOf(oddShape, [
  [3, 4, 2],
  [1, 5],
]);
const [byLogprob, byEntropy] = [Float64Array.from(slopes(11, 1)), Float64Array.from(slopes(11, 2))];

async function doubleEngine(): Promise<Engine> {
  const engine = await createEngine(oddShape, { kernels: loopKernels('double') });
  await engine.loadWeights(trainedLookingWeights(oddShape));
  return engine;
}

/** A loss that is linear in log-probabilities and entropies, at weights + step · direction; the weights are as before. */
async function lossAlong(engine: Engine, direction: Float64Array, step: number): Promise<number> {
  const before = await engine.weights();
  await engine.addToWeights(direction, step);
  const { logprobs, entropies } = await engine.forward(groups, { temperature: 0.7 });
  await engine.loadWeights(before);
  return logprobs.reduce((sum, logprob, at) => sum + byLogprob[at]! * logprob + byEntropy[at]! * entropies[at]!, 0);
}

describe('the engine in double precision', () => {
  it('gives the scores of single precision up to rounding, as 64-bit floats', async () => {
    const [double, single] = [await doubleEngine(), await trainedLooking('loops', oddShape)];
    const [exact, rounded] = [await double.forward(groups), await single.forward(groups)];
    expect(exact.logprobs).toBeInstanceOf(Float64Array);
    expect(maxDifference(exact.logprobs, rounded.logprobs)).toBeLessThan(1e-5);
    expect(maxDifference(exact.logprobs, Float32Array.from(exact.logprobs))).toBeGreaterThan(1e-9);
    expect(maxDifference(exact.entropies, rounded.entropies)).toBeLessThan(1e-5);
  });

  it('has gradients that agree with finite differences to nine digits', async () => {
    const engine = await doubleEngine();
    const next = numbers(8);
    const direction = Float64Array.from({ length: engine.parameterCount }, () => next() - 0.5);
    await engine.forward(groups, { temperature: 0.7 });
    await engine.backward(byLogprob, byEntropy);
    const slope = (await engine.gradient()).reduce((sum, g, at) => sum + g * direction[at]!, 0);
    const h = 1e-5;
    const difference = ((await lossAlong(engine, direction, h)) - (await lossAlong(engine, direction, -h))) / (2 * h);
    expect(Math.abs(difference / slope - 1)).toBeLessThan(1e-8);
  });

  it('keeps changes of weights that single precision would lose, also in copies and moments', async () => {
    const engine = await doubleEngine();
    const before = await engine.weights();
    await engine.addToWeights(before.map(Math.sign), 1e-12);
    const copy = await (await engine.clone()).weights();
    expect(copy).toEqual(await engine.weights());
    expect(copy.reduce((most, weight, at) => Math.max(most, Math.abs(weight - before[at]!)), 0)).toBeCloseTo(1e-12, 15);
    await engine.forward(groups);
    await engine.backward(byLogprob, null);
    await engine.adam({ learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
    const { m } = await engine.optimizerState();
    expect(maxDifference(m, Float32Array.from(m))).toBeGreaterThan(0);
  });

  it('keeps its numbers when its memory grows', async () => {
    const engine = await doubleEngine();
    const before = (await engine.forward(groups)).logprobs;
    const long = Array.from({ length: 200 }, () => [4, 20]);
    await engine.forward(groupsOf(oddShape, long));
    expect((await engine.forward(groups)).logprobs).toEqual(before);
  });
});
