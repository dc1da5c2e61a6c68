import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { rl } from '../../../src/lab/algorithms/rl.js';
import { rlKeys } from '../../../src/lab/algorithms/rl-settings.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { openRun } from '../../../src/lab/run/runner.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { runningService, type RunningService } from './running-service.js';

const home = mkdtempSync(join(tmpdir(), 'memrl-rl-'));
/** Rewards that even a model without any training earns now and then. */
const letters = `export default {
  name: 'letters',
  stop: [],
  task: (index) => ({ id: 'task ' + index, prompt: 'Say something' }),
  respond: (_, [turn]) => ({ reward: [...turn.text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 7 }),
};`;
let service: RunningService;
beforeAll(async () => {
  writeFileSync(join(home, 'letters.mjs'), letters);
  service = await runningService(home);
});
afterAll(async () => {
  await service.close();
  removeFolder(home);
});

/** One attempt at a run of the loop. */
async function attempt(directory: string, ...argv: string[]): Promise<void> {
  const { config } = readArguments(rlKeys, [
    ...['groups_per_batch=2', 'group_size=2', 'max_tokens=3', 'learning_rate=0.001', 'lora_rank=2', 'save_every=1'],
    `environment=${home}/letters.mjs`,
    ...argv,
  ]);
  const context = {
    log: () => undefined,
    environment: { CUDA_VISIBLE_DEVICES: '', TINKER_API_KEY: 'tml-very-secret' },
    processes: { own: process.pid, answers: () => true },
    now: () => performance.now(),
    time: () => Date.now(),
    stopAsked: async () => null,
  };
  await rl(config, openRun(openRunDirectory(directory), context));
}

const rows = (directory: string) =>
  readFileSync(join(directory, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number>);
const remote = () => ['engine=tinker', `base_url=${service.url}`, 'model_name=memrl/tiny'];

it('memrl rl gives the same answers and weights over HTTP as in this process', { tags: ['long'] }, async () => {
  const [there, here] = [tempDirectory(), tempDirectory()];
  await attempt(there, ...remote(), 'n_batches=2');
  await attempt(here, `model_name=${home}/models/memrl-tiny`, 'engine=wasm', 'threads=1', 'n_batches=2');
  const [far, near] = [rows(there), rows(here)];
  expect(far[0]).toMatchObject({ 'env/all/total_episodes': 4 });
  expect(far[0]!['optim/kl_sample_train_v1']).toBeCloseTo(0, 5);
  // The head has no LoRA in this process, so that only the first step, before anything is learnt, has the same answers.
  expect(far[0]!['optim/entropy']).toBeCloseTo(near[0]!['optim/entropy']!, 4);
  expect(far[0]!['env/all/reward/total']).toBe(near[0]!['env/all/reward/total']);
});

it(
  'memrl rl resumes from a checkpoint on the service as if uninterrupted, and writes the key to no file',
  { tags: ['long'] },
  async () => {
    const [whole, resumed] = [tempDirectory(), tempDirectory()];
    await attempt(whole, ...remote(), 'n_batches=4');
    await attempt(resumed, ...remote(), 'n_batches=2');
    const copy = join(tempDirectory(), 'run');
    cpSync(resumed, copy, { recursive: true });
    await attempt(copy, ...remote(), 'n_batches=4');
    const learnt = (directory: string): Record<string, number>[] =>
      rows(directory).map((row) => ({ ...row, 'progress/done_frac': 0 }));
    expect(learnt(copy).slice(2, 4)).toEqual(learnt(whole).slice(2, 4));
    expect(learnt(whole)[3]!['optim/entropy']).not.toBe(learnt(whole)[0]!['optim/entropy']);
    for (const file of ['metrics.jsonl', 'checkpoints.jsonl', 'checkpoints/final/tinker.json']) {
      expect(readFileSync(join(copy, file), 'utf8')).not.toContain('very-secret');
    }
  },
);

it('memrl rl with stream minibatches has the gradients of the synchronous mode', async () => {
  const [whole, streamed] = [tempDirectory(), tempDirectory()];
  const argv = [...remote(), 'groups_per_batch=8', 'num_substeps=2', 'loss_fn=ppo', 'n_batches=3', 'eval_every=0'];
  await attempt(whole, ...argv);
  await attempt(streamed, ...argv, 'num_minibatches=2');
  rows(streamed).forEach((row, step) => {
    for (const name of ['env/all/reward/total', 'optim/entropy', 'optim/kl_sample_train_v2']) {
      if (name in row) expect(row[name], name).toBeCloseTo(rows(whole)[step]![name]!, 4);
    }
  });
  expect(rows(whole)[2]!['optim/kl_sample_train_v2']).toBeGreaterThan(1e-6);
});

it('memrl rl in the asynchronous mode trains on no stale group, and keeps its KL term to the initial model', async () => {
  const directory = tempDirectory();
  const modes = ['max_steps_off_policy=2', 'num_minibatches=2', 'kl_penalty_coef=0.1', 'compute_post_kl=True'];
  await attempt(directory, ...remote(), 'n_batches=6', 'eval_every=2', 'eval_groups=3', ...modes);
  const found = rows(directory);
  for (const [step, row] of found.slice(0, 6).entries()) {
    expect(step - row['sampling_client/step_min']!).toBeLessThanOrEqual(2);
    expect(row).toMatchObject({ 'env/all/total_episodes': 4, 'training_client/step': step });
    for (const name of ['kl_policy_base', 'kl_pre_post_v2', 'optim/kl_sample_train_v2'])
      expect(row).toHaveProperty([name]);
  }
  expect(found.map((row) => 'test/env/all/reward/total' in row)).toEqual([true, false, true, false, true, false, true]);
});
