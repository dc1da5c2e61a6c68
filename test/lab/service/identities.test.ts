import { describe, expect, it } from 'vitest';
import { initialAdapters } from '../../../src/lab/engine/adapters/initial-adapters.js';
import { loraOnAll } from '../../../src/lab/engine/adapters/config.js';
import { placesOf } from '../../../src/lab/engine/adapters/layout.js';
import type { AdaptedEngine } from '../../../src/lab/engine/adapters/adapted-engine.js';
import { advantages as comparedIn } from '../../../src/lab/advantages/advantages.js';
import type { Environment } from '../../../src/lab/environments/environment.js';
import { ppo } from '../../../src/lab/objectives/objectives.js';
import { rng } from '../../../src/lab/rng.js';
import { rollOut } from '../../../src/lab/rollouts/rollouts.js';
import { dualLora } from '../../../src/lab/service/dual-adapters.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import type { Datum } from '../../../src/lab/service/service.js';
import { memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { adaptedOn } from '../engine/adapters/adapted.js';
import { maxDifference } from '../engine/models.js';
import { microEngine } from '../micro-engine.js';
import { Learner, rolloutDatums } from './learner.js';
import { baseOn, dualOn, fixture, rollouts } from './routed-fixture.js';

const loss = { objective: ppo({ low: 0.8, high: 1.2 }) };
const compared = (rewards: readonly number[]) =>
  comparedIn(
    rewards.map((reward) => [reward]),
    'trajectory',
    'std',
  ).flat();
const everything = { good: rollouts.map(() => true), hack: [], ablated: [] };

describe('parts of a batch', () => {
  const samples = rolloutDatums(
    rollouts,
    rollouts.map((_, index) => Math.sin(index + 1)),
  );
  const parts = [samples.slice(0, 3), samples.slice(3)];

  /** The gradient of a loss that is computed part by part, each counted by its share of the samples. */
  async function gradientOf(
    all: readonly (typeof samples)[],
    weight: (part: typeof samples, sample: number) => number,
  ) {
    const engine = await baseOn('wasm');
    const service = new EngineService(engine);
    for (const part of all) {
      const share = part.length / samples.length;
      const weighted = part.map((sample, index): Datum => {
        return { ...sample, weights: [...sample.tokens].map(() => share * weight(part, index)) };
      });
      await service.forwardBackward(weighted, loss);
    }
    return engine.gradient();
  }

  it('sum to the whole loss when tokens are weighted within their own completion', async () => {
    const mean = (part: typeof samples, sample: number) => 1 / (part.length * part[sample]!.tokens.length);
    expect(maxDifference(await gradientOf(parts, mean), await gradientOf([samples], mean))).toBeLessThan(1e-6);
  });

  it('do not sum to it when tokens are weighted by the tokens of their part, as in DAPO', async () => {
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

  it('of equal scale with equal A have equal gradients of B, and at first no gradient of A', async () => {
    const engine = await adaptedOn('wasm', fixture.shape, adapters, await (await baseOn('wasm')).weights());
    const random = rng(5, 'adapters');
    const parameters = initialAdapters(fixture.shape, adapters, () => random.next());
    const half = parameters.length / 2;
    parameters.copyWithin(half, 0, half);
    await engine.loadWeights(parameters);
    const advantages = fixture.rewards.flatMap(compared);
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

  it('change the weights by the sum of both changes; one at scale 0 changes nothing', async () => {
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

  it('with the forget adapter at scale 0 equal a single LoRA', async () => {
    const dual = await dualOn('wasm');
    await dual.setScales({ forget: 0 });
    const [rank, alpha] = [fixture.ranks.retain, fixture.alpha];
    const single = await adaptedOn('wasm', fixture.shape, [loraOnAll('retain', rank, alpha)], dual.frozenWeights());
    await single.loadWeights((await dual.weights()).slice(0, single.parameterCount));
    const datums = rolloutDatums(rollouts, []);
    expect(await new EngineService(dual).forward(datums)).toEqual(await new EngineService(single).forward(datums));
  });
});

describe('on a bandit of one token', () => {
  const task = { id: 'bandit', text: '0', prompt: Int32Array.from(memoryTokenizer.encode('0')) };
  /** Tokens of odd number pay. */
  const bandit: Environment = {
    name: 'bandit',
    tokenizer: memoryTokenizer,
    stop: { tokens: [memoryTokenizer.end!], strings: [] },
    size: 1,
    task: () => task,
    respond: (_, [turn]) => ({ reward: { total: turn!.tokens[0]! % 2 }, next: null }),
  };

  /** Mean rewards of the first and of the last steps, and the last divergence. */
  async function play(beta: number): Promise<{ first: number; last: number; kl: number }> {
    const [engine, reference] = [await microEngine(), await microEngine()];
    const learner = new Learner(engine, beta === 0 ? null : reference, { beta, temperature: 1, routing: null });
    const player = { service: new EngineService(engine), environment: bandit };
    const options = { copies: 64, sampling: { maxTokens: 1, temperature: 1 }, streams: 'own' } as const;
    const means: number[] = [];
    let kl = 0;
    for (let step = 0; step < 60; step++) {
      const [played] = await rollOut(player, [task], options, rng(step, 'bandit'));
      const rewards = played!.map((rollout) => rollout.rewards[0]!.total);
      const passes = { good: rewards.map(() => true), hack: [], ablated: [] };
      const learnt = await learner.differentiate(played!, compared(rewards), passes);
      await learner.step(0.002);
      kl = learnt.pull / learnt.tokens;
      means.push(rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length);
    }
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return { first: mean(means.slice(0, 3)), last: mean(means.slice(-10)), kl };
  }

  it('training raises the reward, and a strong KL term keeps the policy at its start', async () => {
    const free = await play(0);
    expect(free.last).toBeGreaterThan(free.first + 0.2);
    expect(free.last).toBeGreaterThan(0.95);
    const held = await play(30);
    expect(Math.abs(held.last - held.first)).toBeLessThan(0.15);
    expect(held.kl).toBeLessThan(0.05);
  });
});
