import { describe, expect, it } from 'vitest';
import { allLayers, loraOnAll, projections, type AdapterConfig } from '../../../../src/lab/engine/adapters/config.js';
import { initialAdapters } from '../../../../src/lab/engine/adapters/initial-adapters.js';
import { adapterLayout } from '../../../../src/lab/engine/adapters/layout.js';
import type { Engine } from '../../../../src/lab/engine/engine.js';
import { rng } from '../../../../src/lab/rng.js';
import { engineOn, everyEngine, expectSame, trainedEngineOn } from '../every-engine.js';
import { groupsOf, maxDifference, oddShape, slopes } from '../models.js';
import {
  adaptedOn,
  fixture,
  fixtureWeights,
  flatOf,
  sequences,
  sequenceSlopes,
  trainedAdaptedOn,
  unpack,
} from './adapted.js';

const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };
const everySecond = { start: 0, end: 1, stride: 2 };
const dual: AdapterConfig = [{ ...loraOnAll('retain', 2, 8) }, { ...loraOnAll('forget', 1, 8), layers: everySecond }];
const nets: AdapterConfig = [
  { kind: 'mlp', name: 'retain', neurons: 3, layers: allLayers },
  { kind: 'mlp', name: 'forget', neurons: 2, layers: { start: 0, end: 0.67, stride: 1 } },
];
/** Everything at once, on a model where no width is a multiple of 8, and one no multiple of 4. */
const shape = { ...oddShape, feedForward: 11 };
const mixed: AdapterConfig = [
  ...nets,
  { ...loraOnAll('all', 2, 3) },
  { ...loraOnAll('some', 3, 1), targets: ['v_proj', 'down_proj'], layers: { start: 0.5, end: 1, stride: 1 } },
];
const withHead: AdapterConfig = [
  { ...loraOnAll('head', 3, 6), targets: ['q_proj', 'down_proj', 'lm_head'] },
  { ...loraOnAll('more', 1, 2), targets: ['lm_head'], layers: everySecond },
];
const groups = groupsOf(shape, [
  [3, 4, 1],
  [2, 5],
]);

async function learn(engine: Engine, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await engine.forward(groups);
    await engine.backward(slopes(10, step), slopes(10, 50 + step));
    await engine.adam(adam);
  }
}

describe.each(everyEngine)('adapters on the engine on %s', (backend) => {
  it("have PEFT's log-probabilities, gradients of A and B, and Adam step", async () => {
    const { rank, alpha, parameters, logprobs, gradient, afterAdam } = fixture.single;
    const adapters = [loraOnAll('default', rank, alpha)];
    const engine = await adaptedOn(backend, fixture.shape, adapters, fixtureWeights());
    await engine.loadWeights(flatOf(engine.tensors, parameters));
    expect(maxDifference((await engine.forward(sequences)).logprobs, unpack(logprobs))).toBeLessThan(2e-6);
    await engine.backward(sequenceSlopes, null);
    expect(maxDifference(await engine.gradient(), flatOf(engine.tensors, gradient))).toBeLessThan(5e-6);
    await engine.adam(adam);
    expect(maxDifference(await engine.weights(), flatOf(engine.tensors, afterAdam))).toBeLessThan(1e-5);
  });

  it.each([
    { name: 'two LoRAs, one in every second layer', adapters: dual, expected: fixture.dual },
    { name: 'two small SwiGLU nets beside each layer', adapters: nets, expected: fixture.nets },
  ])(
    "have PyTorch's scores and gradients at every setting of their switches: $name",
    async ({ adapters, expected }) => {
      const engine = await adaptedOn(backend, fixture.shape, adapters, fixtureWeights());
      expect(engine.tensors.map(({ name }) => name).toSorted()).toEqual(Object.keys(expected.parameters).toSorted());
      await engine.loadWeights(flatOf(engine.tensors, expected.parameters));
      for (const { scales, logprobs, gradient } of expected.modes) {
        await engine.setScales(scales);
        expect(engine.scales).toEqual(scales);
        await engine.clearGradient();
        expect(maxDifference((await engine.forward(sequences)).logprobs, unpack(logprobs))).toBeLessThan(2e-6);
        await engine.backward(sequenceSlopes, null);
        expect(maxDifference(await engine.gradient(), flatOf(engine.tensors, gradient))).toBeLessThan(1e-5);
      }
    },
  );

  it.each([
    { on: 'layers', model: shape, adapters: mixed, scales: { all: 0.7, forget: 1.5 } },
    { on: 'layers and the head', model: shape, adapters: withHead, scales: { head: 1.3 } },
    { on: 'layers and a tied head', model: { ...shape, tied: true }, adapters: withHead, scales: { head: 1.3 } },
  ])('have gradients that match finite differences, on $on', async ({ model, adapters, scales }) => {
    const engine = await trainedAdaptedOn(backend, model, adapters);
    await engine.setScales(scales);
    const [dLogprob, dEntropy] = [slopes(10, 11), slopes(10, 12)];
    await engine.forward(groups);
    await engine.backward(dLogprob, dEntropy);
    const gradient = await engine.gradient();
    const weights = await engine.weights();
    const loss = async (changed: Float32Array) => {
      await engine.loadWeights(changed);
      const { logprobs, entropies } = await engine.forward(groups);
      return logprobs.reduce((sum, logprob, i) => sum + logprob * dLogprob[i]! + entropies[i]! * dEntropy[i]!, 0);
    };
    const top = gradient.reduce((most, g) => Math.max(most, Math.abs(g)), 0);
    for (const { name, offset, shape: sizes } of engine.tensors) {
      const count = sizes[0] * (sizes[1] ?? 1);
      const of = gradient.subarray(offset, offset + count);
      const at = offset + of.reduce((best, g, i) => (Math.abs(g) > Math.abs(of[best]!) ? i : best), 0);
      const [up, down] = [weights.slice(), weights.slice()];
      up[at]! += 2e-3;
      down[at]! -= 2e-3;
      const slope = ((await loss(up)) - (await loss(down))) / (up[at]! - down[at]!);
      expect(Math.abs(slope - gradient[at]!), name).toBeLessThan(0.02 * Math.abs(gradient[at]!) + 2e-3 * top);
      expect(Math.abs(gradient[at]!), name).toBeGreaterThan(0);
    }
  });

  it.each([dual, withHead])(
    'have no effect at first: the outputs have the bits of the frozen model',
    async (...adapters) => {
      const engine = await adaptedOn(backend, shape, adapters);
      const random = rng(1, 'adapters');
      await engine.loadWeights(initialAdapters(shape, adapters, () => random.next()));
      const plain = await trainedEngineOn(backend, shape);
      expect(await engine.forward(groups)).toEqual(await plain.forward(groups));
    },
  );

  it('train while the frozen model keeps its bytes, and resume from a copy of their state bit for bit', async () => {
    const engine = await trainedAdaptedOn(backend, shape, mixed);
    const [frozen, before] = [engine.frozenWeights(), await engine.weights()];
    await learn(engine, 2);
    const again = await adaptedOn(backend, shape, mixed);
    await again.loadWeights(await engine.weights());
    await again.loadOptimizerState(await engine.optimizerState());
    for (const each of [engine, again]) await learn(each, 2);
    expect(await again.weights()).toEqual(await engine.weights());
    expect(await again.optimizerState()).toEqual(await engine.optimizerState());
    expect(engine.frozenWeights()).toEqual(frozen);
    const after = await engine.weights();
    for (const { name, offset } of engine.tensors) expect(after[offset], name).not.toBe(before[offset]);
  });

  it('train only those that are named, and get no gradient at scale 0', async () => {
    const engine = await trainedAdaptedOn(backend, shape, dual);
    const gradientOf = async (names: readonly string[] | null, scales: Record<string, number>) => {
      await engine.setScales(scales);
      await engine.setTrained(names);
      await engine.clearGradient();
      await engine.forward(groups);
      await engine.backward(slopes(10, 1), null);
      return engine.gradient();
    };
    const on = { retain: 1, forget: 1 };
    const both = await gradientOf(null, on);
    const forget = await gradientOf(['forget'], on);
    const retainAlone = await gradientOf(null, { forget: 0 });
    for (const { name, offset, shape: sizes } of engine.tensors) {
      const part = (values: Float32Array) => values.subarray(offset, offset + sizes[0] * sizes[1]!);
      const isForget = name.endsWith('.forget');
      expect(part(forget), name).toEqual(isForget ? part(both) : new Float32Array(sizes[0] * sizes[1]!));
      expect(
        part(retainAlone).some((g) => g !== 0),
        name,
      ).toBe(!isForget);
    }
  });

  it('accumulate the gradients of passes with different scales into one step', async () => {
    const engine = await trainedAdaptedOn(backend, shape, dual);
    const pass = async (scales: Record<string, number>, names: string[] | null, seed: number) => {
      await engine.setScales(scales);
      await engine.setTrained(names);
      await engine.forward(groups);
      await engine.backward(slopes(10, seed), null);
    };
    const passes = [
      () => pass({ retain: 1, forget: 1 }, null, 1),
      () => pass({ retain: 1, forget: 1 }, ['forget'], 2),
      () => pass({ retain: 1, forget: 0 }, null, 3),
    ];
    const sum = new Float32Array(engine.parameterCount);
    for (const each of passes) {
      await engine.clearGradient();
      await each();
      (await engine.gradient()).forEach((g, i) => (sum[i]! += g));
    }
    await engine.clearGradient();
    for (const each of passes) await each();
    expect(maxDifference(await engine.gradient(), sum)).toBeLessThan(1e-5);
  });

  it('support parameter groups, clipping and weight decay', async () => {
    const engine = await trainedAdaptedOn(backend, shape, mixed);
    const named = (word: string) => engine.tensors.filter(({ name }) => name.includes(word)).map(({ name }) => name);
    const before = await engine.weights();
    await engine.forward(groups);
    await engine.backward(slopes(10, 1), null);
    const norm = Math.hypot(...(await engine.gradient()).filter((_, i) => !isIn(named('lora_A'), i)));
    function isIn(names: readonly string[], at: number): boolean {
      return engine.tensors.some(
        ({ name, offset, shape: [rows, columns = 1] }) =>
          names.includes(name) && at >= offset && at < offset + rows * columns,
      );
    }
    const returned = await engine.adam({
      ...adam,
      clipNorm: 1,
      groups: [
        { tensors: named('lora_A'), frozen: true },
        { tensors: named('up_adapter'), learningRate: 0 },
      ],
    });
    expect(returned / norm).toBeCloseTo(1, 5);
    const after = await engine.weights();
    for (const { name, offset } of engine.tensors) {
      const stays = /lora_A|up_adapter/.test(name);
      expect(after[offset] === before[offset], name).toBe(stays);
    }
  });

  it('are cloned with their model and scales, independent of the original', async () => {
    const engine = await trainedAdaptedOn(backend, shape, mixed);
    await engine.setScales({ some: 0.25 });
    const scores = await engine.forward(groups);
    const copy = await engine.clone();
    expect(copy.scales).toEqual(engine.scales);
    expect(await copy.weights()).toEqual(await engine.weights());
    await learn(engine, 1);
    expect(await copy.forward(groups)).toEqual(scores);
    expect((await copy.optimizerState()).step).toBe(0);
    await copy.dispose();
  });

  it('move along a direction and back without a trace', async () => {
    const engine = await trainedAdaptedOn(backend, shape, dual);
    const before = await engine.weights();
    const direction = slopes(engine.parameterCount, 3);
    await engine.addToWeights(direction, 0.5);
    const moved = before.map((weight, i) => weight + 0.5 * direction[i]!);
    expect(maxDifference(await engine.weights(), moved)).toBeLessThan(1e-7);
    const loaded = await adaptedOn(backend, shape, dual);
    await loaded.loadWeights(await engine.weights());
    expect(await engine.forward(groups)).toEqual(await loaded.forward(groups));
  });

  it('merged into the weights, give a plain model with the same scores and greedy continuation', async () => {
    const engine = await trainedAdaptedOn(backend, shape, mixed);
    await engine.setScales({ retain: 0.5 });
    const merged = engine.merged();
    expect(merged.shape.feedForward).toBe(11 + 3 + 2);
    const plain = await engineOn(backend, merged.shape);
    await plain.loadWeights(merged.weights);
    expectSame(backend, (await plain.forward(groups)).logprobs, (await engine.forward(groups)).logprobs);
    const prompts = [{ tokens: Int32Array.of(1, 2, 3), seed: 1 }];
    const [ours, theirs] = [
      await engine.generate(prompts, { maxTokens: 5, temperature: 0 }),
      await plain.generate(prompts, { maxTokens: 5, temperature: 0 }),
    ];
    expect(ours[0]!.tokens).toEqual(theirs[0]!.tokens);
  });

  it('refuse a backward pass after scales or weights have changed', async () => {
    const engine = await trainedAdaptedOn(backend, shape, dual);
    await engine.forward(groups);
    await engine.setScales({ forget: 0 });
    await expect(engine.backward(slopes(10, 1), null)).rejects.toThrow(/weights have changed/);
    await engine.forward(groups);
    await engine.adam(adam);
    await expect(engine.backward(slopes(10, 1), null)).rejects.toThrow(/weights have changed/);
  });
});

describe('adapters on our kernels', () => {
  it.each<{ what: string; call: (engine: Awaited<ReturnType<typeof adaptedOn>>) => Promise<unknown>; says: RegExp }>([
    { what: 'a name nobody has', call: (e) => e.setScales({ good: 1 }), says: /no adapter "good"/ },
    { what: 'training of a name nobody has', call: (e) => e.setTrained(['bad']), says: /no adapter "bad"/ },
    { what: 'too few weights', call: (e) => e.loadWeights(new Float32Array(3)), says: /`weights` has 3 numbers/ },
    { what: 'too short a direction', call: (e) => e.addToWeights(new Float32Array(3), 1), says: /`direction` has 3/ },
    {
      what: 'a group of a frozen tensor',
      call: (e) => e.adam({ ...adam, groups: [{ tensors: ['model.norm.weight'] }] }),
      says: /no tensor "model\.norm\.weight"/,
    },
    {
      what: 'an optimizer that took half a step',
      call: (e) => e.loadOptimizerState({ step: 0.5, m: new Float32Array(), v: new Float32Array() }),
      says: /0\.5 steps/,
    },
  ])('refuse $what', async ({ call, says }) => {
    await expect(call(await adaptedOn('wasm', shape, dual))).rejects.toThrow(says);
  });

  it('of rank 0 or without neurons have no parameters', async () => {
    const none: AdapterConfig = [
      loraOnAll('retain', 0, 1),
      { kind: 'mlp', name: 'forget', neurons: 0, layers: allLayers },
    ];
    const engine = await adaptedOn('wasm', shape, none);
    expect([engine.parameterCount, engine.tensors.length]).toEqual([0, 0]);
    const plain = await trainedEngineOn('wasm', shape);
    expect(await engine.forward(groups)).toEqual(await plain.forward(groups));
  });

  it('have small-rl’s parameter counts on SimpleStories-1.25M: 9,212 a rank, 28 modules, 14 in every second layer', () => {
    const stories = { ...oddShape, width: 128, layers: 4, heads: 4, kvHeads: 2, feedForward: 341, vocabulary: 4096 };
    for (const rank of [1, 32]) {
      const plan = adapterLayout(stories, [loraOnAll('retain', rank, 32)]);
      expect([plan.size, plan.tensors.length]).toEqual([9212 * rank, 2 * 28]);
    }
    const half = adapterLayout(stories, [{ ...loraOnAll('retain', 1, 1), layers: everySecond }]);
    expect(half.tensors.length).toBe(2 * 14);
  });

  it('start with A uniform within 1/√inputs and B at 0, from the seed alone', () => {
    const adapters = [loraOnAll('a', 4, 1), ...nets.map((net) => ({ ...net, name: `${net.name}-net` }))];
    const draw = (seed: number) => {
      const random = rng(seed, 'adapters');
      return initialAdapters(fixture.shape, adapters, () => random.next());
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    expect(projections).toHaveLength(7);
    const largest = draw(1).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(largest).toBeGreaterThan(0.29);
    expect(largest).toBeLessThanOrEqual(1 / Math.sqrt(11));
    const share = draw(1).filter((value) => value === 0).length / draw(1).length;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.6);
  });
});
