import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { placesOf } from '../../../src/lab/engine/adapters/layout.js';
import { advantages as comparedIn } from '../../../src/lab/advantages/advantages.js';
import type { Passes } from '../../../src/lab/service/dual-adapters.js';
import { flatOf } from '../engine/adapters/adapted.js';
import { maxDifference } from '../engine/models.js';
import { Learner, type Learning } from './learner.js';
import { baseOn, dualOn, fixture, passesOf, rolloutOf, rollouts } from './routed-fixture.js';

const [none, all] = [rollouts.map(() => false), rollouts.map(() => true)];
const advantages = fixture.rewards.flatMap((group) =>
  comparedIn(
    group.map((reward) => [reward]),
    'trajectory',
    'std',
  ).flat(),
);
const everything: Passes = { good: all, hack: none, ablated: none };
const plain: Learning = { beta: 0.1, temperature: fixture.temperature, routing: null };

/** Loss, and gradient by both adapters' parameters, of one step. */
async function step(engine: AdaptedEngine, passes: Passes, learning: Learning, backend = 'wasm') {
  const reference = learning.beta === 0 ? null : await baseOn(backend);
  const { loss } = await new Learner(engine, reference, learning).differentiate(rollouts, advantages, passes);
  return { loss, gradient: await engine.gradient() };
}

/** The numbers of one adapter. */
function of(engine: AdaptedEngine, adapter: 'retain' | 'forget', values: Float32Array): number[] {
  const tensors = engine.tensors.filter(({ name }) => name.endsWith(`.${adapter}`));
  return tensors.flatMap((tensor) => [...placesOf(tensor)].map((place) => values[place]!));
}

describe.each(['wasm', 'loops', 'tfjs-cpu'])('a routed step on the engine on %s', (backend) => {
  it.each(fixture.steps)(
    "gradient routing has PyTorch's loss and gradient: $mode, beta $beta, ablated $ablated",
    async ({ mode, beta, ablated, loss, gradient }) => {
      const engine = await dualOn(backend);
      const learning = { beta, temperature: fixture.temperature, routing: mode === 'none' ? null : mode };
      const found = await step(engine, passesOf(ablated), learning, backend);
      expect(found.loss).toBeCloseTo(loss, 6);
      expect(maxDifference(found.gradient, flatOf(engine.tensors, gradient))).toBeLessThan(2e-6);
    },
  );
});

describe('gradient routing', () => {
  it('changes the gradient in every mode of the fixture', async () => {
    const gradients = await Promise.all(
      ([null, 'shared', 'exclusive'] as const).map(async (routing) => {
        const engine = await dualOn('wasm');
        return (await step(engine, passesOf(false), { ...plain, routing })).gradient;
      }),
    );
    expect(maxDifference(gradients[0]!, gradients[1]!)).toBeGreaterThan(1e-3);
    expect(maxDifference(gradients[1]!, gradients[2]!)).toBeGreaterThan(1e-3);
  });

  it('equals the step without routing when nothing is flagged, for any split into parts', async () => {
    const engine = await dualOn('wasm');
    const whole = await step(engine, everything, plain);
    const kinds = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
    const learner = new Learner(engine, await baseOn('wasm'), { ...plain, routing: 'shared' });
    await fc.assert(
      fc.asyncProperty(kinds, async (first) => {
        await engine.clearGradient();
        let loss = 0;
        for (const good of [first, first.map((is) => !is)]) {
          loss += (await learner.differentiate(rollouts, advantages, { good, hack: none, ablated: none })).loss;
        }
        expect(loss).toBeCloseTo(whole.loss, 6);
        expect(maxDifference(await engine.gradient(), whole.gradient)).toBeLessThan(1e-6);
      }),
      { numRuns: 12 },
    );
  });

  it('trains only the forget adapter on flagged samples, with its unrouted gradient', async () => {
    const engine = await dualOn('wasm');
    const unmasked = await step(engine, everything, plain);
    await engine.clearGradient();
    const flagged = { good: none, hack: all, ablated: none };
    const masked = await step(engine, flagged, { ...plain, routing: 'exclusive' });
    expect(of(engine, 'retain', masked.gradient).every((value) => value === 0)).toBe(true);
    // Those of the first layer, too: what flows through the retain adapter of the second goes on.
    expect(of(engine, 'forget', masked.gradient)).toEqual(of(engine, 'forget', unmasked.gradient));
    expect(masked.loss).toBeCloseTo(unmasked.loss, 7);
  });

  it.each(['shared', 'exclusive'] as const)('with nothing flagged, %s', async (routing) => {
    const engine = await dualOn('wasm');
    const { gradient } = await step(engine, everything, { ...plain, routing });
    expect(of(engine, 'forget', gradient).some((value) => value !== 0)).toBe(routing === 'shared');
    expect(of(engine, 'retain', gradient).some((value) => value !== 0)).toBe(true);
  });

  it('gives the forget adapter no gradient from ablated samples, and the retain adapter that of itself alone', async () => {
    const engine = await dualOn('wasm');
    const ablated = await step(engine, { good: none, hack: none, ablated: all }, { ...plain, routing: 'shared' });
    expect(of(engine, 'forget', ablated.gradient).every((value) => value === 0)).toBe(true);
    await engine.clearGradient();
    await engine.setScales({ forget: 0 });
    const alone = await step(engine, everything, plain);
    expect(of(engine, 'retain', ablated.gradient)).toEqual(of(engine, 'retain', alone.gradient));
  });

  it('leaves both adapters at their scales and trained, also when a pass fails', async () => {
    const engine = await dualOn('wasm');
    const tooLong = rollouts.map((rollout, index) =>
      index === 1 ? rolloutOf(rollout.task, Array<number>(100).fill(2)) : rollout,
    );
    const learner = new Learner(engine, null, { ...plain, beta: 0, routing: 'exclusive' });
    await expect(learner.differentiate(tooLong, advantages, passesOf(true))).rejects.toThrow();
    expect(engine.scales).toEqual({ retain: 1, forget: 1 });
    await engine.clearGradient();
    const { gradient } = await step(engine, everything, plain);
    expect(of(engine, 'forget', gradient).some((value) => value !== 0)).toBe(true);
  });

  it('moves a masked parameter by its momentum', async () => {
    const engine = await dualOn('wasm');
    const learner = new Learner(engine, null, { ...plain, beta: 0, routing: 'exclusive' });
    await learner.differentiate(rollouts, advantages, everything);
    await learner.step(1e-3);
    const before = of(engine, 'retain', await engine.weights());
    await learner.differentiate(rollouts, advantages, { good: none, hack: all, ablated: none });
    await learner.step(1e-3);
    expect(of(engine, 'retain', await engine.weights())).not.toEqual(before);
  });

  it('is refused on a model without two adapters', async () => {
    const learner = new Learner(await baseOn('wasm'), null, { ...plain, beta: 0, routing: 'shared' });
    await expect(learner.differentiate(rollouts, advantages, everything)).rejects.toThrow('two adapters');
  });
});

describe('the loss of a step', () => {
  it('has value 0 on-policy without a KL term, and the policy gradient as its gradient', async () => {
    const engine = await baseOn('wasm');
    const learner = new Learner(engine, null, { ...plain, beta: 0 });
    const { loss, pull } = await learner.differentiate(rollouts, advantages, everything);
    expect([loss, pull]).toEqual([expect.closeTo(0, 6), 0]);
    const found = await engine.gradient();
    await engine.clearGradient();
    const groups = [0, 4].map((first) => ({
      prompt: rollouts[first]!.task.prompt,
      continuations: rollouts.slice(first, first + 4).map(({ tokens }) => Int32Array.from(tokens)),
    }));
    await engine.forward(groups, { temperature: fixture.temperature });
    // −(1/N) Σ A/T ∇ log π
    const slopes = rollouts.flatMap(({ tokens }, index) =>
      [...tokens].map(() => -advantages[index]! / (rollouts.length * tokens.length)),
    );
    await engine.backward(Float32Array.from(slopes), null);
    expect(maxDifference(found, await engine.gradient())).toBeLessThan(1e-7);
  });

  it('has no KL loss at the reference model, and one away from it', async () => {
    const [engine, reference] = [await baseOn('wasm'), await baseOn('wasm')];
    const learner = new Learner(engine, reference, { ...plain, beta: 0.1 });
    expect((await learner.differentiate(rollouts, advantages, everything)).pull).toBe(0);
    await learner.step(0.01);
    expect((await learner.differentiate(rollouts, advantages, everything)).pull).toBeGreaterThan(0);
  });
});
