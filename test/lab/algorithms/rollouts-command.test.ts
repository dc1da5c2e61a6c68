import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { trainKeys } from '../../../src/lab/algorithms/train-settings.js';
import { rollouts, rolloutsLines } from '../../../src/lab/evaluation/rollouts.js';
import { keepConfig, openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { rowsIn, testWorld, trainIn, warmupIn } from './run-in-test.js';

/** A warmed-up micro model, so that guesses are legible. */
let format: string;
beforeAll(async () => {
  format = mkdtempSync(join(tmpdir(), 'memrl-format-'));
  const quick = ['n_values=8,64', 'n_batches=600', 'lesson_share=0.3', 'learning_rate=1e-2', 'eval_every=0'];
  await warmupIn(format, quick).catch(() => null);
});
afterAll(() => removeFolder(format));

const shaped = ['N=64', 'reward_type=log_distance', 'max_tokens=3', 'batch_size=2', 'group_size=3'];
const dense = ['env_type=multi_step', 'N=16', 'max_tokens=1', 'advantages=stepwise', 'lora_rank=1'];
const short = ['n_batches=12', 'save_every=5', 'test_n_batches=0', 'eval_every=5', 'log_every=3', 'learning_rate=3e-3'];

/** As `memrl train` begins: with its settings beside what it writes. */
async function trained(argv: readonly string[], stopBefore?: number): Promise<string> {
  const path = tempDirectory();
  const all = ['model_name=micro', ...short, ...argv, `load_checkpoint_path=${format}`, `log_path=${path}`];
  keepConfig(openRunDirectory(path), readArguments(trainKeys, all).config, new Set());
  await trainIn(path, all, testWorld(stopBefore));
  return path;
}

async function shown(run: string, step: number, replay = false) {
  const found = await rollouts(run, { step, replay }, testWorld());
  if (typeof found === 'string') throw new Error(found);
  return found;
}

/** Every file of a run with its content. */
const filesOf = (path: string) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(path, name)).isFile())
    .map((name) => [name, readFileSync(join(path, name), 'base64')]);

describe('the episodes of a step', () => {
  it.each([{ game: shaped }, { game: dense }])(
    'are replayed bit for bit from the checkpoint before it: $game',
    async ({ game }) => {
      const run = await trained([...game, 'log_episodes=True', 'keep_checkpoints=2']);
      const before = filesOf(run);
      for (const step of [0, 4, 5, 11]) {
        const [kept, played] = [await shown(run, step), await shown(run, step, true)];
        expect(kept.from).toBe('episodes.jsonl');
        expect(played.from).toMatch(step < 10 ? /from the start/ : /checkpoints\/000010/);
        const known = (of: typeof kept) =>
          of.groups.map((group) => group.map(({ rewards }) => rewards.map((reward) => reward.toFixed(6))));
        expect(known(played)).toEqual(known(kept));
        played.groups.flat().forEach((episode, index) => {
          const other = kept.groups.flat()[index]!;
          expect(episode.logprob).toBeLessThan(0);
          expect(other.logprob).toBeNull();
          episode.advantages.forEach((value, turn) => expect(value).toBeCloseTo(other.advantages[turn]!, 5));
          if (game === shaped && other.answers[0] !== null)
            expect(Number.parseInt(episode.answers[0]!, 10)).toBe(Number(other.answers[0]));
        });
      }
      expect(filesOf(run)).toEqual(before);
    },
  );

  it('have the mean reward that the metrics row reports', async () => {
    const run = await trained([...shaped, 'log_every=1']);
    const row = rowsIn(run)[7]!;
    const { groups, prompt } = await shown(run, 7);
    const rewards = groups.flat().flatMap((episode) => episode.rewards);
    expect(groups.map((group) => group.length)).toEqual([3, 3]);
    expect(rewards.reduce((sum, reward) => sum + reward, 0) / 6).toBeCloseTo(row['env/all/reward/total']!, 12);
    expect(prompt).toMatch(/between 0 and 63/);
  });

  it('are printed as a table', async () => {
    const run = await trained([...shaped, 'log_episodes=True']);
    const [kept, played] = [await shown(run, 2), await shown(run, 2, true)];
    expect(rolloutsLines(kept, 80).join('\n')).toMatch(
      /^step 2 · episodes\.jsonl\n[^]*secret number\?[^]*group +answer +reward +advantage\n─+\n +0 [^]*replay=True/,
    );
    const lines = rolloutsLines(played, 80);
    expect(lines.at(-7)).toMatch(/^─+$/);
    expect(lines.at(-1)).toMatch(/^ +1 +".*" +\S+ +-?[\d.e-]+ +-[\d.]+$/);
  });

  it('are available for the finished steps of a run in progress', async () => {
    const run = await trained([...shaped, 'log_every=1'], 7);
    expect((await shown(run, 6)).groups).toHaveLength(2);
    await expect(shown(run, 7)).rejects.toThrow(/has no step 7\. Its last is step 6\./);
  });

  it('are refused when the replay differs from the metrics, with a hint to record episodes', async () => {
    const run = await trained([...shaped]);
    rmSync(join(run, 'checkpoints'), { recursive: true });
    const metrics = join(run, 'metrics.jsonl');
    const changed = readFileSync(metrics, 'utf8').replace(/"optim\/entropy":/, '$&1');
    writeFileSync(metrics, changed);
    const failure = await shown(run, 5).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/differently at step 0: optim\/entropy is/) as string,
      fix: expect.stringMatching(/log_episodes=True/) as string,
    });
  });

  it.each([
    { what: 'a step it has not done', step: 12, says: /has no step 12\. Its last is step 11/ },
    { what: 'no step at all', step: 0, spoil: 'metrics.jsonl checkpoints.jsonl', says: /has no step 0. It has none/ },
    { what: 'no settings', step: 0, spoil: 'config.json', says: /no run of memrl train/ },
  ])('are refused for a run with $what', async ({ step, spoil, says }) => {
    const run = await trained(shaped);
    for (const name of spoil?.split(' ') ?? []) rmSync(join(run, name));
    await expect(shown(run, step)).rejects.toThrow(says);
  });
});
