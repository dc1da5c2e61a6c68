import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readArguments } from '../../../src/lab/config/arguments.js';
import type { Keys } from '../../../src/lab/config/key.js';
import { numericalSuffix } from '../../../src/lab/environments/word-problems/gsm8k.js';
import { arithmetic, arithmeticKeys } from '../../../src/lab/recipes/arithmetic.js';
import { rlBasicKeys } from '../../../src/lab/recipes/rl-basic.js';
import { rlLoop, rlLoopKeys } from '../../../src/lab/recipes/rl-loop.js';
import { slLoop, slLoopKeys } from '../../../src/lab/recipes/sl-loop.js';
import type { ProcessContext } from '../../../src/lab/run/process-context.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { openRun, type Ending } from '../../../src/lab/run/runner.js';
import { removeFolder } from '../../remove-folder.js';
import { resultsIn, rlIn, rowsIn, testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';
import { runningService, type RunningService } from '../tinker/running-service.js';

const home = mkdtempSync(join(tmpdir(), 'memrl-recipes-'));
const [conversations, problems, base] = ['conversations.jsonl', 'problems.jsonl', 'base'].map((name) =>
  join(home, name),
);
const small = ['model_name=micro', 'engine=wasm', 'threads=1', 'lora_rank=0', 'log_every=1', 'save_every=0'];
const questions = ['3+4?', '9-2?', '5+2?', '8-1?'];

let service: RunningService;
beforeAll(async () => {
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const said = (question: string, index: number) => [
    { role: 'user', content: question + numericalSuffix },
    // Half of the answers are wrong, so that there is something to learn from rewards.
    { role: 'assistant', content: `\\boxed{${index < 4 ? 7 : 5}}` },
  ];
  writeFileSync(
    conversations!,
    lines([...questions, ...questions].map((question, at) => ({ messages: said(question, at) }))),
  );
  writeFileSync(problems!, lines(questions.map((question) => ({ question, answer: '#### 7' }))));
  service = await runningService(home);
  await sl(base!, [...small, 'num_epochs=60', 'learning_rate=0.02', 'save_every=0']);
});
afterAll(async () => {
  await service.close();
  removeFolder(home);
});

/** One attempt at a run of a recipe. */
function recipe<C>(keys: Keys, run: (config: C, run: ReturnType<typeof openRun>) => Promise<Ending>, usual: string[]) {
  return (path: string, argv: readonly string[], world: ProcessContext = testWorld()) =>
    run(readArguments(keys, [...usual, ...argv]).config as C, openRun(openRunDirectory(path), world));
}
const sl = recipe(slLoopKeys, slLoop, [`path=${conversations}`, 'batch_size=4']);
const rl = recipe(rlLoopKeys, rlLoop, [`path=${problems}`, 'batch_size=2', 'group_size=8', 'max_tokens=12']);

it('sl_loop trains on the assistant’s messages alone, with the learning-rate schedule', async () => {
  const rows = rowsIn(base!);
  expect(rows).toHaveLength(121);
  expect(rows[0]!['train_mean_nll']).toBeGreaterThan(3);
  // Two answers to each question are equally likely, and what ends them is certain.
  expect(rows[119]!['train_mean_nll']).toBeLessThan(0.3);
  expect(rows[60]!['learning_rate']).toBeCloseTo(0.01, 12);
  const said = '\\boxed{7}'.length + ' \n\nUser:'.length;
  expect(rows[0]).toMatchObject({ num_sequences: 4, num_loss_tokens: 4 * said, epoch: 0 });
  const cut = tempDirectory();
  await sl(cut, [...small, 'num_epochs=1', 'max_length=90']);
  expect(rowsIn(cut)[0]!['num_loss_tokens']).toBeLessThan(4 * said);
});

it('rl_loop learns the right answer from rewards', async () => {
  const directory = tempDirectory();
  await rl(directory, [...small, `load_checkpoint_path=${base}`, 'num_epochs=20', 'learning_rate=0.002']);
  const rewards = rowsIn(directory).flatMap((row) => row['reward/total'] ?? []);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(rewards).toHaveLength(40);
  expect(mean(rewards.slice(0, 4))).toBeLessThan(0.8);
  expect(mean(rewards.slice(-8))).toBeGreaterThan(0.9);
});

it('rl_loop and sl_loop refuse fewer examples than a batch', async () => {
  const words = 'has 4 examples, less than one batch of 5';
  await expect(rl(tempDirectory(), [...small, 'batch_size=5'])).rejects.toThrow(words);
  await expect(sl(tempDirectory(), [...small, 'batch_size=9'])).rejects.toThrow('8 examples, less than one batch of 9');
});

it('rl_loop and sl_loop, interrupted and resumed, end with the same files', async () => {
  for (const [attempt, argv] of [
    [sl, [...small, 'num_epochs=3']],
    [rl, [...small, `load_checkpoint_path=${base}`, 'num_epochs=3', 'learning_rate=0.002']],
  ] as const) {
    const [whole, broken] = [tempDirectory(), tempDirectory()];
    await attempt(whole, argv);
    for (const steps of [1, 3])
      expect(await attempt(broken, argv, testWorld(steps))).toMatchObject({ kind: 'stopped' });
    await attempt(broken, argv);
    expect(resultsIn(broken)).toEqual(resultsIn(whole));
  }
});

it(
  'rl_loop and sl_loop learn the same on a service of Tinker’s protocol as in this process',
  { tags: ['long'] },
  async () => {
    const world = { ...testWorld(), environment: { TINKER_API_KEY: 'tml-test' } };
    const remote = ['engine=tinker', `base_url=${service.url}`, 'model_name=memrl/tiny', 'lora_rank=4', 'log_every=1'];
    const local = [`model_name=${home}/models/memrl-tiny`, 'engine=wasm', 'threads=1', 'lora_rank=4'];
    for (const attempt of [sl, rl]) {
      const [there, here] = [tempDirectory(), tempDirectory()];
      await attempt(there, [...remote, 'num_epochs=1'], world);
      await attempt(here, [...local, 'num_epochs=1']);
      const name = attempt === sl ? 'train_mean_nll' : 'reward/total';
      expect(rowsIn(there)[0]![name]).toBeCloseTo(rowsIn(here)[0]![name]!, 4);
    }
  },
);

it('rl_basic has tinker-cookbook’s settings, and asks for GSM8K when no data is given', async () => {
  const { config } = readArguments(rlBasicKeys, []);
  expect(config).toMatchObject({ environment: 'gsm8k', groups_per_batch: 128, group_size: 16, learning_rate: 4e-5 });
  expect(config).toMatchObject({ max_tokens: 256, eval_every: 0, loss_fn: 'importance_sampling', num_substeps: 1 });
  await expect(rlIn(tempDirectory(), ['environment=gsm8k'])).rejects.toThrow('needs the parameter `path`');
});

it('arithmetic first trains a new model on examples, once, and continues from rewards', async () => {
  const directory = tempDirectory();
  const attempt = recipe(arithmeticKeys, arithmetic, ['engine=wasm', 'threads=1', 'warmup_examples=128']);
  const argv = ['groups_per_batch=2', 'group_size=2', 'n_batches=2', 'eval_every=0', 'num_groups_to_log=0'];
  await attempt(directory, argv);
  expect(rowsIn(join(directory, 'base'))).toHaveLength(3);
  expect(rowsIn(directory)).toHaveLength(3);
  const lines = testWorld();
  await attempt(directory, argv, lines);
  expect(lines.lines.filter((line) => line.includes('already complete'))).toHaveLength(2);
});
