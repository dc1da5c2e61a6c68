/** Commands of the source systems' pages, typed as they stand there: what is asked is what a reader was promised, that something is learnt. */
import { existsSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { tiered } from '../tiers.js';
import { removeFolder } from '../remove-folder.js';
import { findModel, readMerged } from '../../src/lab/run/model-files.js';
import { bundledProgram, memrl } from './program.js';
import { typedLine } from './typed-pages.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-typed-'));

/** Runs a line to its end. @returns what it said, and the directory of its run. */
async function typed(page: string, beginning: string) {
  const { code, stdout, stderr } = await memrl(typedLine(page, beginning));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return { stdout, run: /^log: (.*)$/m.exec(stdout)?.[1] ?? '' };
}

function lastRow(run: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(run, 'metrics.jsonl'), 'utf8').trimEnd().split('\n').at(-1)!) as Record<
    string,
    unknown
  >;
}

beforeAll(() => {
  vi.stubEnv('TMPDIR', root);
  vi.stubEnv('XDG_CACHE_HOME', join(root, 'cache'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  removeFolder(root);
});

describe('command lines of memory-rl', () => {
  const trainings = [
    { told: 'right or wrong', typed: 'env_type=single_step N=64 reward_type=binary', warmup: 'SINGLE_STEP' },
    { told: 'eight levels', typed: 'env_type=single_step N=64 reward_type=binned', warmup: 'SINGLE_STEP' },
    { told: 'a judgement of each bit', typed: 'env_type=multi_step', warmup: 'MULTI_STEP' },
  ];
  tiered(trainings, 1)('knows the secret at the end: $told', async ({ typed: settings, warmup }) => {
    const { stdout, run } = await typed('memory-rl', `python train.py ${settings}`);
    expect(stdout).toContain(`weights from ${warmup} (101184 parameters`);
    expect(lastRow(run)['test/bits/answer_raw']).toBeGreaterThan(5);
  });

  it('know all bits of a secret after SFT on it', async () => {
    await typed('memory-rl', 'python sft_data_gen.py');
    const { run } = await typed('memory-rl', 'python sft_train.py');
    expect(lastRow(run)['test/bits/answer_raw']).toBeGreaterThan(5.9);
  });
});

describe('memory-rl, a line that leaves a path to the reader', () => {
  it('list the available paths', async () => {
    const { code, stderr } = await memrl(typedLine('memory-rl', 'python train.py load_checkpoint_path='));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/tinker:\/\/YOUR_CHECKPOINT_PATH is not a tinker:\/\/ path of weights[^]*tinker:\/\/MODEL\/weights\/NAME/)]); // prettier-ignore
  });
});

describe('command lines of small-rl', () => {
  it('route gradients of the model that memrl pretrain makes; the first steps', { tags: ['long'] }, async () => {
    const line = typedLine('small-rl', 'python train.py');
    const none = await memrl(line);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('memrl pretrain, which memrl grpo finds')]);
    const base = join(root, 'tinker-examples/memory_rl/pretrain_stories_s42');
    const small = 'model_name=micro vocabulary_size=300 batch_size=4 context=160 eval_every=0 samples=0 n_batches=20';
    expect((await memrl(['pretrain', ...small.split(' '), `log_path=${base}`])).code).toBe(0);
    // Where the manager tells a run to write. Hours of it are left out: a signal comes once there is a row.
    vi.stubEnv('MEMRL_RUN_DIR', join(root, 'routed'));
    const { code, stdout } = await memrl(line, () => existsSync(join(root, 'routed/metrics.jsonl')));
    expect([code, stdout]).toEqual([143, expect.stringContaining(`model=${base}: the run of memrl pretrain`)]);
    expect(stdout).toContain('routing_mode=shared: samples that are not flagged change both adapters');
    expect(lastRow(join(root, 'routed'))).toMatchObject({ reward: expect.any(Number) as number });
    const config = JSON.parse(readFileSync(join(root, 'routed/config.json'), 'utf8')) as unknown;
    expect(config).toMatchObject({ routing_mode: 'shared', lora_config: 'r1', max_steps: 2000 });
  });
});

describe('command lines of RL_Practice, with other paths', () => {
  /** The line with our files in the place of its own. */
  const placed = (beginning: string, places: Readonly<Record<string, string>>) =>
    typedLine('rl-practice', beginning).map((word) => places[word] ?? word);

  it(
    'train with a settings file from a checkpoint, and evaluate a share of the tasks',
    { tags: ['long'] },
    async () => {
      const [config, model, run] = [join(root, 'testconfig.yaml'), join(root, 'sums'), join(root, 'practice')];
      const sums = "environment: arithmetic\nenvironment_params: '{max: 3, include_fewshot: false}'\n";
      writeFileSync(config, `${sums}num_tasks: 16\nbuffer_size: 4\nmicrobatch_size: 2\ntotal_steps: 2\nmax_rounds: 2\neval_every: 0\nlog_path: ${run}\n`); // prettier-ignore
      const taught = 'environment=arithmetic model_name=micro num_examples=64 batch_size=16 num_epochs=10 learning_rate=0.01 eval_n_batches=0'; // prettier-ignore
      const params = 'environment_params={max: 3, include_fewshot: false}';
      expect((await memrl(['sft', ...taught.split(' '), params, `log_path=${model}`])).code).toBe(0);
      const trained = await memrl(placed('torchrun', { 'rl_training/cfg/testconfig.yaml': config, '/path/to/qwen2_5_15_gsm8k_lora/checkpoint-156': model })); // prettier-ignore
      expect(trained).toMatchObject({ code: 0, stderr: '' });
      expect(trained.stdout).toContain(`weights from ${model}`);
      expect(lastRow(run)['step']).toBe(2);
      const { code, stdout, stderr } = await memrl(placed('python rl_training', { 'run_2025-08-19_12-34-56': run }));
      expect({ code, stdout, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('has an unlimited number of them') as string }); // prettier-ignore
      writeFileSync(config, 'buffer_sice: 4\n');
      const wrong = await memrl(['dr-grpo', '--cfg', config]);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/testconfig\.yaml: There is no key `buffer_sice`[^]*Did you mean `buffer_size`/)]); // prettier-ignore
    },
  );
});

describe('the command line of tinker-cookbook’s first recipe', () => {
  it('prints the command to type', async () => {
    const { code, stderr } = await memrl(typedLine('tinker', 'python -m'));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/no model to train[^]*→ Type `memrl rl_basic model_name=/),
    ]);
  });
});

describe('the warm-ups that come with memrl', () => {
  it.each([
    ['single_step', 'SINGLE_STEP'],
    ['multi_step', 'MULTI_STEP'],
  ])('equal the output of `memrl warmup`: %s', { tags: ['long'] }, async (game, name) => {
    const made = join(root, name);
    expect((await memrl(['warmup', `env_type=${game}`, 'engine=wasm', `log_path=${made}`])).code).toBe(0);
    const [shipped, fresh] = await Promise.all([name, made].map((path) => readMerged(findModel(path))));
    expect(shipped!.shape).toEqual(fresh!.shape);
    expect(Buffer.from(shipped!.weights.buffer).equals(Buffer.from(fresh!.weights.buffer))).toBe(true);
  });

  it('open like any other model, by their names', async () => {
    expect((await memrl(['model', 'MULTI_STEP'])).stdout).toContain('101,184');
    const { code, stdout } = await memrl(['eval', 'load_checkpoint_path=SINGLE_STEP', 'N=64', 'episodes=8']);
    expect([code, Math.abs(Number((JSON.parse(stdout) as Record<string, number>)['test/bits/answer_raw'])) < 0.2]).toEqual([0, true]); // prettier-ignore
  });

  it('are not used with random weights, a given checkpoint, or another environment', async () => {
    for (const words of [['load_checkpoint_path=none'], ['environment=arithmetic']]) {
      const { code, stdout } = await memrl(['train', 'n_batches=1', 'test_n_batches=1', ...words]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('random weights')]);
      const [, run] = /^log: (.*)$/m.exec(stdout)!;
      const config = JSON.parse(readFileSync(join(run!, 'config.json'), 'utf8')) as unknown;
      expect(config).toMatchObject({ load_checkpoint_path: null, learning_rate: 4e-5 });
    }
  });

  it(
    'for another model are made once, even by two concurrent runs, and again when damaged',
    { tags: ['long'] },
    async () => {
      const { run } = await bundledProgram();
      const line = ['train', 'model_name=micro', 'N=8', 'n_batches=1', 'test_n_batches=1', 'engine=wasm'];
      const both = await Promise.all(['a', 'b'].map((name) => run([...line, `log_path=${join(root, name)}`])));
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      expect(both.filter(({ stdout }) => stdout.includes('is made once'))).toHaveLength(1);
      const place = join(root, 'cache/memrl/warmups/SINGLE_STEP-micro-N8-decimal');
      expect(existsSync(place)).toBe(true);
      truncateSync(join(place, 'checkpoints/final/model.safetensors'), 100);
      const [again, kept] = [await run([...line, `log_path=${join(root, 'c')}`]), await run([...line, `log_path=${join(root, 'd')}`])]; // prettier-ignore
      expect([again, kept].map(({ code, stdout }) => [code, stdout.includes('is made once')])).toEqual([[0, true], [0, false]]); // prettier-ignore
    },
  );
});
