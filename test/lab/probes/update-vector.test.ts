import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { OptimizerState } from '../../../src/lab/engine/engine.js';
import { loopKernels } from '../../../src/lab/engine/kernels/loop-kernels.js';
import { adamUpdate, sgdUpdate } from '../../../src/lab/probes/update-vector.js';
import { groupsOf, maxDifference, numbers, oddShape, slopes, trainedLookingWeights } from '../engine/models.js';

type Step = Record<'gradient' | 'weights' | 'm' | 'v' | 'direction', number[]>;
/** Steps of torch.optim.AdamW in double precision, written by the library whose version it names. */
const fixture = JSON.parse(readFileSync(new URL('../../fixtures/entropy/adamw.json', import.meta.url), 'utf8')) as {
  cases: { weightDecay: number; clipNorm: number | null; steps: Step[] }[];
};

const adam = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
const floats = (values: number[]) => values as unknown as Float32Array;
const length = (values: ArrayLike<number>) => Math.hypot(...Array.from(values));

describe('the direction of a step of AdamW', () => {
  const cases = fixture.cases.flatMap(({ steps, ...options }) => steps.map((step, at) => ({ ...options, step, at })));

  it.each(cases)('equals PyTorch’s, with decay $weightDecay, clip $clipNorm, after $at steps', (given) => {
    const { gradient, weights, m, v, direction } = given.step;
    const state: OptimizerState = { step: given.at, m: floats(m), v: floats(v) };
    const options = {
      ...adam,
      weightDecay: given.weightDecay,
      ...(given.clipNorm !== null && { clipNorm: given.clipNorm }),
    };
    const update = adamUpdate({ gradient: floats(gradient), weights: floats(weights), state }, options);
    // Differences of weights over 1e-3 have some 13 digits.
    expect(maxDifference(update.direction, direction) / length(direction)).toBeLessThan(1e-11);
  });

  it('equals three steps of the double-precision engine, without decay of norms', async () => {
    const engine = await createEngine(oddShape, { kernels: loopKernels('double') });
    await engine.loadWeights(trainedLookingWeights(oddShape));
    const isNorm = (index: number) => index >= 13 * 24 && index < 13 * 24 + 24;
    for (const seed of [1, 2, 3]) {
      await engine.forward(groupsOf(oddShape, [[3, 4, 2]], seed));
      await engine.backward(slopes(6, seed), null);
      const [gradient, weights, state] = [
        await engine.gradient(),
        await engine.weights(),
        await engine.optimizerState(),
      ];
      const options = { ...adam, weightDecay: 0.1, clipNorm: 0.2 };
      const { direction } = adamUpdate({ gradient, weights, state }, options, (index) => !isNorm(index));
      await engine.adam({ ...options, learningRate: 1e-4 });
      const after = await engine.weights();
      // The first norm lies behind the embedding; only weights up to its end are compared.
      const moved = after.slice(0, 13 * 24 + 24).map((weight, at) => (weight - weights[at]!) / 1e-4);
      expect(maxDifference(moved, direction.slice(0, moved.length)) / length(moved)).toBeLessThan(1e-10);
    }
  });

  it('is the sum of the step without a gradient and of the parts of the gradients', () => {
    const random = numbers(3);
    const draw = () => Float64Array.from({ length: 40 }, () => random() - 0.5);
    const shares = [draw(), draw(), draw()];
    const gradient = draw().map((_, at) => shares.reduce((sum, share) => sum + share[at]!, 0));
    const state = { step: 9, m: floats([...draw()]), v: floats([...draw().map(Math.abs)]) };
    const update = adamUpdate({ gradient, weights: draw(), state }, { ...adam, weightDecay: 0.02, clipNorm: 0.3 });
    const parts = shares.map((share) => update.part(share));
    const sum = update.baseline.map((each, at) => each + parts.reduce((all, part) => all + part[at]!, 0));
    expect(maxDifference(sum, update.direction)).toBeLessThan(1e-12);
  });

  it('is the negative gradient without Adam', () => {
    const { direction, baseline, part } = sgdUpdate(Float64Array.of(1, -2));
    expect([...direction]).toEqual([-1, 2]);
    expect([...baseline, ...part(Float64Array.of(3))]).toEqual([0, 0, -3]);
  });
});
