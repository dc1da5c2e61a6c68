import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { mixedGroups } from '../../../src/lab/algorithms/rl.js';
import { rlKeys } from '../../../src/lab/algorithms/rl-settings.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { removeFolder } from '../../remove-folder.js';
import { bundledProgram, memrl, type Program } from '../program.js';
import { tempDirectory } from '../temp-directory.js';
import { resultsIn, rlIn, rowsIn, testWorld } from './run-in-test.js';
import { PATIENCE_MS } from '../../patience.js';

const home = mkdtempSync(join(tmpdir(), 'memrl-rl-'));
/** Two turns whose rewards even a model without any training earns now and then; every third task earns the same whatever is said. */
const letters = `const sum = (text) => [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
export default ({ turns = 1, constant = 0 }) => ({
  name: 'letters',
  stop: [],
  size: 12,
  task: (index) => ({ id: 'task ' + index, prompt: 'Say ' + index, tags: ['all', index % 2 ? 'odd' : 'even'] }),
  respond: (task, said) => {
    const isConstant = Number(task.id.slice(5)) % 3 < constant;
    const reward = isConstant ? 0.25 : (sum(said.at(-1).text) % 7) / 7;
    return { reward, metrics: { correct: reward }, next: said.length < turns ? ' and ' : null };
  },
});`;
let shipped: Program;
beforeAll(async () => {
  writeFileSync(join(home, 'letters.mjs'), letters);
  shipped = await bundledProgram();
});
afterAll(() => removeFolder(home));

const usual = ['groups_per_batch=4', 'n_batches=4', 'learning_rate=0.01', 'lr_schedule=linear', 'save_every=1'];
const played = (params: string) => [`environment=${home}/letters.mjs`, `environment_params=${params}`];

/** A run of its own with these settings. */
async function finished(...argv: string[]): Promise<string> {
  const path = tempDirectory();
  expect(await rlIn(path, [...usual, ...played('{turns: 2}'), ...argv])).toEqual({ kind: 'finished' });
  return path;
}

const weights = (path: string, checkpoint = 'final') => readModel(join(path, 'checkpoints', checkpoint)).weights;
const furthest = (one: Float32Array, other: Float32Array) =>
  one.reduce((most, weight, at) => Math.max(most, Math.abs(weight - other[at]!)), 0);

describe('the modes of memrl rl', () => {
  it.each([
    { stream: ['num_minibatches=2'], synchronous: [] },
    { stream: ['num_minibatches=1', 'num_substeps=2', 'loss_fn=ppo'], synchronous: ['num_substeps=2', 'loss_fn=ppo'] },
    {
      stream: ['num_minibatches=2', 'num_substeps=2', 'loss_fn=cispo'],
      synchronous: ['num_substeps=2', 'loss_fn=cispo'],
    },
  ])('have the same gradients when only the order of work differs: $stream', async ({ stream, synchronous }) => {
    const [streamed, whole] = [await finished(...stream), await finished(...synchronous)];
    expect(furthest(weights(streamed), weights(whole))).toBeLessThan(2e-5);
    expect(furthest(weights(whole), weights(whole, '000001'))).toBeGreaterThan(1e-3);
    const [one, other] = [rowsIn(streamed), rowsIn(whole)];
    one.forEach((row, step) =>
      Object.entries(row).forEach(([name, value]) => expect(value, name).toBeCloseTo(other[step]![name]!, 3)),
    );
  });

  it('equal the synchronous mode, byte for byte, when max_steps_off_policy is 0', async () => {
    const [ahead, whole] = [await finished('max_steps_off_policy=0'), await finished()];
    expect(weights(ahead)).toEqual(weights(whole));
    for (const [step, row] of rowsIn(whole).entries()) expect(rowsIn(ahead)[step]).toMatchObject(row);
  });

  it('sample with weights of exactly the allowed age on an engine that does one thing at a time', async () => {
    const rows = rowsIn(await finished('max_steps_off_policy=2', 'n_batches=6', 'loss_fn=ppo')).slice(0, 6);
    const named = (name: string) => rows.map((row) => row[name]);
    expect(named('sampling_client/step_mean')).toEqual([0, 0, 0, 1, 2, 3]);
    expect(named('sampling_client/step_min')).toEqual(named('sampling_client/step_max'));
    expect(named('training_client/step')).toEqual([0, 1, 2, 3, 4, 5]);
    expect(named('sampling_client/stale_groups')).toEqual([0, 0, 0, 0, 0, 0]);
    // Old answers are less likely than when they were given.
    expect(rows[0]!['optim/kl_sample_train_v2']).toBeLessThan(1e-9);
    expect(rows[2]!['optim/kl_sample_train_v2']).toBeGreaterThan(1e-6);
  });

  it.each([
    [],
    ['num_substeps=2', 'num_minibatches=2', 'loss_fn=ppo'],
    ['max_steps_off_policy=3', 'num_minibatches=2', 'remove_constant_reward_groups=True'],
    ['kl_penalty_coef=0.1', 'kl_discount_factor=0.5', 'max_steps_off_policy=1'],
  ])('end with the same files however often they are interrupted: %j %j %j', async (...mode) => {
    const argv = ['n_batches=6', ...played('{turns: 2, constant: 1}'), ...mode];
    const whole = await finished(...argv, 'save_every=0');
    const broken = tempDirectory();
    for (const steps of [1, 2, 1, 0]) {
      const ending = await rlIn(broken, [...usual, ...argv, 'save_every=0'], testWorld(steps));
      expect(ending).toEqual({ kind: 'stopped', signal: 'SIGTERM' });
    }
    await rlIn(broken, [...usual, ...argv, 'save_every=0']);
    expect(resultsIn(broken)).toEqual(resultsIn(whole));
  });

  it.each([[], ['max_steps_off_policy=2'], ['num_substeps=2', 'num_minibatches=1']])(
    'extended by more steps, end as if these had been requested from the start; a finished run is only reported: %j',
    async (...mode) => {
      const argv = [...mode, 'lr_schedule=constant'];
      const [longer, whole] = [await finished(...argv, 'n_batches=2'), await finished(...argv, 'n_batches=5')];
      const world = testWorld();
      await rlIn(longer, [...usual, ...played('{turns: 2}'), ...argv, 'n_batches=5']);
      expect(weights(longer)).toEqual(weights(whole));
      await rlIn(longer, [...usual, ...played('{turns: 2}'), ...argv, 'n_batches=5'], world);
      expect(world.lines).toEqual(['already complete: 5 steps are done. A larger n_batches continues.']);
    },
  );

  it('killed and resumed, end with the files of an uninterrupted run', { tags: ['long'] }, async () => {
    const argv = [
      ...['rl', 'model_name=micro', 'engine=wasm', 'threads=1', 'lora_rank=2', 'max_tokens=3', 'group_size=2'],
      ...['groups_per_batch=4', 'n_batches=60', 'save_every=7', 'learning_rate=0.01', 'max_steps_off_policy=2'],
      ...['num_substeps=2', 'num_minibatches=2', 'loss_fn=ppo', 'eval_every=40', 'eval_groups=4'],
      ...['rollout_json_export=True', 'num_groups_to_log=1', ...played('{turns: 2, constant: 1}')],
    ];
    const [straight, broken] = [tempDirectory(), tempDirectory()];
    expect(await memrl([...argv, `log_path=${straight}`])).toMatchObject({ code: 0 });
    for (let attempt = 0; attempt < 2; attempt++) {
      const before = existsSync(join(broken, 'metrics.jsonl')) ? rowsIn(broken).length : 0;
      const { child, ended } = shipped.start([...argv, `log_path=${broken}`]);
      await vi.waitFor(() => expect(rowsIn(broken).length).toBeGreaterThan(before + 9), {
        timeout: PATIENCE_MS,
        interval: 2,
      });
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ signal: 'SIGKILL' });
      expect(existsSync(join(broken, 'checkpoints/final'))).toBe(false);
    }
    expect(await memrl([...argv, `log_path=${broken}`])).toMatchObject({ code: 0 });
    expect(resultsIn(broken)).toEqual(resultsIn(straight));
    const files = ['train_iteration_000059.html', 'iteration_000059/train_rollout_summaries.jsonl'];
    for (const file of files) expect(readFileSync(join(broken, file))).toEqual(readFileSync(join(straight, file)));
  });
});

describe('a metrics row of memrl rl', () => {
  it('has the keys of tinker-cookbook', async () => {
    const path = await finished(
      ...['compute_post_kl=True', 'kl_penalty_coef=0.1', 'eval_every=2', 'eval_groups=3', 'log_times=True'],
      'max_steps_off_policy=1',
    );
    const rows = rowsIn(path);
    const names =
      `progress/batch progress/done_frac optim/lr optim/kl_sample_train_v1 optim/kl_sample_train_v2 optim/entropy time/total
      time/train kl_policy_base kl_pre_post_v1 kl_pre_post_v2 training_client/step sampling_client/step_max sampling_client/step_min
      sampling_client/step_mean env/all/ac_tokens_per_turn env/all/ob_tokens_per_turn env/all/turns_per_episode env/all/total_episodes
      env/all/total_turns env/all/total_ac_tokens env/all/total_ob_tokens env/all/reward/total env/all/by_group/frac_mixed
      env/all/by_group/frac_all_good env/all/by_group/frac_all_bad env/all/correct env/even/correct env/odd/reward/total`.split(
        /\s+/,
      );
    for (const name of names) expect(rows[0], name).toHaveProperty([name]);
    expect(rows[0]).not.toHaveProperty(['env/all/all/correct']);
    for (const step of [0, 2, 4]) {
      for (const name of ['test/env/all/reward/total', 'test/env/all/correct', 'time/run_evals']) {
        expect(rows[step], name).toHaveProperty([name]);
      }
    }
    const shares = ['mixed', 'all_good', 'all_bad'].map((kind) => rows[0]![`env/all/by_group/frac_${kind}`]!);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1);
    expect(rows[0]!['env/all/turns_per_episode']).toBe(2);
    // Before anything is learnt the policy is the reference, and an update moves it away from what it said.
    expect(rows[0]!['kl_policy_base']).toBeCloseTo(0, 6);
    expect(rows[3]!['kl_policy_base']).not.toBeCloseTo(0, 4);
    expect(rows[0]!['kl_pre_post_v2']).toBeGreaterThan(1e-6);
  });

  it('follows, in the asynchronous mode, a checkpoint of the initial weights', async () => {
    const saved = (path: string) =>
      readFileSync(join(path, 'checkpoints.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name);
    const [ahead, whole] = [await finished('max_steps_off_policy=1', 'save_every=0'), await finished('save_every=0')];
    expect([saved(ahead), saved(whole)]).toEqual([['000000', 'final'], ['final']]);
    expect(weights(ahead, '000000')).toEqual(weights(await finished('n_batches=0')));
  });

  it.each([
    {
      mode: ['kl_penalty_coef=0.1', 'compute_post_kl=True'],
      names:
        'sampling prepare_minibatch assemble_training_data kl_vs_base train_step compute_kl_sample_train compute_post_kl',
    },
    {
      mode: ['max_steps_off_policy=1'],
      names: `sampling_time_max sampling_time_min sampling_time_mean prepare_minibatch assemble_training_data train_step
        compute_kl_sample_train`,
    },
    {
      mode: ['num_minibatches=2'],
      names: `sampling_time_max sampling_time_min sampling_time_mean prepare_minibatch:count prepare_minibatch:max
        prepare_minibatch:mean prepare_minibatch:total assemble_training_data:count assemble_training_data:max
        assemble_training_data:mean assemble_training_data:total compute_kl_sample_train`,
    },
  ])('has the times of its parts by the names of tinker-cookbook: $mode', async ({ mode, names }) => {
    const path = tempDirectory();
    let now = 0;
    const world = { ...testWorld(), now: () => ++now };
    await rlIn(path, [...usual, ...played('{turns: 2}'), ...mode, 'log_times=True', 'save_every=0'], world);
    const row = rowsIn(path)[1]!;
    const times = Object.keys(row).filter((name) => name.startsWith('time/'));
    const expected = ['total', 'train', ...names.split(/\s+/)].map((name) => `time/${name}`);
    expect(times.sort()).toEqual(expected.sort());
    expect(row['time/train']).toBeLessThan(row['time/total']!);
    const within = times.filter((name) => !/(count|total|train|sampling_time_...|mean)$/.test(name));
    expect(within.length).toBeGreaterThan(0);
    for (const name of within) expect(row[name], name).toBeLessThan(row['time/train']!);
  });

  it('has the learning rate of its step: the schedule times the square root of the batch', async () => {
    const rates = async (...argv: string[]) =>
      rowsIn(await finished('learning_rate=0.008', ...argv))
        .slice(0, 4)
        .map((row) => Number(row['optim/lr']!.toFixed(12)));
    expect(await rates('lr_schedule=constant')).toEqual([0.008, 0.008, 0.008, 0.008]);
    expect(await rates()).toEqual([0.008, 0.006, 0.004, 0.002]);
    expect(await rates('learning_rate_groups=16', 'lr_schedule=constant')).toEqual([0.004, 0.004, 0.004, 0.004]);
    const cosine = await rates('lr_schedule=cosine');
    expect([cosine[0], cosine[2]]).toEqual([0.008, 0.004]);
  });

  it('comes with HTML pages and summaries of the rollouts', async () => {
    const path = await finished('num_groups_to_log=2', 'rollout_json_export=True', 'n_batches=1');
    const page = readFileSync(join(path, 'train_iteration_000000.html'), 'utf8');
    expect(page.match(/<h2>/g)).toHaveLength(2);
    const lines = readFileSync(join(path, 'iteration_000000/train_rollout_summaries.jsonl'), 'utf8').trim().split('\n');
    const summaries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(summaries.map(({ group_idx, traj_idx }) => [group_idx, traj_idx])).toEqual(
      [0, 1, 2, 3].flatMap((group) => [0, 1].map((index) => [group, index])),
    );
    expect(summaries[0]).toMatchObject({ schema_version: 1, split: 'train', iteration: 0, sampling_client_step: 0 });
    const [first, second] = summaries[0]!['steps'] as { ob_len: number; ac_len: number; episode_done: boolean }[];
    expect(second!.ob_len).toBe(first!.ob_len + first!.ac_len + ' and '.length);
    expect([first!.episode_done, second!.episode_done]).toEqual([false, true]);
  });

  it('comes with HTML pages and summaries of each evaluation, the final one included', async () => {
    const files = ['num_groups_to_log=2', 'rollout_json_export=True', 'eval_every=2', 'eval_groups=3'];
    const path = await finished(...files, 'n_batches=3');
    const pages = [0, 1, 2, 3].map((step) => existsSync(join(path, `eval_test_iteration_00000${step}.html`)));
    expect(pages).toEqual([true, false, true, true]);
    const page = readFileSync(join(path, 'eval_test_iteration_000003.html'), 'utf8');
    expect(page).toContain('<h1>Evaluation of the weights of step 3</h1>');
    expect(page.match(/<h2>/g)).toHaveLength(2);
    const lines = readFileSync(join(path, 'iteration_000003/eval_test_rollout_summaries.jsonl'), 'utf8').trim();
    const summaries = lines.split('\n').map((line) => JSON.parse(line) as Record<string, number>);
    expect(summaries[2]).toMatchObject({ split: 'eval/test', iteration: 3, group_idx: 2, traj_idx: 0 });
    const earned = summaries.reduce((sum, row) => sum + row['total_reward']!, 0) / summaries.length;
    expect(earned).toBeCloseTo(rowsIn(path)[3]!['test/env/all/reward/total']!, 12);
    expect(existsSync(join(path, 'iteration_000001/eval_test_rollout_summaries.jsonl'))).toBe(false);
  });
});

describe('groups with equal rewards', () => {
  const group = (...rewards: number[]) =>
    rewards.map((total) => ({ rewards: [{ total }] })) as unknown as Parameters<typeof mixedGroups>[0][number];

  it('are removed, except for the first when all groups have equal rewards', () => {
    const [same, other, mixed] = [group(1, 1), group(0, 0, 0), group(0, 1)];
    expect(mixedGroups([same, mixed, other])).toEqual([mixed]);
    expect(mixedGroups([same, other])).toEqual([same]);
  });

  it.each([[], ['num_minibatches=2'], ['max_steps_off_policy=1']])(
    'have no gradient whether they are removed or not, in every mode: %j',
    async (...mode) => {
      const argv = [...played('{constant: 2}'), 'n_batches=1', ...mode];
      const [kept, removed] = [await finished(...argv), await finished(...argv, 'remove_constant_reward_groups=True')];
      const mixed = (path: string) => rowsIn(path)[0]!['env/all/by_group/frac_mixed']!;
      // Played ahead, others take their places.
      if (mode[0]?.startsWith('max_steps') === true) expect(mixed(removed)).toBeGreaterThan(mixed(kept));
      else expect(furthest(weights(kept), weights(removed))).toBeLessThan(1e-6);
    },
  );
});

describe('settings of memrl rl', () => {
  const read = (...argv: string[]) => readArguments(rlKeys, argv).config;

  it.each([
    [['dataset_builder.batch_size=12', 'dataset_builder.group_size=8'], { groups_per_batch: 12, group_size: 8 }],
    [['dataset_builder=tinker_cookbook.recipes.math_rl.math_env:Gsm8kDatasetBuilder'], { environment: 'gsm8k' }],
    [['env=arithmetic', 'dataset_builder.max=9'], { environment: 'arithmetic', environment_params: '{"max":9}' }],
    [
      ['environment.max=9', 'environment.include_fewshot=False'],
      { environment_params: '{"max":9,"include_fewshot":false}' },
    ],
    [['environment_params={max: 3}', 'environment.max=4'], { environment_params: '{"max":4}' }],
    [
      ['stream_minibatch_config=StreamMinibatchConfig', 'stream_minibatch_config.num_minibatches=2'],
      { stream_minibatch_config: 'StreamMinibatchConfig', num_minibatches: 2 },
    ],
    [
      ['async_config.groups_per_batch=64', 'async_config.max_steps_off_policy=3'],
      { groups_per_batch: 64, max_steps_off_policy: 3 },
    ],
    [['...groups_per_batch=8', '...num_minibatches=2'], { groups_per_batch: 8, num_minibatches: 2 }],
    [['async_config=None', 'max_steps_off_policy=None', 'num_substeps=1', 'num_substeps=4'], { num_substeps: 4 }],
    [['loss_fn_config.clip_low_threshold=0.9', 'loss_fn=ppo'], { clip_low_threshold: 0.9 }],
  ])('are parsed as by chz: %j', (argv, expected) => expect(read(...argv)).toMatchObject(expected));

  it.each([
    [['async_config=StreamMinibatchConfig'], 'async_config=StreamMinibatchConfig is not a value'],
    [['stream_minibatch_config.num_minibatch=2'], 'no key `stream_minibatch_config.num_minibatch`'],
    [['group_size=1'], 'group_size=1 is not a value'],
    [['environment_params=3', 'environment.max=9'], '3 is not an object'],
  ])('are refused when they are invalid: %j', (argv, problem) => expect(() => read(...argv)).toThrow(problem));

  it.each([
    [['num_substeps=2', 'num_minibatches=3', 'groups_per_batch=8'], 'cannot be cut into 2 substeps of 3'],
    [['num_substeps=4', 'groups_per_batch=5'], 'A batch of 5 groups cannot be cut into 4 equal substeps'],
    [['async_config=AsyncConfig'], 'AsyncConfig is given without the value'],
    [['stream_minibatch_config=StreamMinibatchConfig'], 'StreamMinibatchConfig is given without the value'],
    [['environment=arithmetic', 'environment.mx=9'], 'has no parameter `mx`'],
    [['engine=tinker'], 'needs a service'],
  ])('are refused when they exclude each other: %j', async (argv, problem) => {
    await expect(rlIn(tempDirectory(), argv)).rejects.toThrow(problem);
  });
});
