import fc from 'fast-check';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { initialWeights } from '../../../src/lab/engine/initial-weights.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import type { Environment } from '../../../src/lab/environments/environment.js';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import {
  multiStepEnvironment,
  singleStepEnvironment,
} from '../../../src/lab/environments/memory/memory-environment.js';
import { rng } from '../../../src/lab/rng.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';
import { addRolloutStatistics } from '../../../src/lab/rollouts/statistics.js';
import { Means } from '../../../src/lab/run/metrics-file.js';
import { continuationPrompt } from '../../../src/lab/text/role-colon.js';
import { bitRequest } from '../../../src/lab/environments/memory/prompts.js';
import { endingId, memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { microEngine } from '../micro-engine.js';
import { tempDirectory } from '../temp-directory.js';
import { play } from './play.js';

const dense = multiStepEnvironment({ N: 16, secret: 9, prefix: [] });
const single = singleStepEnvironment({ N: 64, secret: 5, prefix: [] }, { type: 'log_distance' });

describe('playing rollouts', () => {
  it('samples tokens with the log-probabilities that training computes', async () => {
    const engine = await microEngine();
    for (const game of [single, dense]) {
      const episodes = await play(engine, game, { episodes: 6, maxTokens: 3, temperature: 1 }, rng(0, 'play'));
      const continuations = episodes.map(({ tokens }) => Int32Array.from(tokens));
      const { logprobs } = await engine.forward([{ prompt: game.task().prompt, continuations }]);
      let at = 0;
      for (const { tokens, turnOf, logprobs: said } of episodes) {
        tokens.forEach((_, index) => {
          if (turnOf[index]! >= 0) expect(said[index]).toBeCloseTo(logprobs[at]!, 4);
          else expect(said[index]).toBe(0);
          at++;
        });
      }
    }
  });

  it('ends an answer at its stop token or at the limit, and appends the environment’s tokens', async () => {
    const engine = await microEngine(3);
    const episodes = await play(engine, dense, { episodes: 40, maxTokens: 2, temperature: 1 }, rng(1, 'play'));
    for (const episode of episodes) {
      expect(episode.rewards).toHaveLength(4);
      for (const { tokens, ended } of episode.turns) {
        expect(ended).toBe(tokens.at(-1) === endingId ? 'stop' : 'length');
        expect(tokens.length === 2 || ended === 'stop').toBe(true);
        expect(tokens.slice(0, -1)).not.toContain(endingId);
      }
      const expected = episode.turns
        .map(({ tokens, ended }, turn) => {
          const text = memoryTokenizer.decode(tokens);
          const closed = turn === 3 || ended === 'stop' ? text : `${text}\n\n`;
          return turn === 3 ? closed : closed + memoryTokenizer.decode(continuationPrompt(bitRequest(16, turn + 1)));
        })
        .join('');
      expect(memoryTokenizer.decode(episode.tokens)).toBe(expected);
    }
    expect(new Set(episodes.flatMap(({ turns }) => turns.map(({ ended }) => ended))).size).toBe(2);
  });

  it('gives the same rollouts for the same stream, and for any stream at temperature 0', async () => {
    const engine = await microEngine();
    const sampled = { episodes: 4, maxTokens: 3, temperature: 1 };
    expect(await play(engine, dense, sampled, rng(0, 'a'))).toEqual(await play(engine, dense, sampled, rng(0, 'a')));
    expect(await play(engine, dense, sampled, rng(0, 'a'))).not.toEqual(
      await play(engine, dense, sampled, rng(0, 'b')),
    );
    const greedy = { ...sampled, temperature: 0 };
    expect(await play(engine, dense, greedy, rng(0, 'a'))).toEqual(await play(engine, dense, greedy, rng(0, 'b')));
  });
});

/** Two questions in the vocabulary of another model, one ended by a token and one only by the limit. */
function foreign(config: string): Environment {
  const directory = tempDirectory();
  cpSync('test/fixtures/hugging-face/tokenizers/word-piece/tokenizer.json', join(directory, 'tokenizer.json'));
  writeFileSync(join(directory, 'tokenizer_config.json'), config);
  const tokenizer = loadTokenizer(directory)!;
  const task = { id: 'girl', text: 'the happy girl', prompt: Int32Array.from(tokenizer.encode('the happy girl')) };
  return {
    name: 'short answers',
    tokenizer,
    stop: { tokens: tokenizer.end === null ? [] : [tokenizer.end], strings: [] },
    size: 1,
    task: () => task,
    respond: (_, turns) => ({
      reward: { total: -turns.at(-1)!.tokens.length, metrics: { turn: turns.length - 1 } },
      next: turns.length === 2 ? null : Int32Array.from(tokenizer.encode('why?')),
    }),
  };
}

describe('an environment in another vocabulary', () => {
  it.each([
    { what: 'by the token that its config names', config: '{"eos_token":"[EOS]"}', end: 1 },
    { what: 'by the limit alone, where it names none', config: '{}', end: null },
  ])('works alike with answers ended $what', async ({ config, end }) => {
    const environment = foreign(config);
    expect(environment.tokenizer.end).toBe(end);
    const engine = await foreignEngine(environment.tokenizer.size);
    const question = environment.tokenizer.encode('why?');
    const manner = { episodes: 200, maxTokens: 3, temperature: 1 };
    const episodes = await play(engine, environment, manner, rng(0, 'foreign'));
    const lengths = new Set<number>();
    for (const { turns, tokens, rewards } of episodes) {
      const answers = turns.map((turn) => [...turn.tokens]);
      for (const answer of answers) {
        lengths.add(answer.length);
        expect(answer.length === 3 || answer.at(-1) === end).toBe(true);
      }
      const [first, second] = answers as [number[], number[]];
      expect(tokens).toEqual([...first, ...question, ...second]);
      expect(rewards).toEqual([
        { total: -first.length, metrics: { turn: 0 } },
        { total: -second.length, metrics: { turn: 1 } },
      ]);
    }
    expect([...lengths].sort()).toEqual(end === null ? [3] : [1, 2, 3]);
  });
});

/** A small model with random weights and this vocabulary; it says token 1 more often than others. */
async function foreignEngine(vocabulary: number): Promise<Engine> {
  const engine = await createEngine({ ...presets.micro, vocabulary });
  const random = rng(0, 'foreign weights');
  const weights = initialWeights(engine.shape, () => random.next());
  await engine.loadWeights(weights.map((weight, at) => (at >= 16 && at < 32 ? 0.3 : weight)));
  return engine;
}

describe('the statistics of episodes', () => {
  const episode = (rewards: number[], metrics: Record<string, number>): Rollout => {
    const turn = { tokens: Int32Array.of(3, 1), logprobs: Float32Array.of(-1, -3), text: '', ended: 'stop' } as const;
    const said = { tokens: [3, 1], logprobs: [-1, -3], samplingLogprobs: [-1, -3] };
    return {
      task: { id: 'a', prompt: Int32Array.of(0), text: '' },
      ...said,
      turnOf: rewards.map((_, at) => at),
      turns: rewards.map(() => turn),
      rewards: rewards.map((total) => ({ total, metrics })),
      observed: 7,
    };
  };

  it('are means over turns, episodes and groups, by the names of tinker-cookbook', () => {
    const row = new Means();
    const good = [episode([1], { correct: 1 }), episode([1], { correct: 1 })];
    const bad = [episode([0], { correct: 0 }), episode([0], { correct: 0 })];
    const mixed = [episode([1], { correct: 1 }), episode([0], { correct: 0 })];
    addRolloutStatistics(row, 'env/all/', [good, bad], 1);
    addRolloutStatistics(row, 'env/all/', [mixed, mixed], 1);
    expect(row.take()).toEqual({
      'env/all/reward/total': 0.5,
      'env/all/by_group/frac_mixed': 0.5,
      'env/all/by_group/frac_all_good': 0.25,
      'env/all/by_group/frac_all_bad': 0.25,
      'env/all/total_episodes': 4,
      'env/all/total_turns': 4,
      'env/all/total_ac_tokens': 4,
      'env/all/total_ob_tokens': 28,
      'env/all/turns_per_episode': 1,
      'env/all/ac_tokens_per_turn': 1,
      'env/all/ob_tokens_per_turn': 7,
      'env/all/correct': 0.5,
    });
  });

  it('split the groups into three kinds by their rewards, and report the success rate', () => {
    const rewards = fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 3 });
    const group = fc.array(rewards, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 5 }), (groups) => {
        const means = new Means();
        const allRight = (bits: readonly number[]) => bits.every((bit) => bit === 1);
        const played = (bits: readonly number[]) => ({
          ...episode([...bits], {}),
          rewards: bits.map((total, turn) => {
            return { total, metrics: { success_count: Number(turn === 2 && allRight(bits)) } };
          }),
        });
        addRolloutStatistics(
          means,
          '',
          groups.map((each) => each.map(played)),
          1,
        );
        const row = means.take();
        const kinds = ['mixed', 'all_good', 'all_bad'].map((kind) => row[`by_group/frac_${kind}`]!);
        expect(kinds.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
        expect(row['turns_per_episode']).toBe(3);
        const rate = groups.flat().filter(allRight).length / groups.flat().length;
        expect(row['success_count']! * 3).toBeCloseTo(rate, 9);
      }),
    );
  });
});
