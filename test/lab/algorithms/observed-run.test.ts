import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { trainKeys } from '../../../src/lab/algorithms/train-settings.js';
import { observedLines, observeRun } from '../../../src/lab/reference/observe-run.js';
import { keepConfig, openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rowsIn, testWorld, trainIn, warmupIn } from './run-in-test.js';

/** A warmed-up micro model, so that guesses are legible. */
let format: string;
beforeAll(async () => {
  format = mkdtempSync(join(tmpdir(), 'memrl-format-'));
  const quick = ['n_values=8,64', 'n_batches=900', 'lesson_share=0.3', 'learning_rate=1e-2', 'eval_every=0'];
  await warmupIn(format, quick).catch(() => null);
});
afterAll(() => removeFolder(format));

const shaped = ['N=64', 'reward_type=binned_log_distance', 'reward_bins=8', 'max_tokens=3'];
const dense = ['env_type=multi_step', 'N=16', 'max_tokens=1', 'advantages=stepwise'];
const short = ['n_batches=9', 'test_n_batches=1', 'eval_every=3', 'learning_rate=1e-3'];
const watched = ['observer=True', 'log_episodes=True'];
const episodesIn = (path: string) => readFileSync(join(path, 'episodes.jsonl'), 'utf8');

/** As `memrl train` begins: with its settings beside what it writes. */
async function observed(argv: readonly string[]): Promise<string> {
  const path = tempDirectory();
  const all = [...short, ...argv, `load_checkpoint_path=${format}`];
  keepConfig(openRunDirectory(path), readArguments(trainKeys, all).config, new Set());
  await trainIn(path, [...all, ...watched]);
  return path;
}

describe('a run with an observer', () => {
  it.each([{ game: shaped }, { game: [...shaped.slice(0, 1), 'reward_type=binary'] }, { game: dense }])(
    'trains exactly as without an observer: $game',
    async ({ game }) => {
      const [plain, seen] = [tempDirectory(), tempDirectory()];
      const argv = [...short, ...game, `load_checkpoint_path=${format}`];
      await trainIn(plain, argv);
      await trainIn(seen, [...argv, ...watched]);
      const unobserved = rowsIn(seen).map((row) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('observer/'))),
      );
      expect(unobserved).toEqual(rowsIn(plain));
      expect(resultsIn(seen)[1]).toBe(resultsIn(plain)[1]);
      expect(existsSync(join(plain, 'episodes.jsonl'))).toBe(false);
    },
  );

  it('reports in each row the bits that the episodes before it revealed', async () => {
    const path = await observed(shaped);
    const rows = rowsIn(path);
    expect(rows[0]).toMatchObject({ 'observer/bits_known': 0, 'observer/entropy_bits': 6 });
    const { curve, determinedAfter, episodes } = observeRun(path);
    expect(episodes).toBe(36);
    for (const row of rows) {
      const known = curve.findLast((point) => point.episodes <= row['progress/episodes']!)!.bits;
      expect(row['observer/bits_known']).toBeCloseTo(known, 9);
      expect(row['observer/bits_known']! + row['observer/entropy_bits']!).toBeCloseTo(6, 9);
    }
    expect(rows.at(-1)!['observer/determined_after'] ?? null).toBe(determinedAfter);
    expect(determinedAfter).not.toBeNull();
  });

  it('reveals a dense secret with the first answer whose bits are all valid', async () => {
    const path = await observed([...dense, 'fixed_secret=9']);
    const rows = episodesIn(path)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { guesses: string[]; rewards: string[] });
    for (const { guesses, rewards } of rows) {
      guesses.forEach((bits, index) => {
        const right = [...bits].map((bit, position) => (bit === '1001'[position] ? '1' : '0')).join('');
        expect(rewards[index]).toBe(right);
      });
    }
  });

  it.each([{ at: 1 }, { at: 5 }])(
    'interrupted before step $at and resumed, records the same episodes and knows the same bits',
    async ({ at }) => {
      const argv = [...short, ...shaped, ...watched, 'save_every=2', `load_checkpoint_path=${format}`];
      const [straight, broken] = [tempDirectory(), tempDirectory()];
      await trainIn(straight, argv);
      await trainIn(broken, argv, testWorld(at));
      // What a killed run wrote after its last checkpoint is written again.
      appendFileSync(join(broken, 'episodes.jsonl'), `{"step":${at},"guesses":[0],"rewards":[0]}\n{"step":`);
      await trainIn(broken, argv);
      expect(episodesIn(broken)).toBe(episodesIn(straight));
      expect(resultsIn(broken)).toEqual(resultsIn(straight));
    },
  );

  it('refuses to start observing in the middle of a run', async () => {
    const path = tempDirectory();
    const argv = [...short, ...shaped];
    await trainIn(path, argv);
    await expect(trainIn(path, [...argv, 'n_batches=12', 'observer=True'])).rejects.toThrow(
      /first 9 steps of this run were not observed/,
    );
  });
});

describe('memrl observer', () => {
  it('compares the bits revealed to the run with the bits in its weights', () => {
    const observation = {
      condition: { kind: 'binned', bins: 8 } as const,
      ...{ N: 1024, secretBits: 10, episodes: 80_000, bitsKnown: 10, curve: [] },
    };
    expect(observedLines({ ...observation, determinedAfter: 38, memorisedAfter: 2612 })).toEqual([
      'binned B=8 · N=1024 (10 bits) · 80,000 episodes',
      'told: after 38 episodes only one secret was possible',
      'took: after 2,612 episodes the weights knew 95 % of its bits: ×68.7',
    ]);
    expect(
      observedLines({ ...observation, bitsKnown: 8, determinedAfter: null, memorisedAfter: null }).slice(1),
    ).toEqual(['told: 8 of 10 bits; 4 secrets fit all that was said', 'took: the weights had not memorised it']);
  });

  it('finds in the metrics when the weights finally knew the secret', async () => {
    const path = await observed(shaped);
    const row = (episodes: number, bits: number) =>
      JSON.stringify({ step: episodes / 4, 'progress/episodes': episodes, 'test/bits/answer_raw': bits });
    writeFileSync(join(path, 'metrics.jsonl'), [row(0, 5.9), row(4, 1), row(8, 5.8), row(12, 5.9), ''].join('\n'));
    expect(observeRun(path).memorisedAfter).toBe(8);
  });

  it.each([
    {
      what: 'a line is no row',
      damage: (text: string) => text.replace('"step":2', '"stop":2'),
      words: /line 3 is no row/,
    },
    {
      what: 'a row is missing',
      damage: (text: string) => text.split('\n').toSpliced(2, 1).join('\n'),
      words: /step 2 is missing/,
    },
    {
      what: 'a guess is not below N',
      damage: (text: string) => text.replace(/"guesses":\[[^\]]*\]/, '"guesses":[64,0,0,0]'),
      words: /step 0 is not one of this game/,
    },
    {
      what: 'no secret fits',
      damage: (text: string) => text.replace(/\{"step":0.*/, '{"step":0,"guesses":[0,63],"rewards":[1,1]}'),
      words: /no secret fits the rewards up to step 0/,
    },
  ])('refuses a file in which $what', async ({ damage, words }) => {
    const path = await observed(shaped);
    writeFileSync(join(path, 'episodes.jsonl'), damage(episodesIn(path)));
    expect(() => observeRun(path)).toThrow(words);
  });

  it('ignores a last line that is incomplete', async () => {
    const path = await observed(shaped);
    const before = observeRun(path);
    appendFileSync(join(path, 'episodes.jsonl'), '{"step":9,"gue');
    expect(observeRun(path)).toEqual(before);
  });

  it('refuses a run that did not record its episodes', async () => {
    const path = tempDirectory();
    expect(() => observeRun(path)).toThrow(/no run of memrl train/);
    keepConfig(openRunDirectory(path), readArguments(trainKeys, shaped).config, new Set());
    expect(() => observeRun(path)).toThrow(/did not keep its episodes/);
  });
});
