import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { lossFns } from '../../../src/lab/objectives/objectives.js';
import { trainBudget, trainKeys } from '../../../src/lab/algorithms/train-settings.js';
import { lastCheckpoint } from '../../../src/lab/run/checkpoint.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rowsIn, testWorld, trainIn, warmupIn } from './run-in-test.js';
import { removeFolder } from '../../remove-folder.js';

/** A warmed-up micro model, so that rewards differ. */
let format: string;
beforeAll(async () => {
  format = mkdtempSync(join(tmpdir(), 'memrl-format-'));
  await warmupIn(format, [
    'n_values=8,64',
    'n_batches=900',
    'lesson_share=0.3',
    'learning_rate=1e-2',
    'eval_every=0',
  ]).catch(() => null);
});
afterAll(() => removeFolder(format));

const short = ['n_batches=3', 'test_n_batches=1', 'eval_every=2', 'learning_rate=1e-3'];
const shaped = ['N=64', 'reward_type=log_distance', 'max_tokens=3'];
const dense = ['env_type=multi_step', 'N=16', 'max_tokens=1'];

describe('memrl train', () => {
  it.each([
    ...lossFns.map((loss) => [...shaped, `loss_fn=${loss}`]),
    [...shaped, 'batch_size=3', 'group_size=2', 'use_standard_prefix=True'],
    ['N=1', 'reward_type=log_distance'],
    [...dense, 'advantages=stepwise', 'entropy_coef=0.03'],
    [...dense, 'advantages=to_go', 'loss_fn=ppo', 'max_tokens=2', 'use_standard_prefix=True'],
    [...dense, 'advantages=trajectory', 'skip_constant_groups=True'],
    [...shaped, 'advantage_scale=std', 'loss_normalization=grpo', 'kl_coef=0.02'],
    [...dense, 'loss_normalization=dr_grpo', 'kl_coef=0.1', 'entropy_coef=0.01'],
    [...shaped, 'kl_penalty_coef=0.1', 'kl_discount_factor=0.5', 'temperature=1.5'],
    [...shaped, 'batch_size=2', 'num_substeps=3', 'max_step_kl=0.01', 'temperature=1.5', 'answer_format=gray'],
  ])('trains a few steps with %s %s %s %s %s', async (...argv) => {
    const path = tempDirectory();
    expect(await trainIn(path, [...short, ...argv.filter((argument) => argument !== undefined)])).toEqual({
      kind: 'finished',
    });
    const rows = rowsIn(path);
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
    for (const row of [rows[0]!, rows[2]!, rows[3]!]) {
      expect(row).toHaveProperty(['test/bits/answer_raw']);
      expect(row).toHaveProperty(['test/env/all/reward/total']);
      expect(row).toHaveProperty(['theory/signal_bits']);
    }
    expect(rows[1]).not.toHaveProperty(['test/bits/answer_raw']);
    for (const row of rows.slice(0, 3)) {
      expect(row['env/all/reward/total']).toBeTypeOf('number');
      expect(row['optim/entropy']).toBeGreaterThan(0);
    }
  });

  it('writes rows with the names of memory-rl, step first, and no clock times', async () => {
    const path = tempDirectory();
    await trainIn(path, [...short, ...shaped, 'seed=1', `load_checkpoint_path=${format}`]);
    const rows = rowsIn(path);
    expect(Object.keys(rows[0]!)[0]).toBe('step');
    expect(rows[0]).toMatchObject({
      'progress/batch': 0, 'progress/done_frac': 1 / 3, 'progress/episodes': 0, 'optim/lr': 1e-3, 'optim/updates': 0,
      'env/all/total_episodes': 4, 'env/all/turns_per_episode': 1, 'theory/signal_bits': 6,
    }); // prettier-ignore
    expect(rows[0]!['theory/channel_bits_per_episode']).toBeNull();
    expect(rows[2]).toMatchObject({ 'progress/episodes': 8, 'optim/updates': 2 });
    expect(rows[3]).toMatchObject({ 'progress/done_frac': 1, 'progress/episodes': 12, 'optim/updates': 3 });
    expect(rows[3]).not.toHaveProperty(['env/all/reward/total']);
    expect(Object.keys(rows[2]!).filter((name) => name.startsWith('time'))).toEqual([]);
    for (const name of ['correct', 'distance', 'reward_signal', 'success_count', 'format_error', 'parse_success']) {
      expect(rows[2]).toHaveProperty([`env/all/${name}`]);
      expect(rows[2]).toHaveProperty([`test/env/all/${name}`]);
    }
    // The episodes are trained on by the very weights that played them.
    expect(Math.abs(rows[1]!['optim/kl_sample_train_v1']!)).toBeLessThan(1e-5);
  });

  it('averages over all steps since the last row when rows are written at intervals', async () => {
    const [each, rare] = [tempDirectory(), tempDirectory()];
    const argv = ['n_batches=7', 'eval_every=0', ...shaped];
    await trainIn(each, argv);
    await trainIn(rare, [...argv, 'log_every=3']);
    expect(rowsIn(rare).map(({ step }) => step)).toEqual([0, 3, 6, 7]);
    const mean =
      rowsIn(each)
        .slice(1, 4)
        .reduce((sum, row) => sum + row['env/all/distance']!, 0) / 3;
    expect(rowsIn(rare)[1]!['env/all/distance']).toBeCloseTo(mean, 9);
  });

  it('evaluates at powers of two and measures the whole distribution when asked', async () => {
    const path = tempDirectory();
    const argv = ['n_batches=11', 'eval_every=10', 'eval_early=True', 'eval_distribution=True', 'test_n_batches=0'];
    await trainIn(path, [...argv, ...shaped, 'fixed_secret=5', `load_checkpoint_path=${format}`]);
    const rows = rowsIn(path).filter((row) => 'test/distribution/entropy' in row);
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2, 4, 8, 10, 11]);
    const first = rows[0]!;
    expect(first['test/distribution/valid']).toBeGreaterThan(0.9);
    expect(first['test/distribution/entropy']! + first['test/distribution/kl_uniform']!).toBeCloseTo(6, 9);
    expect(first['test/distribution/secret_rank']).toBeGreaterThan(1);
    expect(first['test/distribution/secret_rank']).toBeLessThanOrEqual(64);
  });

  it('gives the same files for the same seed, and others for another seed', async () => {
    const paths = [tempDirectory(), tempDirectory(), tempDirectory()];
    for (const [index, path] of paths.entries()) {
      await trainIn(path, [...short, ...shaped, `seed=${index === 2 ? 1 : 0}`, `load_checkpoint_path=${format}`]);
    }
    expect(resultsIn(paths[0]!)).toEqual(resultsIn(paths[1]!));
    expect(resultsIn(paths[0]!)[1]).not.toBe(resultsIn(paths[2]!)[1]);
  });

  it.each([1, 4, 6, 9])('interrupted before step %i and resumed, ends with the same files', async (at) => {
    const argv = [
      ...shaped,
      'n_batches=10',
      'save_every=3',
      'log_every=4',
      'eval_every=5',
      'test_n_batches=1',
      'entropy_coef=0.01',
    ];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    await trainIn(straight, argv);
    expect(await trainIn(broken, argv, testWorld(at))).toEqual({ kind: 'stopped', signal: 'SIGTERM' });
    expect(lastCheckpoint(openRunDirectory(broken), () => expect.unreachable())!.batch).toBe(at);
    expect(await trainIn(broken, argv)).toEqual({ kind: 'finished' });
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  });

  it('stays nearer to the initial model with a larger KL coefficient, and starts with KL 0', async () => {
    const distances: number[] = [];
    const free = ['n_batches=25', 'test_n_batches=1', 'eval_every=0', 'learning_rate=3e-3', 'batch_size=4'];
    for (const pull of ['1e-6', '3']) {
      const path = tempDirectory();
      await trainIn(path, [...free, ...shaped, `kl_coef=${pull}`, `load_checkpoint_path=${format}`]);
      const rows = rowsIn(path).map((row) => row['optim/kl_reference']);
      expect(rows[0]).toBe(0);
      distances.push(rows[24]!);
    }
    expect(distances[0]).toBeGreaterThan(0.01);
    expect(distances[1]).toBeLessThan(distances[0]! / 3);
  });

  it('logs the KL to the initial model with a k1 penalty, which keeps it smaller', async () => {
    const distances: number[] = [];
    const free = ['n_batches=25', 'test_n_batches=1', 'eval_every=0', 'learning_rate=3e-3', 'batch_size=4'];
    for (const penalty of ['1e-6', '3']) {
      const path = tempDirectory();
      await trainIn(path, [...free, ...shaped, `kl_penalty_coef=${penalty}`, `load_checkpoint_path=${format}`]);
      const rows = rowsIn(path).map((row) => row['kl_policy_base']!);
      expect(Math.abs(rows[0]!)).toBeLessThan(1e-5);
      distances.push(rows.slice(15, 25).reduce((sum, value) => sum + value, 0) / 10);
    }
    expect(distances[0]).toBeGreaterThan(0.01);
    expect(distances[1]).toBeLessThan(distances[0]! / 3);
  });

  it('logs no KL to the initial model without a KL term', async () => {
    const path = tempDirectory();
    await trainIn(path, [...short, ...shaped]);
    expect(rowsIn(path)[1]).not.toHaveProperty(['optim/kl_reference']);
    expect(rowsIn(path)[1]).not.toHaveProperty(['kl_policy_base']);
  });

  it.each([
    { at: 4, pull: ['kl_coef=0.5', 'loss_normalization=grpo', 'advantage_scale=std'] },
    { at: 9, pull: ['kl_coef=0.5', 'loss_normalization=grpo', 'advantage_scale=std'] },
    { at: 7, pull: ['kl_penalty_coef=0.5', 'kl_discount_factor=0.9', 'num_substeps=2'] },
  ])('with $pull, interrupted before step $at and resumed, ends with the same files', async ({ at, pull }) => {
    const argv = [
      ...['n_batches=12', 'test_n_batches=1', 'eval_every=5', 'log_every=4', 'save_every=3', 'learning_rate=3e-3'],
      ...[...shaped, ...pull, `load_checkpoint_path=${format}`],
    ];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    await trainIn(straight, argv);
    await trainIn(broken, argv, testWorld(at));
    await trainIn(broken, argv);
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
  });

  it('resumes with other initial weights, which no longer matter, unless they are the KL reference', () => {
    const budget = (...argv: string[]) => trainBudget(readArguments(trainKeys, argv).config);
    expect(budget().has('load_checkpoint_path')).toBe(true);
    expect(budget('kl_coef=0.1').has('load_checkpoint_path')).toBe(false);
    expect(budget('kl_penalty_coef=0.1').has('load_checkpoint_path')).toBe(false);
    expect(budget('kl_coef=0.1').has('n_batches')).toBe(true);
  });

  it('continues from its final checkpoint when n_batches grows, as if it had been larger from the start', async () => {
    const argv = [...dense, 'advantages=stepwise', 'log_every=3', 'eval_every=2', 'test_n_batches=1'];
    const [straight, extended] = [tempDirectory(), tempDirectory()];
    await trainIn(straight, [...argv, 'n_batches=9']);
    await trainIn(extended, [...argv, 'n_batches=5']);
    await trainIn(extended, [...argv, 'n_batches=9']);
    expect(resultsIn(extended).slice(1)).toEqual(resultsIn(straight).slice(1));
    // How much of the whole is done was another share of a shorter whole.
    const numbers = (path: string) => rowsIn(path).map((row) => ({ ...row, 'progress/done_frac': 0 }));
    expect(numbers(extended)).toEqual(numbers(straight));
    const names = readFileSync(join(extended, 'checkpoints.jsonl'), 'utf8').trim().split('\n');
    expect(names.map((line) => (JSON.parse(line) as { batch: number }).batch)).toEqual([5, 9]);
  });

  it('stops early once the secret stays memorised, at the same step however often it was interrupted', async () => {
    const argv = [
      ...['N=8', 'fixed_secret=5', `load_checkpoint_path=${format}`, 'n_batches=500', 'skip_constant_groups=True'],
      ...[
        'learning_rate=3e-3',
        'entropy_coef=0.03',
        'eval_every=5',
        'log_every=5',
        'save_every=0',
        'test_n_batches=0',
        'stop_memorised=7',
      ],
    ];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    const world = testWorld();
    expect(await trainIn(straight, argv, world)).toEqual({ kind: 'finished' });
    const rows = rowsIn(straight);
    const bits = rows.slice(-8).map((row) => row['test/bits/answer_raw']!);
    expect(bits[0]).toBeLessThan(0.95 * 3);
    for (const known of bits.slice(1)) expect(known).toBeGreaterThanOrEqual(0.95 * 3);
    expect(rows.at(-1)!.step).toBeLessThan(500);
    expect(world.lines.join('\n')).toMatch(/memorised at 7 evaluations in a row/);
    const last = rows.at(-1)!.step!;
    await trainIn(broken, argv, testWorld(last - 12));
    await trainIn(broken, argv);
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
    // Asked to go on, it finds that it was enough.
    await trainIn(broken, argv.with(3, 'n_batches=600'));
    expect(rowsIn(broken).at(-1)!.step).toBe(last);
  });

  it('does nothing when it is complete', async () => {
    const path = tempDirectory();
    await trainIn(path, [...short, ...shaped]);
    const before = resultsIn(path);
    const world = testWorld();
    expect(await trainIn(path, [...short, ...shaped], world)).toEqual({ kind: 'finished' });
    expect(resultsIn(path)).toEqual(before);
    expect(world.lines.join()).toMatch(/already complete: 3 steps/);
  });

  it('skips the update when no group has a signal and such groups are skipped', async () => {
    // A fresh model does not hit one number in a million, so every reward is 0.
    const argv = [...short, 'N=1000000', 'entropy_coef=0.1'];
    const [skipping, faithful] = [tempDirectory(), tempDirectory()];
    await trainIn(skipping, [...argv, 'skip_constant_groups=True']);
    await trainIn(faithful, argv);
    expect(rowsIn(skipping).at(-1)).toMatchObject({ 'optim/updates': 0 });
    expect(rowsIn(faithful).at(-1)).toMatchObject({ 'optim/updates': 3 });
    const last = (row: Record<string, number | null>) =>
      Object.entries(row).filter(([name]) => name.startsWith('test/'));
    expect(last(rowsIn(skipping)[3]!)).toEqual(last(rowsIn(skipping)[0]!));
    expect(readModel(join(skipping, 'checkpoints/final')).optimizer!.step).toBe(0);
    expect(readModel(join(faithful, 'checkpoints/final')).optimizer!.step).toBe(3);
  });

  it('starts from the weights of another run, without its optimizer state', async () => {
    const [first, second] = [tempDirectory(), tempDirectory()];
    await trainIn(first, [...short, ...shaped]);
    const world = testWorld();
    await trainIn(second, ['n_batches=0', ...shaped, `load_checkpoint_path=${first}`], world);
    const [from, to] = [first, second].map((path) => readModel(join(path, 'checkpoints/final')));
    expect(to!.weights).toEqual(from!.weights);
    expect(to!.optimizer!.step).toBe(0);
    expect(world.lines.join('\n')).toContain(`weights from ${first}`);
  });

  it.each([
    [['group_size=1', 'batch_size=1'], /group_size=1 cannot learn/, /2 or more/],
    [['reward_type=binned_log_distance'], /at least 2 bins, and reward_bins is None/, /reward_bins=8/],
    [['reward_type=binned_log_distance', 'reward_bins=1'], /reward_bins is 1/, /reward_bins=8/],
    [['N=64', 'fixed_secret=64'], /secret 64 is not in \[0, 64\)/, /0 to 63/],
    [['N=4294967297'], /stops at 2\*\*32/, /fixed_secret/],
    [['load_checkpoint_path=/nowhere'], /no checkpoint in \/nowhere/, /memrl warmup/],
    [['loss_fn=ppo', 'clip_low_threshold=1.5'], /at least 1.5 and at most 1.2/, /clip_low_threshold/],
    [
      [...shaped, 'learning_rate=1e38', 'eval_every=0'],
      /diverged: at step \d+, .* is (NaN|-?Infinity)/,
      /smaller learning_rate/,
    ],
  ])('refuses %j', async (argv, problem, fix) => {
    const failure = await trainIn(tempDirectory(), argv).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(UserError);
    expect((failure as UserError).message).toMatch(problem);
    expect((failure as UserError).fix).toMatch(fix);
  });

  it('refuses a checkpoint of another recipe', async () => {
    const path = tempDirectory();
    await warmupIn(path, ['n_values=4', 'n_batches=9', 'eval_every=0'], testWorld(2));
    await expect(trainIn(path, short)).rejects.toThrow(/not one of memrl train/);
  });

  it('learns a secret below 8 from binary rewards, after a warm-up', async () => {
    const run = tempDirectory();
    const argv = [
      'N=8',
      'fixed_secret=5',
      `load_checkpoint_path=${format}`,
      'n_batches=500',
      'skip_constant_groups=True',
    ];
    await trainIn(run, [
      ...argv,
      'learning_rate=3e-3',
      'entropy_coef=0.03',
      'eval_every=50',
      'save_every=0',
      'test_n_batches=8',
    ]);
    const rows = rowsIn(run);
    expect(Math.abs(rows[0]!['test/bits/answer_raw']!)).toBeLessThan(1);
    expect(rows.at(-1)!['test/bits/answer_raw']).toBeGreaterThan(2.8);
    expect(rows.at(-1)).toMatchObject({ 'test/greedy': 5 });
    expect(rows.at(-1)!['test/env/all/correct']).toBeGreaterThan(0.85);
    expect(existsSync(join(run, 'checkpoints/final/model.safetensors'))).toBe(true);
  });
});
