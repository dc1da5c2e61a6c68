import { describe, expect, it } from 'vitest';
import { advantages, type AdvantageEstimator, type Scale } from '../../../src/lab/advantages/advantages.js';
import { learn, type LearningOptions } from '../../../src/lab/update/learn.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import {
  multiStepEnvironment,
  singleStepEnvironment,
  type MemoryEnvironment,
} from '../../../src/lab/environments/memory/memory-environment.js';
import { importanceSampling, type Normalization } from '../../../src/lab/objectives/objectives.js';
import { rng } from '../../../src/lab/rng.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { microEngine } from '../micro-engine.js';
import { playBatch } from '../rollouts/play.js';

const batch = { groups: 2, groupSize: 3, maxTokens: 3, temperature: 1 };
const single = singleStepEnvironment({ N: 64, secret: 42, prefix: [] }, { type: 'log_distance' });
const dense = multiStepEnvironment({ N: 16, secret: 9, prefix: [] });

/** What an update is made of in these tests; `reference`: the other model, and how strongly it pulls. */
type How = {
  estimator: AdvantageEstimator;
  scale: Scale;
  normalization: Normalization;
  entropy: number;
  reference: { engine: Engine; coefficient: number } | null;
};
const plain: How = { estimator: 'trajectory', scale: 'none', normalization: 'sum', entropy: 0, reference: null };

function learningOf({ entropy, reference, ...how }: How, rest: Partial<LearningOptions> = {}): LearningOptions {
  return {
    objective: importanceSampling,
    pull: reference?.coefficient ?? 0,
    skipConstantGroups: true,
    penalty: null,
    learningRate: 0,
    temperature: 1,
    maxStepKl: null,
    substeps: 1,
    entropyCoefficient: entropy,
    ...how,
    ...rest,
  };
}

/** One update of the engine. */
async function update(engine: Engine, groups: Rollout[][], how: How, rest: Partial<LearningOptions> = {}) {
  const reference = how.reference === null ? null : new EngineService(how.reference.engine);
  const done = await learn({ service: new EngineService(engine), reference }, groups, learningOf(how, rest), 0);
  return done === null ? null : { ...done.statistics, policyBase: done.policyBase };
}

const totals = ({ rewards }: Rollout) => rewards.map(({ total }) => total);

/** What the losses of a sequence's tokens are divided by, as the papers write it. */
function divisor(groups: Rollout[][], group: number, index: number, how: Normalization): number {
  const said = ({ turns }: Rollout) => turns.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (how === 'grpo') return groups.flat().length * said(groups[group]![index]!);
  return how === 'dr_grpo' ? groups.length * groups[group]!.length * Math.max(...groups[group]!.map(said)) : 1;
}

/** The loss by its definition: over the tokens said, −ρA and the pull to the reference, less the entropy bonus. */
async function loss(engine: Engine, game: MemoryEnvironment, groups: Rollout[][], how: How): Promise<number> {
  const A = groups.flatMap((group) => advantages(group.map(totals), how.estimator, how.scale));
  const divisors = groups.flatMap((group, p) => group.map((_, g) => divisor(groups, p, g, how.normalization)));
  const episodes = groups.flat();
  const batch = [{ prompt: game.task().prompt, continuations: episodes.map(({ tokens }) => Int32Array.from(tokens)) }];
  const { logprobs, entropies } = await engine.forward(batch);
  const reference = (await how.reference?.engine.forward(batch))?.logprobs;
  let at = 0;
  let total = 0;
  episodes.forEach((episode, index) =>
    episode.tokens.forEach((_, token) => {
      const turn = episode.turnOf[token]!;
      if (turn >= 0) {
        const gain = Math.exp(logprobs[at]! - episode.logprobs[token]!) * A[index]![turn]!;
        const d = reference === undefined ? 0 : reference[at]! - logprobs[at]!;
        const pull = (how.reference?.coefficient ?? 0) * (Math.exp(d) - d - 1);
        total += (pull - gain - how.entropy * entropies[at]!) / divisors[index]!;
      }
      at++;
    }),
  );
  return total;
}

/** Rewards that differ, since a random model earns none. */
function paid(groups: Rollout[][]): Rollout[][] {
  const pay = (episode: Rollout, index: number) => ({
    ...episode,
    rewards: episode.rewards.map((_, turn) => ({ total: ((index + turn) % 3) / 2 })),
  });
  return groups.map((group) => group.map(pay));
}

describe('the update', () => {
  it.each<Partial<How> & { name: string; game: MemoryEnvironment; pull?: number }>([
    { name: 'single-step', game: single },
    { name: 'single-step with entropy', game: single, entropy: 0.3 },
    { name: 'dense, stepwise', game: dense, estimator: 'stepwise' },
    { name: 'dense, to go, with entropy', game: dense, estimator: 'to_go', entropy: 0.3 },
    { name: 'GRPO', game: single, scale: 'std', normalization: 'grpo', pull: 0.2 },
    {
      name: 'GRPO with entropy, dense',
      game: dense,
      estimator: 'to_go',
      scale: 'std',
      normalization: 'grpo',
      entropy: 3,
    },
    { name: 'Dr. GRPO', game: dense, normalization: 'dr_grpo', pull: 5 },
  ])(
    'follows the slope of the loss: $name',
    async ({ game, pull = 0, estimator = 'trajectory', scale = 'none', normalization = 'sum', entropy = 0 }) => {
      const engine = await microEngine(5);
      const reference = pull === 0 ? null : { engine: await microEngine(6), coefficient: pull };
      const how: How = { estimator, scale, normalization, entropy, reference };
      const groups = paid(await playBatch(engine, game, batch, rng(2, 'play')));
      let gradient = new Float32Array();
      const watched = Object.create(engine, {
        forward: { value: engine.forward.bind(engine) },
        backward: { value: engine.backward.bind(engine) },
        adam: { value: async () => ((gradient = (await engine.gradient()) as Float32Array<ArrayBuffer>), 0) },
      }) as Engine;
      expect(await update(watched, groups, how)).not.toBeNull();
      const weights = await engine.weights();
      const random = rng(0, 'direction');
      const direction = weights.map(() => random.next() - 0.5);
      const epsilon = 1e-3;
      const moved = async (sign: number) => {
        await engine.loadWeights(weights.map((weight, index) => weight + sign * epsilon * direction[index]!));
        return loss(engine, game, groups, how);
      };
      const numeric = ((await moved(1)) - (await moved(-1))) / (2 * epsilon);
      const analytic = gradient.reduce((sum, slope, index) => sum + slope * direction[index]!, 0);
      expect(Math.abs(analytic - numeric)).toBeLessThan(0.01 * Math.abs(numeric) + 0.003);
      expect(Math.abs(numeric)).toBeGreaterThan(0.01);
    },
  );

  it('trains only on groups with different rewards when others are to be skipped', async () => {
    const engine = await microEngine();
    const groups = paid(await playBatch(engine, single, batch, rng(0, 'play')));
    const constant = groups[0]!.map((episode) => ({ ...episode, rewards: [{ total: 0.5 }] }));
    const rate = { learningRate: 1e-3 };
    const before = await engine.weights();
    expect(await update(engine, [constant], plain, rate)).toBeNull();
    expect(await engine.weights()).toEqual(before);
    const said = groups[1]!.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect((await update(engine, [constant, groups[1]!], plain, rate))!.tokens).toBe(said);
    expect(await engine.weights()).not.toEqual(before);
  });

  it('applies the KL term also when all rewards are equal, and measures the KL', async () => {
    const engine = await microEngine(5);
    const groups = await playBatch(engine, single, batch, rng(0, 'play'));
    const constant = groups.map((group) => group.map((episode) => ({ ...episode, rewards: [{ total: 0.5 }] })));
    const far = { engine: await microEngine(6), coefficient: 0.1 };
    const rest = { skipConstantGroups: false, learningRate: 1e-3 };
    const first = (await update(engine, constant, { ...plain, reference: far }, rest))!;
    expect(first.pull).toBeGreaterThan(0);
    expect(first.gradientNorm).toBeGreaterThan(0);
    // Nothing pulls towards itself.
    const twin = await microEngine(5);
    const same = { engine: await microEngine(5), coefficient: 0.1 };
    const still = (await update(twin, constant, { ...plain, reference: same }, rest))!;
    expect(still).toMatchObject({ pull: 0, gradientNorm: 0 });
  });

  it('follows the gradient of the policy at its temperature', async () => {
    const engine = await microEngine(5);
    const groups = paid(await playBatch(engine, single, { ...batch, temperature: 2 }, rng(2, 'play')));
    const prompt = [
      { prompt: single.task().prompt, continuations: groups.flat().map(({ tokens }) => Int32Array.from(tokens)) },
    ];
    const credit = groups.flatMap((group) => advantages(group.map(totals), 'trajectory', 'none'));
    // The advantage of each token: with a ratio of 1, the gradient is that of their sum of log-probabilities.
    const weights = groups.flat().flatMap(({ tokens }, index) => tokens.map(() => credit[index]![0]!));
    const objective = async () => {
      const { logprobs } = await engine.forward(prompt, { temperature: 2 });
      return logprobs.reduce((sum, logprob, at) => sum - logprob * weights[at]!, 0);
    };
    const watched = Object.create(engine, {
      forward: { value: engine.forward.bind(engine) },
      backward: { value: engine.backward.bind(engine) },
      adam: { value: async () => 0 },
    }) as Engine;
    await update(watched, groups, plain, { temperature: 2 });
    const gradient = await engine.gradient();
    const norm2 = gradient.reduce((sum, each) => sum + each * each, 0);
    const h = 1e-3 / Math.sqrt(norm2);
    await engine.addToWeights(gradient, h);
    const above = await objective();
    await engine.addToWeights(gradient, -2 * h);
    expect((above - (await objective())) / (2 * h) / norm2).toBeCloseTo(1, 1);
  });

  it('is halved until its KL is within the bound, and unchanged when it already is', async () => {
    const groups = paid(await playBatch(await microEngine(3), single, batch, rng(0, 'play')));
    const steps = [];
    for (const maxStepKl of [1e9, 0.01, 0]) {
      const engine = await microEngine(3);
      const before = await engine.weights();
      const learnt = (await update(engine, groups, plain, { learningRate: 0.05, maxStepKl }))!;
      const step = { kl: learnt.stepKl, halvings: learnt.halvings };
      expect(step.kl).toBeLessThanOrEqual(maxStepKl + 1e-9);
      steps.push({ ...step, moved: (await engine.weights()).map((weight, at) => weight - before[at]!) });
    }
    expect(steps[0]).toMatchObject({ halvings: 0 });
    expect(steps[1]!.halvings).toBeGreaterThan(0);
    const free = await microEngine(3);
    await update(free, groups, plain, { learningRate: 0.05 });
    const before = await (await microEngine(3)).weights();
    const full = (await free.weights()).map((weight, at) => weight - before[at]!);
    expect(steps[0]!.moved).toEqual(full);
    // The same direction, shorter.
    const share = 2 ** -steps[1]!.halvings;
    steps[1]!.moved.forEach((moved, at) => expect(Math.abs(moved - full[at]! * share)).toBeLessThan(1e-6));
  });

  it.each([
    [1, [6]],
    [2, [3, 3]],
    [5, [1, 1, 1, 1, 2]],
    [4, [1, 2, 1, 2]],
    [99, [1, 1, 1, 1, 1, 1]],
  ])('steps %i times on contiguous parts of the batch of six', async (substeps, sizes) => {
    const engine = await microEngine(3);
    const groups = paid(await playBatch(engine, single, batch, rng(0, 'play')));
    const seen: number[] = [];
    const watched = Object.create(engine, {
      forward: {
        value: (...asked: Parameters<Engine['forward']>) => {
          seen.push(asked[0][0]!.continuations.length);
          return engine.forward(...asked);
        },
      },
      backward: { value: engine.backward.bind(engine) },
      adam: { value: engine.adam.bind(engine) },
    }) as Engine;
    const done = (await update(watched, groups, plain, { learningRate: 1e-3, substeps }))!;
    expect(seen).toEqual(sizes);
    expect(done.updates).toBe(sizes.length);
    // The sampler was the model before the first of them.
    expect(done.kl2 > 1e-9).toBe(sizes.length > 1);
  });
});
