import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { singleStepEnvironment } from '../../../src/lab/environments/memory/memory-environment.js';
import { klEstimators, klTerms, ppo, pulls, type Normalization } from '../../../src/lab/objectives/objectives.js';
import { rng } from '../../../src/lab/rng.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { endingId } from '../../../src/lab/text/memory-vocabulary.js';
import { learn, type LearningOptions } from '../../../src/lab/update/learn.js';
import { microEngine } from '../micro-engine.js';
import { playBatch } from '../rollouts/play.js';

const environment = singleStepEnvironment({ N: 64, secret: 42, prefix: [] }, { type: 'binary' });
const { prompt } = environment.task();

/** Exact KL(policy ‖ reference) of answers of two tokens, nats: over every first token and every second one. */
async function exactKl(policy: Engine, reference: Engine): Promise<number> {
  const rows = async (engine: Engine) => {
    const { vocabulary } = engine.shape;
    const first = await (await engine.decoder(prompt, 1)).logprobs();
    const decoder = await engine.decoder(prompt, vocabulary);
    await decoder.extend(Array.from({ length: vocabulary }, (_, token) => [token]));
    return { first, second: await decoder.logprobs(), vocabulary };
  };
  const [{ first, second, vocabulary }, held] = [await rows(policy), await rows(reference)];
  const kl = (p: Float32Array, q: Float32Array) => p.reduce((sum, lp, at) => sum + Math.exp(lp) * (lp - q[at]!), 0);
  let sum = kl(first, held.first);
  for (let token = 0; token < vocabulary; token++) {
    if (token === endingId) continue;
    const part = (of: Float32Array) => of.subarray(token * vocabulary, (token + 1) * vocabulary);
    sum += Math.exp(first[token]!) * kl(part(second), part(held.second));
  }
  return sum;
}

/** A policy some way from its reference. */
async function apart() {
  const [policy, reference] = [await microEngine(5), await microEngine(5)];
  const random = rng(1, 'noise');
  await policy.loadWeights((await policy.weights()).map((weight) => weight + 0.12 * (random.next() - 0.5)));
  return { policy, reference };
}

describe('the KL term', () => {
  const ways = klEstimators.flatMap((estimator) =>
    (['sum', 'grpo'] as const).map((normalization: Normalization) => ({ estimator, normalization })),
  );
  it.each(ways)(
    'returns the policy to its reference without any reward: $estimator, $normalization',
    async ({ estimator, normalization }) => {
      const { policy, reference } = await apart();
      const before = await exactKl(policy, reference);
      const models = { service: new EngineService(policy), reference: new EngineService(reference) };
      const random = rng(2, 'answers');
      const steps = 60;
      for (let step = 0; step < steps; step++) {
        const how = { groups: 2, groupSize: 64, maxTokens: 2, temperature: 1 };
        const groups = await playBatch(policy, environment, how, random);
        const unpaid = groups.map((group) =>
          group.map((rollout) => ({ ...rollout, rewards: rollout.rewards.map(() => ({ total: 0 })) })),
        );
        const learning: LearningOptions = {
          ...{ objective: ppo({ low: 0.8, high: 1.2 }), estimator: 'trajectory', scale: 'none', normalization },
          ...klTerms(estimator, 1),
          ...{ entropyCoefficient: 0, skipConstantGroups: false, temperature: 1, maxStepKl: null, substeps: 1 },
          learningRate: 0.004 * (1 - step / steps),
        };
        await learn(models, unpaid, learning, step);
      }
      expect(before).toBeGreaterThan(0.2);
      expect(await exactKl(policy, reference)).toBeLessThan(0.05 * before);
    },
  );

  it.each([
    { estimator: 'k2', of: 'KL(policy ‖ reference)', kl: klOf },
    { estimator: 'k3', of: 'KL(reference ‖ policy)', kl: (p: number[], q: number[]) => klOf(q, p) },
  ] as const)('by $estimator has the gradient of $of on average over what the policy draws', ({ estimator, kl }) => {
    const z = [0.3, -1, 0.9, 0.1];
    const reference = softmax([-0.4, 0.2, 0.7, 1.1]);
    z.forEach((_, i) => {
      const at = (nudge: number) => softmax(z.map((each, j) => each + (i === j ? nudge : 0)));
      const p = at(0);
      // ∂ log p(a) / ∂z_i = [a = i] − p(i)
      const mean = p.reduce((sum, pa, a) => {
        const gradient = pulls[estimator].gradient(Math.log(pa), Math.log(reference[a]!));
        return sum + pa * gradient * ((a === i ? 1 : 0) - p[i]!);
      }, 0);
      expect(mean).toBeCloseTo((kl(at(1e-6), reference) - kl(at(-1e-6), reference)) / 2e-6, 8);
    });
  });
});

function softmax(z: readonly number[]): number[] {
  const weights = z.map(Math.exp);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function klOf(p: readonly number[], q: readonly number[]): number {
  return p.reduce((sum, pa, a) => sum + pa * Math.log(pa / q[a]!), 0);
}
