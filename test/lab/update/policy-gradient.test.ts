import { describe, expect, it } from 'vitest';
import { advantages, type Credit, type Scale } from '../../../src/lab/credit.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { multiStepGame } from '../../../src/lab/environments/memory/multi-step.js';
import { singleStepGame } from '../../../src/lab/environments/memory/single-step.js';
import type { Game } from '../../../src/lab/environments/memory/game.js';
import type { Normalization } from '../../../src/lab/objectives/normalization.js';
import { importanceSampling } from '../../../src/lab/objectives/objective.js';
import { playBatch, update, type Update } from '../../../src/lab/recipes/policy-gradient.js';
import type { Episode } from '../../../src/lab/rollout.js';
import { rng } from '../../../src/lab/rng.js';
import { microEngine } from '../micro-engine.js';

const batch = { groups: 2, groupSize: 3, maxTokens: 3, temperature: 1 };
const single = singleStepGame({ N: 64, secret: 42, prefix: [] }, { type: 'log_distance' });
const dense = multiStepGame({ N: 16, secret: 9, prefix: [] });

/** What an update is made of in these tests; `reference`: the other model, and how strongly it pulls. */
type How = {
  credit: Credit;
  scale: Scale;
  normalization: Normalization;
  entropy: number;
  reference: { engine: Engine; coefficient: number } | null;
};
const plain: How = { credit: 'trajectory', scale: 'none', normalization: 'sum', entropy: 0, reference: null };

function updateOf({ entropy, ...how }: How, rest: Partial<Update> = {}): Update {
  return {
    objective: importanceSampling,
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

/** What the losses of a sequence's tokens are divided by, as the papers write it. */
function divisor(groups: Episode[][], group: number, index: number, how: Normalization): number {
  const said = (episode: Episode) => episode.answers.flat().length;
  if (how === 'grpo') return groups.flat().length * said(groups[group]![index]!);
  return how === 'dr_grpo' ? groups.length * groups[group]!.length * Math.max(...groups[group]!.map(said)) : 1;
}

/** The loss by its definition: over the tokens said, −ρA and the pull to the reference, less the entropy bonus. */
async function loss(engine: Engine, game: Game, groups: Episode[][], how: How): Promise<number> {
  const A = groups.flatMap((group) =>
    advantages(
      group.map(({ rewards }) => rewards),
      how.credit,
      how.scale,
    ),
  );
  const divisors = groups.flatMap((group, p) => group.map((_, g) => divisor(groups, p, g, how.normalization)));
  const episodes = groups.flat();
  const batch = [{ prompt: game.prompt, continuations: episodes.map(({ tokens }) => Int32Array.from(tokens)) }];
  const { logprobs, entropies } = await engine.forward(batch);
  const reference = (await how.reference?.engine.forward(batch))?.logprobs;
  let at = 0;
  let total = 0;
  episodes.forEach((episode, index) =>
    episode.tokens.forEach((_, token) => {
      const turn = episode.turns[token]!;
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
function paid(groups: Episode[][]): Episode[][] {
  const pay = (episode: Episode, index: number) => ({
    ...episode,
    rewards: episode.rewards.map((_, turn) => ((index + turn) % 3) / 2),
  });
  return groups.map((group) => group.map(pay));
}

describe('the update', () => {
  it.each<Partial<How> & { name: string; game: Game; pull?: number }>([
    { name: 'single-step', game: single },
    { name: 'single-step with entropy', game: single, entropy: 0.3 },
    { name: 'dense, stepwise', game: dense, credit: 'stepwise' },
    { name: 'dense, to go, with entropy', game: dense, credit: 'to_go', entropy: 0.3 },
    { name: 'GRPO', game: single, scale: 'std', normalization: 'grpo', pull: 0.2 },
    { name: 'GRPO with entropy, dense', game: dense, credit: 'to_go', scale: 'std', normalization: 'grpo', entropy: 3 },
    { name: 'Dr. GRPO', game: dense, normalization: 'dr_grpo', pull: 5 },
  ])(
    'follows the slope of the loss: $name',
    async ({ game, pull = 0, credit = 'trajectory', scale = 'none', normalization = 'sum', entropy = 0 }) => {
      const engine = await microEngine(5);
      const reference = pull === 0 ? null : { engine: await microEngine(6), coefficient: pull };
      const how: How = { credit, scale, normalization, entropy, reference };
      const groups = paid(await playBatch(engine, game, batch, rng(2, 'play')));
      let gradient = new Float32Array();
      const watched = Object.create(engine, {
        forward: { value: engine.forward.bind(engine) },
        backward: { value: engine.backward.bind(engine) },
        adam: { value: async () => ((gradient = (await engine.gradient()) as Float32Array<ArrayBuffer>), 0) },
      }) as Engine;
      expect(await update(watched, game, groups, updateOf(how))).not.toBeNull();
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

  it('trains only on groups that differ when told to skip the others', async () => {
    const engine = await microEngine();
    const groups = paid(await playBatch(engine, single, batch, rng(0, 'play')));
    const constant = groups[0]!.map((episode) => ({ ...episode, rewards: [0.5] }));
    const how = updateOf(plain, { learningRate: 1e-3 });
    const before = await engine.weights();
    expect(await update(engine, single, [constant], how)).toBeNull();
    expect(await engine.weights()).toEqual(before);
    const said = groups[1]!.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect((await update(engine, single, [constant, groups[1]!], how))!.tokens).toBe(said);
    expect(await engine.weights()).not.toEqual(before);
  });

  it('is pulled to a reference also where all earned the same, and measures how far it is from it', async () => {
    const engine = await microEngine(5);
    const groups = await playBatch(engine, single, batch, rng(0, 'play'));
    const constant = groups.map((group) => group.map((episode) => ({ ...episode, rewards: [0.5] })));
    const far = { engine: await microEngine(6), coefficient: 0.1 };
    const how = updateOf({ ...plain, reference: far }, { skipConstantGroups: false, learningRate: 1e-3 });
    const first = (await update(engine, single, constant, how))!;
    expect(first.klReference).toBeGreaterThan(0);
    expect(first.gradientNorm).toBeGreaterThan(0);
    // Nothing pulls towards itself.
    const twin = await microEngine(5);
    const same = { engine: await microEngine(5), coefficient: 0.1 };
    const still = (await update(twin, single, constant, { ...how, reference: same }))!;
    expect(still).toMatchObject({ klReference: 0, gradientNorm: 0 });
  });

  it('follows the slope of the tempered policy', async () => {
    const engine = await microEngine(5);
    const groups = paid(await playBatch(engine, single, { ...batch, temperature: 2 }, rng(2, 'play')));
    const prompt = [
      { prompt: single.prompt, continuations: groups.flat().map(({ tokens }) => Int32Array.from(tokens)) },
    ];
    const credit = groups.flatMap((group) =>
      advantages(
        group.map(({ rewards }) => rewards),
        'trajectory',
        'none',
      ),
    );
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
    await update(watched, single, groups, updateOf(plain, { temperature: 2 }));
    const gradient = await engine.gradient();
    const norm2 = gradient.reduce((sum, each) => sum + each * each, 0);
    const h = 1e-3 / Math.sqrt(norm2);
    await engine.addToWeights(gradient, h);
    const above = await objective();
    await engine.addToWeights(gradient, -2 * h);
    expect((above - (await objective())) / (2 * h) / norm2).toBeCloseTo(1, 1);
  });

  it('is halved until it stays within its bound, and left alone when it is within', async () => {
    const groups = paid(await playBatch(await microEngine(3), single, batch, rng(0, 'play')));
    const steps = [];
    for (const maxStepKl of [1e9, 0.01, 0]) {
      const engine = await microEngine(3);
      const before = await engine.weights();
      const { step } = (await update(engine, single, groups, updateOf(plain, { learningRate: 0.05, maxStepKl })))!;
      expect(step!.kl).toBeLessThanOrEqual(maxStepKl + 1e-9);
      steps.push({ ...step!, moved: (await engine.weights()).map((weight, at) => weight - before[at]!) });
    }
    expect(steps[0]).toMatchObject({ halvings: 0 });
    expect(steps[1]!.halvings).toBeGreaterThan(0);
    const free = await microEngine(3);
    await update(free, single, groups, updateOf(plain, { learningRate: 0.05 }));
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
    const done = (await update(watched, single, groups, updateOf(plain, { learningRate: 1e-3, substeps })))!;
    expect(seen).toEqual(sizes);
    expect(done.updates).toBe(sizes.length);
    // The sampler was the model before the first of them.
    expect(done.kl2 > 1e-9).toBe(sizes.length > 1);
  });
});
