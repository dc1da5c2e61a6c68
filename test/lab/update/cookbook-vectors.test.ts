/** What tinker-cookbook computes, by numbers worked out by hand. */
import { describe, expect, it } from 'vitest';
import { advantages } from '../../../src/lab/advantages/advantages.js';
import { crossEntropy, dro, importanceSampling, cispo, ppo } from '../../../src/lab/objectives/objectives.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { addEntropy } from '../../../src/lab/rollouts/statistics.js';
import { Means } from '../../../src/lab/run/metrics-file.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { emptyStatistics, type Datum, type TrainingService } from '../../../src/lab/service/service.js';
import { movedOn } from '../../../src/lab/update/learn.js';
import { cookbookAdam, datumsOf, lrMultiplier, update, updateInParts } from '../../../src/lab/update/update.js';
import { microEngine } from '../micro-engine.js';

/** An episode in which the policy says the tokens of turns 0, 1 … and is told those of turn −1. */
function rollout(tokens: number[], turnOf: number[], logprobs: number[]): Rollout {
  const turns = [...new Set(turnOf.filter((turn) => turn >= 0))].map((turn) => {
    const own = tokens.filter((_, at) => turnOf[at] === turn);
    return { tokens: Int32Array.from(own), logprobs: new Float32Array(own.length), text: '', ended: 'stop' as const };
  });
  const task = { id: 'task', prompt: Int32Array.of(10, 11, 12), text: '' };
  const rewards = turns.map(() => ({ total: 0 }));
  return { task, tokens, turnOf, logprobs, samplingLogprobs: logprobs, turns, rewards, observed: 3 };
}

describe('a datum', () => {
  it('has advantages and log-probabilities on the policy’s tokens, and zeros on the environment’s', () => {
    const one = rollout([20, 21], [0, 0], [-1, -2]);
    const merged = rollout([20, 21, 30, 31, 22], [0, 0, -1, -1, 1], [-1, -2, 0, 0, -3]);
    const datums = datumsOf([[one, merged]], {
      advantages: [[[0.75], [0.5, -0.25]]],
      normalization: 'sum',
      sampled: ({ logprobs }) => logprobs,
    });
    expect(datums[0]).toMatchObject({ advantages: [0.75, 0.75], logprobs: [-1, -2], weights: [1, 1] });
    expect([...datums[0]!.prompt, ...datums[0]!.tokens]).toEqual([10, 11, 12, 20, 21]);
    // Turns of which each reads all before it are one sequence.
    expect(datums).toHaveLength(2);
    expect(datums[1]).toMatchObject({ advantages: [0.5, 0.5, 0, 0, -0.25], weights: [1, 1, 0, 0, 1] });
    expect(datums[1]).toMatchObject({ logprobs: [-1, -2, 0, 0, -3] });
  });
});

describe('distances between sampler and learner', () => {
  const datum = { prompt: Int32Array.of(1), tokens: Int32Array.of(2, 3, 4), weights: [1, 0, 1], logprobs: [-1, 0, -2] };
  const scoredAs = (lp: number[]) => ({ forward: async () => [Float32Array.from(lp)] });

  it('are the mean difference and half the mean square, over the policy’s tokens', async () => {
    const { kl1, kl2, tokens } = await movedOn([datum], scoredAs([-1.1, -9, -1.8]), 1);
    expect(tokens).toBe(2);
    expect(kl1 / tokens).toBeCloseTo(-0.05, 6);
    expect(kl2 / tokens).toBeCloseTo(0.0125, 6);
    expect(await movedOn([datum], scoredAs([-1, -9, -2]), 1)).toEqual({ kl1: 0, kl2: 0, tokens: 2 });
  });

  it('come with the entropy, minus the mean sampled log-probability', () => {
    const row = new Means();
    addEntropy(row, [[rollout([2, 3, 4], [0, -1, 0], [-1, 0, -2])]]);
    expect(row.row()).toEqual({ 'optim/entropy': 1.5 });
  });
});

describe('sums', () => {
  const prompt = Int32Array.of(3, 4);
  const datums: Datum[] = [
    { prompt, tokens: Int32Array.of(5, 6), weights: [1, 1], advantages: [1, 1], logprobs: [-3, -4] },
    { prompt, tokens: Int32Array.of(7), weights: [1], advantages: [-0.5], logprobs: [-2] },
    {
      prompt: Int32Array.of(8),
      tokens: Int32Array.of(9, 1, 2),
      weights: [1, 0, 1],
      advantages: [2, 0, 2],
      logprobs: [-5, 0, -1],
    },
  ];
  const clip = { low: 0.8, high: 1.2 };
  const adam = { ...cookbookAdam, learningRate: 0.01 };

  it.each([importanceSampling, ppo(clip), cispo(clip), dro(0.05), crossEntropy])(
    'of losses and gradients do not depend on how a batch is split: $name',
    async (objective) => {
      const [whole, cut] = [new EngineService(await microEngine()), new EngineService(await microEngine())];
      const all = await whole.forwardBackward(datums, { objective });
      const parts = [
        await cut.forwardBackward(datums.slice(0, 1), { objective }),
        await cut.forwardBackward(datums.slice(1), { objective }),
      ];
      expect(parts[0]!.loss + parts[1]!.loss).toBeCloseTo(all.loss, 6);
      const [one, other] = [await whole.optimStep(adam), await cut.optimStep(adam)];
      expect(other.gradientNorm).toBeCloseTo(one.gradientNorm!, 4);
      const [a, b] = [await whole.weights(), await cut.weights()];
      a.forEach((weight, at) => expect(b[at]).toBeCloseTo(weight, 3));
    },
  );

  it('of a table of logits are the advantages times the drawn token less the probabilities', async () => {
    // The gradient of the bias-free head by its own logits, seen through the loss: −Σ A (1[a = g] − π).
    const logits = [0.3, -0.2, 1.1];
    const π = logits.map((logit) => Math.exp(logit) / logits.reduce((sum, other) => sum + Math.exp(other), 0));
    const [said, A] = [
      [0, 2, 2, 1],
      [0.75, -0.25, -0.25, -0.25],
    ];
    const loss = (of: readonly number[]) => {
      const log = of.map((logit) => logit - Math.log(of.reduce((sum, other) => sum + Math.exp(other), 0)));
      return said.reduce(
        (sum, action, at) => sum + importanceSampling.loss(log[action]!, Math.log(π[action]!), A[at]!),
        0,
      );
    };
    logits.forEach((_, j) => {
      const moved = (by: number) => loss(logits.map((logit, at) => (at === j ? logit + by : logit)));
      const gradient = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      const reinforce = -said.reduce((sum, action, at) => sum + A[at]! * (Number(action === j) - π[j]!), 0);
      expect(gradient).toBeCloseTo(reinforce, 6);
    });
  });
});

describe('advantages', () => {
  it('are the rewards of a group less their mean', () => {
    expect(advantages([[1], [0], [0], [0]], 'trajectory').flat()).toEqual([0.75, -0.25, -0.25, -0.25]);
    expect(advantages([[0.1], [0.1], [0.1]], 'trajectory').flat()).toEqual([0, 0, 0]);
  });
});

describe('substeps', () => {
  /** Notes what is asked of it. */
  function noting() {
    const asked: (number | 'step')[] = [];
    const service = {
      forwardBackward: async (datums: readonly Datum[]) => {
        asked.push(datums.length);
        return { ...emptyStatistics(), logprobs: [] };
      },
      optimStep: async () => {
        asked.push('step');
        return { gradientNorm: null, bounded: null };
      },
    } as unknown as TrainingService;
    return { asked, service };
  }
  const datum = { prompt: Int32Array.of(1), tokens: Int32Array.of(2), weights: [1], hasSignal: true };
  const options = { step: 0, loss: { objective: importanceSampling }, adam: { ...cookbookAdam, learningRate: 1 } };

  it.each([
    [5, 2, [2, 3]],
    [5, 3, [1, 2, 2]],
    [8, 4, [2, 2, 2, 2]],
    [2, 4, [1, 1]],
  ])('cut %i datums in %i contiguous parts of nearly equal size', async (count, substeps, sizes) => {
    const { asked, service } = noting();
    const datums = Array.from({ length: count }, () => datum);
    expect(await update(service, datums, { ...options, substeps })).toMatchObject({ updates: sizes.length });
    expect(asked).toEqual(sizes.flatMap((size) => [size, 'step']));
  });

  it('are all submitted before the first result arrives, for a service that wants it', async () => {
    const { asked, service } = noting();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = {
      ...service,
      forwardBackward: (datums: readonly Datum[], ...rest: unknown[]) => {
        const answer = (service.forwardBackward as (...all: unknown[]) => Promise<unknown>)(datums, ...rest);
        return held.then(() => answer);
      },
    } as unknown as TrainingService;
    const parts = [[[datum], [datum, datum]], [[datum]]];
    const updating = updateInParts(slow, parts, { ...options, isPipelined: true });
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(asked).toEqual([1, 2, 'step', 1, 'step']);
    release();
    expect(await updating).toMatchObject({ updates: 2 });
  });

  it('end the run with the error of any of them', async () => {
    const { service } = noting();
    const broken = { ...service, forwardBackward: () => Promise.reject(new Error('no such model')) };
    const parts = [[[datum]], [[datum], Promise.reject(new Error('never played'))]];
    for (const isPipelined of [false, true]) {
      await expect(updateInParts(broken, parts, { ...options, isPipelined })).rejects.toThrow(
        /no such model|never played/,
      );
    }
    const lost = { ...service, forwardBackward: async () => ({ ...emptyStatistics(), loss: NaN, logprobs: [] }) };
    for (const isPipelined of [false, true]) {
      await expect(updateInParts(lost, [[[datum]]], { ...options, isPipelined })).rejects.toThrow('the loss is NaN');
    }
  });
});

describe('learning-rate schedules', () => {
  it('are linear, cosine or constant from the first step to the last', () => {
    const rates = (name: 'linear' | 'cosine' | 'constant') => [0, 8, 15].map((step) => lrMultiplier(name, step, 16));
    expect(rates('linear')).toEqual([1, 0.5, 1 / 16]);
    expect(rates('cosine').map((rate) => Number(rate.toFixed(6)))).toEqual([1, 0.5, 0.009607]);
    expect(rates('constant')).toEqual([1, 1, 1]);
    expect(2e-4 * lrMultiplier('linear', 15, 16)).toBeCloseTo(1.25e-5, 12);
  });
});
