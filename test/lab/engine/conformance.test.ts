import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Engine, ModelShape, PromptGroup } from '../../../src/lab/engine/engine.js';
import { layout, offsetsOf } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { absentEngines, engineOn, everyEngine, expectSame, mostScores, trainedEngineOn } from './every-engine.js';
import { groupsOf, maxDifference, oddShape, scaledShape, slopes, tailShape } from './models.js';

const fixtures = 'test/fixtures/engine/W1';
const floats = (file: string) => new Float32Array(new Uint8Array(readFileSync(file)).buffer);
/** Four sequences of 10 prompt and 5 sampled tokens, log-probabilities when sampled, and one advantage each. */
const fixture = JSON.parse(readFileSync(`${fixtures}.fix.json`, 'utf8')) as {
  tok: number[];
  adv: number[];
  old: number[];
};

const shapes: { name: string; shape: ModelShape }[] = [
  { name: 'tiny', shape: presets.tiny },
  { name: 'grouped queries, untied head, odd vocabulary', shape: oddShape },
  { name: 'widths with tails, tied head', shape: tailShape },
  { name: 'biases and scaled RoPE', shape: scaledShape },
  { name: 'a feed-forward layer of 11', shape: { ...oddShape, feedForward: 11 } },
];

/** The flat vector of a model as that of a larger one: by name and place, zeros elsewhere. */
function filledUp(shape: ModelShape, larger: ModelShape, values: Float32Array): Float32Array {
  const filled = new Float32Array(offsetsOf(larger).size);
  layout(larger).forEach((to, index) => {
    const from = layout(shape)[index]!;
    for (let i = 0; i < from.shape[0]; i++) {
      for (let j = 0; j < (from.shape[1] ?? 1); j++) {
        const value = values[from.offset + i * from.strides[0] + j * (from.strides[1] ?? 0)]!;
        filled[to.offset + i * to.strides[0] + j * (to.strides[1] ?? 0)] = value;
      }
    }
  });
  return filled;
}

async function gradientOf(
  engine: Engine,
  groups: PromptGroup[],
  dLogprob: Float32Array,
  dEntropy: Float32Array | null,
): Promise<Float32Array> {
  await engine.clearGradient();
  await engine.forward(groups);
  await engine.backward(dLogprob, dEntropy);
  return engine.gradient();
}

describe.each(everyEngine)('the engine on %s', (backend) => {
  it('reports its hardware and its number of parameters', async () => {
    const engine = await engineOn(backend, presets.tiny);
    expect(engine.backend).toBe(backend.split(' ')[0]);
    expect(engine.parameterCount).toBe(101_184);
  });

  it("computes PyTorch's loss and whole gradient", async () => {
    const engine = await engineOn(backend, presets.tiny);
    await engine.loadWeights(floats(`${fixtures}.params.bin`));
    const groups = fixture.adv.map((_, i) => {
      const tokens = Int32Array.from(fixture.tok.slice(15 * i, 15 * i + 15));
      return { prompt: tokens.slice(0, 10), continuations: [tokens.slice(10)] };
    });
    const { logprobs } = await engine.forward(groups);
    const gains = logprobs.map((logprob, i) => Math.exp(logprob - fixture.old[i]!) * fixture.adv[Math.floor(i / 5)]!);
    expect(-gains.reduce((sum, gain) => sum + gain, 0)).toBeCloseTo(-9.17047, 4);
    await engine.backward(
      gains.map((gain) => -gain),
      null,
    );
    expect(maxDifference(await engine.gradient(), floats(`${fixtures}.grad.bin`))).toBeLessThan(1e-4);
  });

  it('restores a remembered gradient, an empty one too', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 4, 2]]);
    const add = async (seed: number) => {
      await engine.forward(groups);
      await engine.backward(slopes(6, seed), null);
    };
    const restoreNone = await engine.keepGradient();
    await add(1);
    const first = await engine.gradient();
    const restoreFirst = await engine.keepGradient();
    await add(2);
    const both = await engine.gradient();
    await restoreFirst();
    expect(await engine.gradient()).toEqual(first);
    await add(2);
    expect(await engine.gradient()).toEqual(both);
    await restoreNone();
    expect((await engine.gradient()).every((g) => g === 0)).toBe(true);
  });

  it.each(shapes)('has gradients that match finite differences: $name', async ({ shape }) => {
    const engine = await trainedEngineOn(backend, shape);
    const groups = groupsOf(shape, [
      [3, 4, 1, 2],
      [1, 5],
    ]);
    const dLogprob = slopes(12, 11);
    const dEntropy = slopes(12, 12);
    const gradient = await gradientOf(engine, groups, dLogprob, dEntropy);
    const weights = await engine.weights();
    const loss = async (changed: Float32Array) => {
      await engine.loadWeights(changed);
      const { logprobs, entropies } = await engine.forward(groups);
      return logprobs.reduce((sum, logprob, i) => sum + logprob * dLogprob[i]! + entropies[i]! * dEntropy[i]!, 0);
    };
    const top = gradient.reduce((most, g) => Math.max(most, Math.abs(g)), 0);
    for (const { name, offset, shape: sizes, strides } of layout(shape)) {
      // The largest slope of each tensor: single precision leaves little of the small ones' differences.
      const indices = sizes.length === 2 ? sizes[0] * sizes[1] : sizes[0];
      let at = offset;
      for (let k = 0; k < indices; k++) {
        const [i, j] = sizes.length === 2 ? [Math.floor(k / sizes[1]), k % sizes[1]] : [k, 0];
        const index = offset + i * strides[0] + j * (strides[1] ?? 0);
        if (Math.abs(gradient[index]!) > Math.abs(gradient[at]!)) at = index;
      }
      const step = 4e-3;
      const up = weights.slice();
      up[at]! += step;
      const down = weights.slice();
      down[at]! -= step;
      const slope = ((await loss(up)) - (await loss(down))) / (up[at]! - down[at]!);
      expect(Math.abs(slope - gradient[at]!), name).toBeLessThan(0.02 * Math.abs(gradient[at]!) + 1e-3 * top);
      expect(Math.abs(gradient[at]!), name).toBeGreaterThan(0);
    }
  });

  it.each(shapes)(
    'scores a shared prompt as separate prompts, bit for bit on our kernels: $name',
    async ({ shape }) => {
      const engine = await trainedEngineOn(backend, shape);
      const shared = groupsOf(shape, [
        [4, 3, 1, 5],
        [2, 2, 6],
      ]);
      const separate = shared.flatMap(({ prompt, continuations }) =>
        continuations.map((continuation) => ({ prompt, continuations: [continuation] })),
      );
      const [inGroups, alone] = [await engine.forward(shared), await engine.forward(separate)];
      expectSame(backend, inGroups.logprobs, alone.logprobs);
      expectSame(backend, inGroups.entropies, alone.entropies);
      const dLogprob = slopes(17, 21);
      const dEntropy = slopes(17, 22);
      const together = await gradientOf(engine, shared, dLogprob, dEntropy);
      const apart = await gradientOf(engine, separate, dLogprob, dEntropy);
      expect(maxDifference(together, apart)).toBeLessThan(1e-5 * Math.max(...apart.map(Math.abs)) + 1e-6);
    },
  );

  it('scores several alternative tokens a position like continuations of their own', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const [prompt, read, targets] = [Int32Array.of(1, 2), Int32Array.of(3, 4), Int32Array.of(5, 6, 7, 7)];
    const together = [{ prompt, continuations: [read], targets: [targets] }];
    const ofEach = (...tokens: number[]) => tokens.map((token) => Int32Array.of(token));
    const apart = [
      { prompt, continuations: ofEach(5, 6) },
      { prompt: Int32Array.of(1, 2, 3), continuations: ofEach(7, 7) },
    ];
    expectSame(backend, (await engine.forward(together)).logprobs, (await engine.forward(apart)).logprobs);
    const dLogprob = slopes(4, 23);
    const gradients = [
      await gradientOf(engine, together, dLogprob, null),
      await gradientOf(engine, apart, dLogprob, null),
    ];
    expect(maxDifference(gradients[0]!, gradients[1]!)).toBeLessThan(1e-5 * Math.max(...gradients[1]!.map(Math.abs)));
    const ragged = [{ prompt, continuations: [read], targets: [Int32Array.of(5, 6, 7)] }];
    await expect(engine.forward(ragged)).rejects.toThrow('has 3 targets');
  });

  it('computes a feed-forward layer of any width like one padded with zeros, also in training; our kernels bit for bit', async () => {
    const shape = { ...oddShape, feedForward: 11 };
    const filled = { ...oddShape, feedForward: 12 };
    const engine = await trainedEngineOn(backend, shape);
    const wider = await engineOn(backend, filled);
    await wider.loadWeights(filledUp(shape, filled, await engine.weights()));
    for (let step = 0; step < 3; step++) {
      const groups = groupsOf(shape, [[3, 4, 2 + step]], step);
      const [scores, same] = [await engine.forward(groups), await wider.forward(groups)];
      expectSame(backend, scores.logprobs, same.logprobs);
      expectSame(backend, scores.entropies, same.entropies);
      for (const each of [engine, wider]) await each.backward(slopes(6 + step, step), slopes(6 + step, 50 + step));
      expectSame(backend, filledUp(shape, filled, await engine.gradient()), await wider.gradient());
      for (const each of [engine, wider]) {
        await each.adam({ learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
      }
    }
    expectSame(backend, filledUp(shape, filled, await engine.weights()), await wider.weights());
  });

  it('gives the uniform distribution and its entropy when all weights are zero', async () => {
    const engine = await engineOn(backend, oddShape);
    const { logprobs, entropies } = await engine.forward(groupsOf(oddShape, [[2, 3]]));
    for (const logprob of logprobs) expect(Math.abs(logprob + Math.log(13))).toBeLessThan(1e-6);
    for (const entropy of entropies) expect(Math.abs(entropy - Math.log(13))).toBeLessThan(1e-6);
  });

  it('gives the same bits for the same inputs', async () => {
    const run = async () => {
      const engine = await trainedEngineOn(backend, oddShape);
      for (let step = 0; step < 3; step++) {
        await engine.forward(
          groupsOf(
            oddShape,
            [
              [3, 4, 2 + step],
              [2, 5],
            ],
            step,
          ),
        );
        await engine.backward(slopes(11 + step, step), slopes(11 + step, 50 + step));
        await engine.adam({ learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
      }
      return engine.weights();
    };
    expect(await run()).toEqual(await run());
  });

  it('gives the same bits whatever batches it computed before', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 4, 2]]);
    const before = await engine.forward(groups);
    await engine.forward(
      groupsOf(oddShape, [
        [9, 15, 15, 1],
        [12, 12],
        [1, 1],
      ]),
    );
    await engine.decoder(groups[0]!.prompt, 3);
    expect(await engine.forward(groups)).toEqual(before);
    const gradient = await gradientOf(engine, groups, slopes(6, 1), null);
    const fresh = await trainedEngineOn(backend, oddShape);
    expect(gradient).toEqual(await gradientOf(fresh, groups, slopes(6, 1), null));
  });

  it('accumulates the gradients of two backward passes after one forward pass', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 4, 2]]);
    const once = await gradientOf(engine, groups, slopes(6, 1), slopes(6, 2));
    await engine.backward(slopes(6, 1), slopes(6, 2));
    expect(
      maxDifference(
        await engine.gradient(),
        once.map((g) => 2 * g),
      ),
    ).toBeLessThan(1e-5);
  });

  it('writes its gradient into a given array, with zeros when there is none', async () => {
    const engine = await trainedEngineOn(backend, { ...oddShape, feedForward: 11 });
    const into = new Float32Array(engine.parameterCount).fill(7);
    expect(await engine.gradient(into)).toBe(into);
    expect(into.every((g) => g === 0)).toBe(true);
    await engine.forward(groupsOf(engine.shape, [[3, 4]]));
    await engine.backward(slopes(4, 1), null);
    expect(await engine.gradient(into)).toBe(into);
    expect(into).toEqual(await engine.gradient());
    expect(into.some((g) => g !== 0)).toBe(true);
  });

  it.each([0.5, 1, 3])('computes scores and gradients at temperature %s', async (temperature) => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [
      [3, 4, 1],
      [1, 5],
    ]);
    const [{ prompt, continuations }] = groups as [PromptGroup];
    const { logprobs, entropies } = await engine.forward(groups, { temperature });
    const weights = (await (await engine.decoder(prompt, 1)).logprobs()).map((lp) => Math.exp(lp / temperature));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const entropy = weights.reduce((sum, weight) => sum - (weight / total) * Math.log(weight / total), 0);
    expect(Math.exp(logprobs[0]!)).toBeCloseTo(weights[continuations[0]![0]!]! / total, 5);
    expect(entropies[0]).toBeCloseTo(entropy, 5);
    const [dLogprob, dEntropy] = [slopes(10, 11), slopes(10, 12)];
    await engine.backward(dLogprob, dEntropy);
    const gradient = await engine.gradient();
    const loss = async (moved: Engine) => {
      const scores = await moved.forward(groups, { temperature });
      return dLogprob.reduce((sum, d, i) => sum + d * scores.logprobs[i]! + dEntropy[i]! * scores.entropies[i]!, 0);
    };
    const along = async (step: number) => {
      const moved = await engine.clone();
      await moved.addToWeights(gradient, step / Math.hypot(...gradient));
      return loss(moved);
    };
    const slope = ((await along(4e-3)) - (await along(-4e-3))) / 8e-3;
    expect(slope / Math.hypot(...gradient)).toBeCloseTo(1, 2);
  });

  it('gives the same bits at temperature 1 as without one', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 4, 1]]);
    const plain = [await engine.forward(groups), await gradientOf(engine, groups, slopes(5, 1), slopes(5, 2))];
    const scores = await engine.forward(groups, { temperature: 1 });
    await engine.clearGradient();
    await engine.backward(slopes(5, 1), slopes(5, 2));
    expect([scores, await engine.gradient()]).toEqual(plain);
  });

  it('adds a multiple of a direction to the weights', async () => {
    const engine = await trainedEngineOn(backend, { ...oddShape, feedForward: 11 });
    const before = await engine.weights();
    const direction = slopes(engine.parameterCount, 4);
    const state = await engine.optimizerState();
    await engine.addToWeights(direction, -0.25);
    const sum = before.map((weight, i) => weight - 0.25 * direction[i]!);
    expect(maxDifference(await engine.weights(), sum)).toBeLessThan(1e-7);
    expect(await engine.optimizerState()).toEqual(state);
    const loaded = await engineOn(backend, engine.shape);
    await loaded.loadWeights(await engine.weights());
    const groups = groupsOf(engine.shape, [[3, 4]]);
    expect(await engine.forward(groups)).toEqual(await loaded.forward(groups));
  });

  it('is cloned with the same weights and a fresh optimizer, independent of the original', async () => {
    const engine = await trainedEngineOn(backend, oddShape);
    const groups = groupsOf(oddShape, [[3, 4, 2]]);
    const learn = async () => {
      await engine.forward(groups);
      await engine.backward(slopes(6, 1), null);
      await engine.adam({ learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 });
    };
    await learn();
    await engine.forward(groups);
    await engine.backward(slopes(6, 3), null);
    const gathered = await engine.gradient();
    const scores = await engine.forward(groups);
    const reference = await engine.clone();
    expect([reference.backend, reference.shape]).toEqual([engine.backend, engine.shape]);
    expect(await reference.weights()).toEqual(await engine.weights());
    expect((await reference.optimizerState()).step).toBe(0);
    expect((await reference.gradient()).every((g) => g === 0)).toBe(true);
    expect(await engine.gradient()).toEqual(gathered);
    await learn();
    expect(await reference.forward(groups)).toEqual(scores);
    await reference.dispose();
    expect(await engine.forward(groups)).not.toEqual(scores);
  });

  it('back-propagates through scores that were computed in pieces and not kept', async () => {
    // So many that 5 rows of scores are kept. Seven head rows are two pieces, five are one.
    const vocabulary = Math.floor(mostScores / 5.5);
    const shape = { ...presets.micro, vocabulary, width: 4, heads: 1, kvHeads: 1, feedForward: 4 };
    const engine = await trainedEngineOn(backend, shape);
    const [{ prompt, continuations }] = groupsOf(shape, [[1, 7]]) as [PromptGroup];
    const head = [{ prompt, continuations: [continuations[0]!.slice(0, 5)] }];
    const whole = await engine.forward([{ prompt, continuations }]);
    expectSame(backend, (await engine.forward(head)).logprobs, whole.logprobs.slice(0, 5));
    const dLogprob = slopes(5, 1);
    const padded = new Float32Array(7);
    padded.set(dLogprob);
    const pieces = await gradientOf(engine, [{ prompt, continuations }], padded, padded);
    expect(maxDifference(pieces, await gradientOf(engine, head, dLogprob, dLogprob))).toBeLessThan(1e-5);
  });
});

describe.each(everyEngine)('the engine on %s, beside our kernels', (backend) => {
  it.each(shapes)('agrees on scores, gradient and Adam step: $name', async ({ shape }) => {
    const groups = groupsOf(shape, [
      [5, 4, 7, 1],
      [2, 9],
    ]);
    const results = [];
    for (const engineName of ['wasm', backend]) {
      const engine = await trainedEngineOn(engineName, shape);
      const { logprobs, entropies } = await engine.forward(groups);
      await engine.backward(slopes(21, 1), slopes(21, 2));
      const gradient = await engine.gradient();
      const norm = await engine.adam({ learningRate: 1e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-6 });
      results.push({ logprobs, entropies, gradient, norm });
    }
    const [wasm, other] = results;
    expect(maxDifference(wasm!.logprobs, other!.logprobs)).toBeLessThan(2e-5);
    expect(maxDifference(wasm!.entropies, other!.entropies)).toBeLessThan(2e-5);
    expect(maxDifference(wasm!.gradient, other!.gradient)).toBeLessThan(1e-4);
    expect(wasm!.norm / other!.norm).toBeCloseTo(1, 5);
  });
});

describe('an engine that is not on this machine', () => {
  it.for(absentEngines)('$name: $why', ({ name }, { skip }) => {
    skip(`the conformance suite was not run on ${name}`);
  });
});
