import { describe, expect, it } from 'vitest';
import type { Engine, PromptGroup } from '../../../src/lab/engine/engine.js';
import { addEntropy } from '../../../src/lab/rollouts/statistics.js';
import { learn, type LearningOptions } from '../../../src/lab/update/learn.js';
import { multiStepEnvironment } from '../../../src/lab/environments/memory/memory-environment.js';
import { bitRequest } from '../../../src/lab/environments/memory/prompts.js';
import { importanceSampling } from '../../../src/lab/objectives/objectives.js';
import { rng } from '../../../src/lab/rng.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { Means } from '../../../src/lab/run/metrics-file.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { continuationPrompt } from '../../../src/lab/text/role-colon.js';
import { microEngine } from '../micro-engine.js';
import { playBatch } from '../rollouts/play.js';

const task = { id: 'two tokens', prompt: Int32Array.of(10, 11, 12), text: '' };
const how: LearningOptions = {
  objective: importanceSampling,
  estimator: 'trajectory',
  scale: 'none',
  normalization: 'sum',
  pull: 0,
  penalty: null,
  entropyCoefficient: 0,
  skipConstantGroups: false,
  learningRate: 1,
  temperature: 1,
  maxStepKl: null,
  substeps: 1,
};

/** Two tokens said with these log-probabilities, and what was heard between them if it was anything. */
function episode(logprobs: readonly number[], reward: number, turnOf = logprobs.map(() => 0)): Rollout {
  const tokens = logprobs.map((_, at) => 20 + at);
  const rewards = Array.from({ length: Math.max(...turnOf) + 1 }, () => ({ total: reward }));
  const scores = { logprobs: [...logprobs], samplingLogprobs: [...logprobs] };
  return { task, tokens, ...scores, turnOf, turns: [], rewards, observed: 3 };
}

/** One update of the engine. @param base The model that a penalty is for leaving. */
async function update(engine: Engine, groups: Rollout[][], learning: LearningOptions, base: Engine | null = null) {
  const reference = base === null ? null : new EngineService(base);
  const done = await learn({ service: new EngineService(engine), reference }, groups, learning, 0);
  return done === null ? null : { ...done.statistics, policyBase: done.policyBase };
}

/** Stands for a model that gives each token such a log-probability; keeps what it was asked and told. */
function scoring(logprobs: readonly number[]) {
  const seen: { asked: readonly PromptGroup[]; slopes: number[] } = { asked: [], slopes: [] };
  const engine = {
    forward: async (asked: readonly PromptGroup[]) => {
      seen.asked = asked;
      return { logprobs: Float32Array.from(logprobs), entropies: new Float32Array(logprobs.length) };
    },
    backward: async (slopes: Float32Array) => void seen.slopes.push(...slopes),
    adam: async () => 1,
  } as unknown as Engine;
  return { engine, seen };
}

describe('the datum of an episode', () => {
  it('scores each token after its prompt given those before it; the prompt has neither advantage nor score', async () => {
    const { engine, seen } = scoring([-0.5, -0.25, -0.5, -0.25]);
    const group = [episode([-0.5, -0.25], 1), episode([-0.5, -0.25], 0)];
    await update(engine, [group], how);
    // Of input 10 11 12 20 and target 11 12 20 21, the last two count.
    expect(
      seen.asked.map(({ prompt, continuations }) => [[...prompt], continuations.map((each) => [...each])]),
    ).toEqual([
      [
        [10, 11, 12],
        [
          [20, 21],
          [20, 21],
        ],
      ],
    ]);
    expect(seen.slopes).toEqual([-0.5, -0.5, 0.5, 0.5]);
  });

  it('is one sequence for a dense episode, in which the questions have no advantage', async () => {
    const model = await microEngine(4);
    const game = multiStepEnvironment({ N: 16, secret: 9, prefix: [] });
    const batch = { groups: 1, groupSize: 2, maxTokens: 1, temperature: 1 };
    const [group] = await playBatch(model, game, batch, rng(1, 'play'));
    const end = memoryTokenizer.end!;
    for (const { tokens, turnOf, turns, logprobs } of group!) {
      const answers = turns.map((turn) => [...turn.tokens]);
      const expected = answers.flatMap((answer, turn) =>
        turn === answers.length - 1
          ? answer
          : [...answer, ...(answer.at(-1) === end ? [] : [end]), ...continuationPrompt(bitRequest(16, turn + 1))],
      );
      expect(tokens).toEqual(expected);
      const said = tokens.filter((_, at) => turnOf[at]! >= 0);
      expect(said).toEqual(answers.flat());
      expect(logprobs.every((logprob, at) => logprob < 0 === turnOf[at]! >= 0)).toBe(true);
    }
    const paid = group!.map((each, index) => ({ ...each, rewards: each.rewards.map(() => ({ total: index })) }));
    const { engine, seen } = scoring(paid.flatMap(({ logprobs }) => logprobs));
    await update(engine, [paid], how);
    const sign = paid.flatMap(({ turnOf }, index) => turnOf.map((turn) => (turn < 0 ? 0 : index === 0 ? 2 : -2)));
    seen.slopes.forEach((slope, at) => expect(slope).toBeCloseTo(sign[at]!, 5));
  });

  it('has KL v1, v2 and entropy over the policy’s tokens alone', async () => {
    // The middle token was told to the model.
    const heard = episode([-1, 0, -2], 1, [0, -1, 1]);
    const { engine } = scoring([-1.1, -7, -1.8]);
    const { kl1, kl2, tokens } = (await update(engine, [[heard]], { ...how, entropyCoefficient: 1e-9 }))!;
    expect(tokens).toBe(2);
    expect(kl1 / tokens).toBeCloseTo(-0.05, 6);
    expect(kl2 / tokens).toBeCloseTo(0.0125, 6);
    const row = new Means();
    addEntropy(row, [[heard]]);
    expect(row.row()).toEqual({ 'optim/entropy': 1.5 });
    const same = (await update(scoring([-1, -7, -2]).engine, [[heard]], { ...how, entropyCoefficient: 1e-9 }))!;
    expect([same.kl1, same.kl2]).toEqual([0, 0]);
  });

  it('has the KL penalty in its advantages, also when all rewards are equal', async () => {
    const { engine, seen } = scoring([-1, -1, -1, -1]);
    const base = scoring([-2, -1, -1, -3]).engine;
    const group = [episode([-1, -1], 1), episode([-1, -1], 1)];
    const penalty = { coefficient: 0.5, discount: 0 };
    const done = (await update(engine, [group], { ...how, penalty }, base))!;
    expect(done.policyBase).toBe(0.75);
    // Differences 1, 0, 0, 2 around 0.75.
    expect(seen.slopes).toEqual([0.125, -0.375, -0.375, 0.625]);
  });
});

describe('the loss of a batch', () => {
  it('is the sum over its parts, and so is its gradient', async () => {
    const model = await microEngine(5);
    const game = multiStepEnvironment({ N: 16, secret: 9, prefix: [] });
    const groups = await playBatch(
      model,
      game,
      { groups: 2, groupSize: 2, maxTokens: 2, temperature: 1 },
      rng(2, 'play'),
    );
    const paid = groups.map((group) =>
      group.map((each, index) => ({
        ...each,
        rewards: each.rewards.map((_, turn) => ({ total: (index + turn) % 2 })),
      })),
    );
    const gradientOf = async (...parts: Rollout[][][]) => {
      let gradient = new Float32Array();
      const engine = Object.create(model, {
        forward: { value: model.forward.bind(model) },
        backward: { value: model.backward.bind(model) },
        adam: { value: async () => 0 },
      }) as Engine;
      for (const part of parts) await update(engine, part, { ...how, estimator: 'stepwise' });
      gradient = Float32Array.from(await model.gradient());
      await model.clearGradient();
      return gradient;
    };
    const whole = await gradientOf(paid);
    const parts = await gradientOf([paid[0]!], [paid[1]!]);
    const most = whole.reduce((top, slope) => Math.max(top, Math.abs(slope)), 0);
    expect(most).toBeGreaterThan(0.01);
    whole.forEach((slope, at) => expect(Math.abs(slope - parts[at]!)).toBeLessThan(1e-5 * most));
  });
});
