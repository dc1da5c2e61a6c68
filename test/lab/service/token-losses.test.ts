import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { cispo, importanceSampling, ppo, pulls, type Clip } from '../../../src/lab/objectives/objectives.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import type { Datum, Loss } from '../../../src/lab/service/service.js';
import { datumsOf } from '../../../src/lab/update/update.js';

/** Of three tokens: by the policy that learns, by the sampler, by the reference; and their advantages. */
const policy = [-0.5, -1.25, -2];
const sampled = [-1, -1, -2.5];
const reference = [-0.75, -1, -3];
const advantages = [1, -2, 0.5];
const tokens = new Int32Array([3, 4, 5]);
const prompt = new Int32Array([1]);

/** An engine that gives these log-probabilities, and keeps the derivative that it is given. */
function scoring(logprobs: readonly number[]) {
  const seen = { slopes: [] as number[] };
  const scores = { logprobs: Float32Array.from(logprobs), entropies: new Float32Array(logprobs.length) };
  const engine = {
    forward: async () => scores,
    backward: async (slopes: Float32Array) => void (seen.slopes = [...slopes]),
  };
  return { service: new EngineService(engine as unknown as Engine), seen };
}

async function differentiated(datums: readonly Datum[], loss: Loss, logprobs = policy) {
  const { service, seen } = scoring(logprobs);
  const statistics = await service.forwardBackward(datums, loss);
  return { statistics, slopes: seen.slopes };
}

/** Derivative of a plain formula by the log-probability of each token, by central differences in double precision. */
function slopesOf(formula: (lp: number, token: number) => number, logprobs = policy): number[] {
  const nudge = 1e-6;
  return logprobs.map((lp, token) => (formula(lp + nudge, token) - formula(lp - nudge, token)) / (2 * nudge));
}

function expectNear(found: readonly number[], wanted: readonly number[]): void {
  expect(found).toHaveLength(wanted.length);
  found.forEach((value, at) => expect(value).toBeCloseTo(wanted[at]!, 6));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const ratio = (lp: number, token: number) => Math.exp(lp - sampled[token]!);
const clamped = (value: number, { low, high }: Clip) => Math.min(high, Math.max(low, value));
const datum: Datum = { prompt, tokens, weights: [1, 1, 1], advantages, logprobs: sampled };

it('the derivatives of the loss have the precision of the engine', async () => {
  const seen: (Float32Array | Float64Array | null)[] = [];
  const engine = {
    forward: async () => ({ logprobs: Float64Array.from(policy), entropies: new Float64Array(3) }),
    backward: async (...slopes: typeof seen) => void seen.push(...slopes),
  };
  const loss = { objective: importanceSampling, divisor: 3, entropyCoefficient: 0.1 };
  await new EngineService(engine as unknown as Engine).forwardBackward([datum], loss);
  const exact = policy.map((lp, token) => (-ratio(lp, token) * advantages[token]!) / 3);
  exact.forEach((value, token) => expect(seen[0]![token]).toBeCloseTo(value, 15));
  expect(seen[1]).toEqual(Float64Array.of(-0.1 / 3, -0.1 / 3, -0.1 / 3));
});

describe('clip bounds of single tokens', () => {
  const bounds: readonly Clip[] = [
    { low: 0.9, high: 1.1 },
    { low: 0.5, high: 1.5 },
    { low: 0.2, high: 2 },
  ];
  const clips = { low: bounds.map(({ low }) => low), high: bounds.map(({ high }) => high) };
  const wide = { low: 0.001, high: 1000 };

  it('clip the ratio of ppo instead of the objective’s bounds', async () => {
    const formula = (lp: number, token: number) =>
      -Math.min(ratio(lp, token) * advantages[token]!, clamped(ratio(lp, token), bounds[token]!) * advantages[token]!);
    const { statistics, slopes } = await differentiated([{ ...datum, clips }], { objective: ppo(wide) });
    expectNear(slopes, slopesOf(formula));
    expect(slopes[0]).toBe(0);
    expect(statistics.loss).toBeCloseTo(sum(policy.map(formula)), 6);
    expect([statistics.clippedLow, statistics.clippedHigh]).toEqual([0, 1]);
  });

  it('clip the ratio of cispo, which stays a constant', async () => {
    const formula = (lp: number, token: number) =>
      -clamped(ratio(policy[token]!, token), bounds[token]!) * lp * advantages[token]!;
    const { statistics, slopes } = await differentiated([{ ...datum, clips }], { objective: cispo(wide) });
    expectNear(slopes, slopesOf(formula));
    expect(statistics.loss).toBeCloseTo(sum(policy.map(formula)), 6);
  });

  it('default on either side to those of the objective', async () => {
    const objective = ppo({ low: 0.001, high: 1.2 });
    const { slopes } = await differentiated([{ ...datum, clips: { low: clips.low } }], { objective });
    const plain = await differentiated([datum], { objective: ppo({ low: 0.2, high: 1.2 }) });
    expectNear(slopes, plain.slopes);
  });

  it('are refused by an objective that clips nothing', async () => {
    await expect(differentiated([{ ...datum, clips }], { objective: importanceSampling })).rejects.toThrow(
      /does not clip/,
    );
  });
});

describe('the KL term towards a reference', () => {
  const estimates = {
    k2: (lp: number, ref: number) => (lp - ref) ** 2 / 2,
    k3: (lp: number, ref: number) => Math.exp(ref - lp) - (ref - lp) - 1,
  };

  it.each(['k2', 'k3'] as const)('with kl_estimator=%s equals its formula', async (name) => {
    const formula = (lp: number, token: number) =>
      -ratio(lp, token) * advantages[token]! + 0.3 * estimates[name](lp, reference[token]!);
    const loss = { objective: importanceSampling, pull: { estimator: pulls[name], coefficient: 0.3 } };
    const { statistics, slopes } = await differentiated([{ ...datum, reference }], loss);
    expectNear(slopes, slopesOf(formula));
    expect(statistics.loss).toBeCloseTo(sum(policy.map(formula)), 6);
    expect(statistics.pull).toBeCloseTo(sum(policy.map((lp, at) => estimates[name](lp, reference[at]!))), 6);
  });
});

describe('loss_normalization=token_mean', () => {
  it('is the mean over all generated tokens, however long each answer is', async () => {
    const rollout = (turnOf: number[], logprobs: number[]): Rollout => {
      const said = turnOf.filter((turn) => turn >= 0).length;
      const turn = { tokens: new Int32Array(said), logprobs: new Float32Array(said), text: '', ended: 'stop' as const };
      const task = { id: 'task', prompt, text: '' };
      const own = { tokens: turnOf.map(() => 2), logprobs, samplingLogprobs: logprobs, turnOf };
      return { task, ...own, turns: [turn], rewards: [{ total: 0 }], observed: 1 };
    };
    // The second token of the first was told to it.
    const groups = [[rollout([0, -1, 0], sampled)], [rollout([0], [-1.5])]];
    const compared = [[[2]], [[-3]]];
    const datums = datumsOf(groups, {
      advantages: compared,
      normalization: 'token_mean',
      sampled: (one) => one.logprobs,
    });
    const [learns, q, A, said] = [
      [...policy, -1],
      [...sampled, -1.5],
      [2, 0, 2, -3],
      [1, 0, 1, 1],
    ];
    const formula = (lp: number, token: number) => (-Math.exp(lp - q[token]!) * A[token]! * said[token]!) / 3;
    const { statistics, slopes } = await differentiated(datums, { objective: importanceSampling }, learns);
    expectNear(slopes, slopesOf(formula, learns));
    expect(statistics.loss).toBeCloseTo(sum(learns.map(formula)), 6);
  });
});
