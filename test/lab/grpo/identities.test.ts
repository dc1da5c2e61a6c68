import { describe, expect, it } from 'vitest';
import { initialAdapters } from '../../../src/lab/engine/adapters/initial-adapters.js';
import { loraOnAll } from '../../../src/lab/engine/adapters/config.js';
import { placesOf } from '../../../src/lab/engine/adapters/layout.js';
import type { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { dualLora } from '../../../src/lab/grpo/adapter-presets.js';
import { advantagesOf } from '../../../src/lab/grpo/baselines.js';
import { Learner } from '../../../src/lab/grpo/learner.js';
import { promptOf, rollOut } from '../../../src/lab/grpo/rollouts.js';
import { differentiate, scores, type Sample } from '../../../src/lab/grpo/samples.js';
import { ppo } from '../../../src/lab/objectives/objective.js';
import { rng } from '../../../src/lab/rng.js';
import { memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { adaptedOn } from '../engine/adapters/adapted.js';
import { maxDifference } from '../engine/models.js';
import { microEngine } from '../micro-engine.js';
import { baseOn, dualOn, fixture, rollouts } from './routed-fixture.js';

const loss = { objective: ppo({ low: 0.8, high: 1.2 }), beta: 0, temperature: 1 };
const everything = { good: rollouts.map(() => true), hack: [], ablated: [] };

describe('parts of a batch', () => {
  const samples = rollouts.map(({ prompt, tokens }, index) => ({
    ...{ prompt: prompt.tokens, tokens, reference: null },
    advantage: Math.sin(index + 1),
  }));
  const parts = [samples.slice(0, 3), samples.slice(3)];

  /** The gradient of a loss that is computed part by part, each counted by its share of the samples. */
  async function gradientOf(
    all: readonly (typeof samples)[],
    weight: (part: typeof samples, sample: number) => number,
  ) {
    const engine = await baseOn('wasm');
    for (const part of all) {
      const share = part.length / samples.length;
      const weighted: Sample[] = part.map((sample, index) => ({ ...sample, weight: share * weight(part, index) }));
      await differentiate(engine, weighted, loss);
    }
    return engine.gradient();
  }

  it('add up to the whole where tokens count by their own completion', async () => {
    const mean = (part: typeof samples, sample: number) => 1 / (part.length * part[sample]!.tokens.length);
    expect(maxDifference(await gradientOf(parts, mean), await gradientOf([samples], mean))).toBeLessThan(1e-6);
  });

  it('do not where tokens count by the tokens of their part, as in DAPO', async () => {
    const tokens = (part: typeof samples) => 1 / part.reduce((sum, { tokens: own }) => sum + own.length, 0);
    expect(maxDifference(await gradientOf(parts, tokens), await gradientOf([samples], tokens))).toBeGreaterThan(1e-3);
  });
});

describe('two adapters', () => {
  const adapters = dualLora({ retain: 3, forget: 3, alpha: 4, stride: 1 });
  const matrix = (engine: AdaptedEngine, values: Float32Array, part: string): number[][] =>
    engine.tensors
      .filter(({ name }) => name.endsWith(part))
      .map((tensor) => [...placesOf(tensor)].map((place) => values[place]!));

  it('of equal strength whose A are the same have the same gradient of B, and at first none of A', async () => {
    const engine = await adaptedOn('wasm', fixture.shape, adapters, await (await baseOn('wasm')).weights());
    const random = rng(5, 'adapters');
    const parameters = initialAdapters(fixture.shape, adapters, () => random.next());
    const half = parameters.length / 2;
    parameters.copyWithin(half, 0, half);
    await engine.loadWeights(parameters);
    const rewards = fixture.rewards.flat();
    const advantages = advantagesOf(
      { rewards, retain: rewards, flagged: rewards.map(() => false), groupSize: 4 },
      null,
    );
    await new Learner(engine, null, { beta: 0, temperature: 1, routing: null }).differentiate(
      rollouts,
      advantages,
      everything,
    );
    const gradient = await engine.gradient();
    expect(matrix(engine, gradient, '.lora_B.retain')).toEqual(matrix(engine, gradient, '.lora_B.forget'));
    expect(matrix(engine, gradient, '.lora_B.retain').every((b) => b.some((value) => value !== 0))).toBe(true);
    for (const a of ['.lora_A.retain', '.lora_A.forget']) {
      expect(
        matrix(engine, gradient, a)
          .flat()
          .every((value) => value === 0),
      ).toBe(true);
    }
  });

  it('change the weights by the sum of what each changes, and one that is off by nothing', async () => {
    const engine = await dualOn('wasm');
    const merged = async (retain: number, forget: number) => {
      await engine.setScales({ retain, forget });
      return engine.merged().weights;
    };
    const [both, kept, forgot, neither] = [
      await merged(1, 1),
      await merged(1, 0),
      await merged(0, 1),
      await merged(0, 0),
    ];
    const sum = both.map((weight, index) => weight - kept[index]! - forgot[index]! + neither[index]!);
    expect(maxDifference(sum, new Float32Array(sum.length))).toBeLessThan(1e-6);
    expect(neither).toEqual(await (await baseOn('wasm')).weights());
    expect(maxDifference(both, neither)).toBeGreaterThan(0.05);
  });

  it('with the forget adapter off are one LoRA', async () => {
    const dual = await dualOn('wasm');
    await dual.setScales({ forget: 0 });
    const [rank, alpha] = [fixture.ranks.retain, fixture.alpha];
    const single = await adaptedOn('wasm', fixture.shape, [loraOnAll('retain', rank, alpha)], dual.frozenWeights());
    await single.loadWeights((await dual.weights()).slice(0, single.parameterCount));
    const plain = rollouts.map(({ prompt, tokens }) => ({ prompt: prompt.tokens, tokens }));
    expect(await scores(dual, plain, 1)).toEqual(await scores(single, plain, 1));
  });
});

describe('on a bandit of one token', () => {
  const prompt = promptOf('0', memoryTokenizer);

  /** Mean rewards of the first and of the last steps, and the last divergence, when tokens of odd number pay. */
  async function play(beta: number): Promise<{ first: number; last: number; kl: number }> {
    const [engine, reference] = [await microEngine(), await microEngine()];
    const learner = new Learner(engine, beta === 0 ? null : reference, { beta, temperature: 1, routing: null });
    const means: number[] = [];
    let kl = 0;
    for (let step = 0; step < 60; step++) {
      const manner = { maxTokens: 1, temperature: 1, repetitionPenalty: 1, copies: 64 };
      const played = await rollOut({ engine, tokenizer: memoryTokenizer }, [prompt], manner, rng(step, 'bandit'));
      const rewards: number[] = played.map(({ tokens }) => tokens[0]! % 2);
      const paid = { rewards, retain: rewards, flagged: rewards.map(() => false), groupSize: 64 };
      const passes = { good: rewards.map(() => true), hack: [], ablated: [] };
      const learnt = await learner.differentiate(played, advantagesOf(paid, null), passes);
      await learner.step(0.002);
      kl = learnt.kl / learnt.tokens;
      means.push(rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length);
    }
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return { first: mean(means.slice(0, 3)), last: mean(means.slice(-10)), kl };
  }

  it('earns more and more, and stays where it began under a strong pull', async () => {
    const free = await play(0);
    expect(free.last).toBeGreaterThan(free.first + 0.2);
    expect(free.last).toBeGreaterThan(0.95);
    const held = await play(30);
    expect(Math.abs(held.last - held.first)).toBeLessThan(0.15);
    expect(held.kl).toBeLessThan(0.05);
  });
});
