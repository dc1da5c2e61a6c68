import { describe, expect, it } from 'vitest';
import { advantages, type Credit } from '../../../src/lab/credit.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { multiStepGame } from '../../../src/lab/memory/multi-step.js';
import { singleStepGame } from '../../../src/lab/memory/single-step.js';
import type { Game } from '../../../src/lab/memory/game.js';
import { importanceSampling } from '../../../src/lab/objectives/objective.js';
import { playBatch, update } from '../../../src/lab/recipes/policy-gradient.js';
import type { Episode } from '../../../src/lab/rollout.js';
import { rng } from '../../../src/lab/rng.js';
import { microEngine } from '../micro-engine.js';

const batch = { groups: 2, groupSize: 3, maxTokens: 3 };
const single = singleStepGame({ N: 64, secret: 42, prefix: [] }, { type: 'log_distance' });
const dense = multiStepGame({ N: 16, secret: 9, prefix: [] });

/** The loss by its definition: over the tokens said, −ρA less the entropy bonus. */
async function loss(
  engine: Engine,
  game: Game,
  groups: Episode[][],
  how: { credit: Credit; entropy: number },
): Promise<number> {
  const A = groups.flatMap((group) =>
    advantages(
      group.map(({ rewards }) => rewards),
      how.credit,
    ),
  );
  const episodes = groups.flat();
  const { logprobs, entropies } = await engine.forward([
    { prompt: game.prompt, continuations: episodes.map(({ tokens }) => Int32Array.from(tokens)) },
  ]);
  let at = 0;
  let total = 0;
  episodes.forEach((episode, index) =>
    episode.tokens.forEach((_, token) => {
      const turn = episode.turns[token]!;
      if (turn >= 0) {
        total -= Math.exp(logprobs[at]! - episode.logprobs[token]!) * A[index]![turn]!;
        total -= how.entropy * entropies[at]!;
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
  it.each<{ name: string; game: Game; credit: Credit; entropy: number }>([
    { name: 'single-step', game: single, credit: 'trajectory', entropy: 0 },
    { name: 'single-step with entropy', game: single, credit: 'trajectory', entropy: 0.3 },
    { name: 'dense, stepwise', game: dense, credit: 'stepwise', entropy: 0 },
    { name: 'dense, to go, with entropy', game: dense, credit: 'to_go', entropy: 0.3 },
  ])('follows the slope of the loss: $name', async ({ game, credit, entropy }) => {
    const engine = await microEngine(5);
    const groups = paid(await playBatch(engine, game, batch, rng(2, 'play')));
    let gradient = new Float32Array();
    const watched = Object.create(engine, {
      forward: { value: engine.forward.bind(engine) },
      backward: { value: engine.backward.bind(engine) },
      adam: { value: async () => ((gradient = (await engine.gradient()) as Float32Array<ArrayBuffer>), 0) },
    }) as Engine;
    const how = {
      objective: importanceSampling,
      credit,
      entropyCoefficient: entropy,
      skipConstantGroups: true,
      learningRate: 0,
    };
    expect(await update(watched, game, groups, how)).not.toBeNull();
    const weights = await engine.weights();
    const random = rng(0, 'direction');
    const direction = weights.map(() => random.next() - 0.5);
    const epsilon = 1e-3;
    const moved = async (sign: number) => {
      await engine.loadWeights(weights.map((weight, index) => weight + sign * epsilon * direction[index]!));
      return loss(engine, game, groups, { credit, entropy });
    };
    const numeric = ((await moved(1)) - (await moved(-1))) / (2 * epsilon);
    const analytic = gradient.reduce((sum, slope, index) => sum + slope * direction[index]!, 0);
    expect(Math.abs(analytic - numeric)).toBeLessThan(0.01 * Math.abs(numeric) + 0.003);
    expect(Math.abs(numeric)).toBeGreaterThan(0.01);
  });

  it('trains only on groups that differ when told to skip the others', async () => {
    const engine = await microEngine();
    const groups = paid(await playBatch(engine, single, batch, rng(0, 'play')));
    const constant = groups[0]!.map((episode) => ({ ...episode, rewards: [0.5] }));
    const how = {
      objective: importanceSampling,
      credit: 'trajectory' as const,
      entropyCoefficient: 0,
      skipConstantGroups: true,
      learningRate: 1e-3,
    };
    const before = await engine.weights();
    expect(await update(engine, single, [constant], how)).toBeNull();
    expect(await engine.weights()).toEqual(before);
    const said = groups[1]!.reduce((sum, { tokens }) => sum + tokens.length, 0);
    expect((await update(engine, single, [constant, groups[1]!], how))!.tokens).toBe(said);
    expect(await engine.weights()).not.toEqual(before);
  });
});
