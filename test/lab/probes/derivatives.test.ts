import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine, Floats, ModelShape } from '../../../src/lab/engine/engine.js';
import { loopKernels } from '../../../src/lab/engine/kernels/loop-kernels.js';
import { offsetsOf } from '../../../src/lab/engine/layout.js';
import { entropyCurvature } from '../../../src/lab/probes/entropy-curvature.js';
import { entropyDerivatives, entropySlope } from '../../../src/lab/probes/entropy-derivative.js';
import { entropyEstimates, type Unit } from '../../../src/lab/probes/entropy-estimates.js';
import { gradientOf, movedAlong, scoresOf, type Batch } from '../../../src/lab/probes/scored-batch.js';
import { adamUpdate } from '../../../src/lab/probes/update-vector.js';
import { dot } from '../../../src/lab/probes/vectors.js';
import { maxDifference, numbers } from '../engine/models.js';

type Fixture = Record<'entropy' | 'jvp' | 'vhv', number> &
  Record<'logprobs' | 'gradient' | 'hvp' | 'adamw', readonly number[]> & {
    readonly estimates: readonly (Readonly<Record<'weights' | 'direction' | 'value' | 'jvp' | 'vhv', number>> & {
      readonly continuations: readonly (readonly number[])[];
      readonly per: Unit;
    })[];
  };

/** By PyTorch in double precision; of vectors every 37th number. */
const torch = JSON.parse(
  readFileSync(new URL('../../fixtures/entropy/derivatives.json', import.meta.url), 'utf8'),
) as Fixture;
const sampled = (vector: ArrayLike<number>) => Array.from(vector).filter((_, at) => at % 37 === 0);

const shape: ModelShape = {
  ...{ vocabulary: 13, width: 16, layers: 2, heads: 2, kvHeads: 2, feedForward: 20, tied: true },
  ...{ ropeTheta: 500, normEpsilon: 1e-6, context: 24 },
};
const batch: Batch = {
  groups: [{ prompt: Int32Array.of(3, 7, 1), continuations: [Int32Array.of(5, 12, 0, 9)] }],
  generated: [[true, true, true, true]],
};

function drawn(seed: number, scale: number): Float32Array {
  const next = numbers(seed);
  return Float32Array.from({ length: offsetsOf(shape).size }, () => (next() - 0.5) * scale);
}
const direction = drawn(4, 1);

/** Moments in double precision, which the type of an engine's own state does not name. */
const floats = (values: Floats, change: (each: number) => number) =>
  Float64Array.from(values, change) as unknown as Float32Array;

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine(shape, { kernels: loopKernels('double') });
  await engine.loadWeights(drawn(3, 0.8));
});

const gradient = () => gradientOf(engine, batch, { byLogprob: [new Float64Array(4)], byEntropy: 1 / 4 }, 1);
const gradientAt = (step: number) => movedAlong(engine, { direction, step }, gradient);

describe('double precision, compared with PyTorch', () => {
  it('gives its log-probabilities and mean entropy', async () => {
    const [{ logprobs, entropies }] = (await scoresOf(engine, batch, 1)) as [{ logprobs: Float64Array; entropies: Float64Array }]; // prettier-ignore
    expect(maxDifference(logprobs, torch.logprobs)).toBeLessThan(1e-12);
    expect(Math.abs(entropies.reduce((sum, each) => sum + each / 4, 0) - torch.entropy)).toBeLessThan(1e-12);
  });

  it('gives its gradient of the entropy, and the product with a direction by torch.func.jvp', async () => {
    const found = await gradient();
    expect(maxDifference(sampled(found), torch.gradient)).toBeLessThan(1e-12);
    expect(Math.abs(dot(found, direction) / torch.jvp - 1)).toBeLessThan(1e-11);
  });

  it('gives the product of the Hessian with a direction, by differences of gradients', async () => {
    const h = 1e-5;
    const [up, down] = [await gradientAt(h), await gradientAt(-h)];
    const product = Float64Array.from(up, (each, at) => (each - down[at]!) / (2 * h));
    const size = Math.max(...torch.hvp.map(Math.abs));
    expect(maxDifference(sampled(product), torch.hvp) / size).toBeLessThan(1e-7);
    expect(Math.abs(dot(product, direction) / torch.vhv - 1)).toBeLessThan(1e-7);
  });

  it.each(torch.estimates)(
    'gives both derivatives of the entropy per $per by importance sampling, model $weights',
    async (of) => {
      const { per, value, jvp, vhv } = of;
      const continuations = of.continuations.map((each) => Int32Array.from(each));
      const direction = drawn(of.direction, 1);
      const engine = await createEngine(shape, { kernels: loopKernels('double') });
      await engine.loadWeights(drawn(of.weights, 0.8));
      const several: Batch = {
        groups: [{ prompt: batch.groups[0]!.prompt, continuations }],
        generated: continuations.map((each) => Array.from(each, () => true)),
      };
      const scores = () => scoresOf(engine, several, 1);
      const at = (step: number) => movedAlong(engine, { direction, step }, scores);
      const [here, length] = [await scores(), 1e-4];
      const [up, down] = [await at(length), await at(-length)];
      const slopes = up.map((each, index) => ({
        logprobs: Float64Array.from(each.logprobs, (value, k) => (value - down[index]!.logprobs[k]!) / (2 * length)),
        entropies: Float64Array.from(each.entropies, (value, k) => (value - down[index]!.entropies[k]!) / (2 * length)),
      }));
      const whole = { per, credit: 'whole' } as const;
      expect(entropyEstimates(here, per).raoBlackwell.value).toBeCloseTo(value, 9);
      expect(entropySlope(here, slopes, whole).value / jvp).toBeCloseTo(1, 5);
      const fixed = entropySlope(here, slopes, { ...whole, hasDenominator: false }).value / jvp;
      if (per === 'token') expect(fixed).not.toBeCloseTo(1, 1);
      expect(entropyCurvature({ here, up, down, length }, per).value / vhv).toBeCloseTo(1, 4);
      const byBackward = await gradientOf(engine, several, entropyDerivatives(here, whole), 1);
      expect(dot(byBackward, direction) / jvp).toBeCloseTo(1, 9);
    },
  );

  it('gives the second step of torch.optim.AdamW', async () => {
    const adam = { beta1: 0.9, beta2: 0.999, epsilon: 1e-4, weightDecay: 0 };
    const weights = await engine.weights();
    await gradient();
    const first = await gradient();
    const { direction: start } = adamUpdate({ gradient: first, weights, state: await engine.optimizerState() }, adam);
    const state = {
      step: 1,
      m: floats(first, (each) => 0.1 * each),
      v: floats(first, (each) => 0.001 * each ** 2),
    };
    const second = await movedAlong(engine, { direction: start, step: 1e-3 }, gradient);
    const found = adamUpdate({ gradient: second, weights, state }, adam).direction;
    expect(maxDifference(sampled(found), torch.adamw)).toBeLessThan(1e-9);
  });
});
