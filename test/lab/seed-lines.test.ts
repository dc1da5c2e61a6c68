import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpoKeys, grpoSettings, runName } from '../../src/lab/algorithms/grpo-settings.js';
import { readArguments } from '../../src/lab/config/arguments.js';
import { extract } from '../../src/lab/engine/checkpoint.js';
import { adapterLayout } from '../../src/lab/engine/adapters/layout.js';
import { readAdapterConfig } from '../../src/lab/engine/adapters/config.js';
import { readSafetensors, writeSafetensors, type StoredTensor } from '../../src/lab/engine/safetensors.js';
import { readModel } from '../../src/lab/run/model-files.js';
import { removeFolder } from '../remove-folder.js';
import { memrl } from './program.js';

const root = mkdtempSync(join(tmpdir(), 'memrl-seed-lines-'));
const at = (...names: string[]) => join(root, ...names);

/** Runs a line of the source systems, less the program's name. */
async function typed(line: string, code = 0) {
  const words = [...line.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''));
  const ended = await memrl(words);
  expect({ code: ended.code, stderr: code === 0 ? ended.stderr : '' }).toEqual({ code, stderr: '' });
  return ended;
}

const rowsOf = (run: string, file = 'metrics.jsonl') =>
  readFileSync(join(run, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const stories = Array.from(
  { length: 300 },
  (_, index) =>
    `${['mia', 'tom', 'ben'][index % 3]} went to the ${['park', 'lake'][index % 2]} and saw ${index} birds.`,
);
const small = 'prompt_length=4 max_completion_length=8 num_prompts=16 eval_routing_steps=0 logging_steps=1 engine=wasm';

beforeAll(async () => {
  parquetWriteFile({
    filename: at('stories.parquet'),
    columnData: [
      { name: 'topic', data: stories.map(() => 'birds'), type: 'STRING' },
      { name: 'story', data: stories, type: 'STRING' },
    ],
  });
  await typed(
    `pretrain model_name=micro vocabulary_size=300 batch_size=4 context=64 eval_stories=8 eval_every=0 samples=0 n_batches=30 data=${at('stories.parquet')} log_path=${at('base')} engine=wasm`,
  );
}, 60_000);
afterAll(() => removeFolder(root));

describe('command lines of memory-rl', () => {
  const tiny = `n_batches=2 test_n_batches=1 model_name=micro load_checkpoint_path=none engine=wasm`;
  it('warm up for a tuple of sizes, and continue from the path in the checkpoint row', async () => {
    await typed(`warmup n_values="(64, 256, 1024)" preview_samples=True n_batches=5 model_name=micro engine=wasm log_path=${at('warm')}`, 2); // prettier-ignore
    const row = rowsOf(at('warm'), 'checkpoints.jsonl').at(-1)!;
    expect([isAbsolute(String(row['state_path'])), row['sampler_path']]).toEqual([true, row['state_path']]);
    await typed(`train ${tiny} load_checkpoint_path="${String(row['state_path'])}" N=64 log_path=${at('from-warm')}`);
  });

  it('find the checkpoints of a moved run, and not those of the run that it was copied from', async () => {
    const line = `train env_type=single_step N=64 reward_type=binary ${tiny}`;
    await typed(`${line} log_path=${at('train')}`);
    cpSync(at('train'), at('moved'), { recursive: true });
    const longer = `${line} n_batches=4 log_path=`;
    rmSync(at('train', 'checkpoints'), { recursive: true });
    const { stdout } = await typed(`${longer}${at('moved')}`);
    expect(stdout).toContain(`continues at step 2 from ${at('moved')}`);
  });

  it('measure how far a batch moved the policy, on request', async () => {
    await typed(`train environment=arithmetic entropy_coef=0.5 compute_post_kl=True learning_rate=1e-2 ${tiny} n_batches=4 log_path=${at('post')}`); // prettier-ignore
    const values = rowsOf(at('post')).flatMap((row) =>
      'kl_pre_post_v2' in row ? [Number(row['kl_pre_post_v2'])] : [],
    );
    expect(values.some((value) => value > 0)).toBe(true);
  });

  it('write times into the metrics, on request', async () => {
    await typed(`train N=16 log_times=True ${tiny} log_path=${at('times')}`);
    expect(rowsOf(at('times'))[0]).toHaveProperty('time/train');
  });
});

describe('command lines of small-rl', () => {
  it('start a run of a sweep with flags and a named directory, and log clip ratios like TRL', async () => {
    await typed(`grpo --model ${at('base')} --reward sentence_length_5 --seed 42 --beta 0.01 --lr 1e-5 --batch_size 32 --num_generations 16 --max_steps 2 --output_dir ${at('sweep')} --run_name sentence_length_5_b0.01_s42 --wandb_project small-rl ${small}`); // prettier-ignore
    const [row] = rowsOf(at('sweep'));
    expect(row).toMatchObject({ 'clip_ratio/low_mean': 0, 'clip_ratio/high_max': 0, 'clip_ratio/region_mean': 0 });
    const [folder] = readdirSync(at('sweep', 'wandb'));
    const [log] = readdirSync(at('sweep', 'wandb', folder!)).filter((name) => name.endsWith('.wandb'));
    expect(readFileSync(at('sweep', 'wandb', folder!, log!), 'latin1')).toMatch(/sample_text[^]{1,8}"<pre>/);
  });

  it('evaluate each adapter, and the checkpoint of a step by transformers’ name, with or without its preset', async () => {
    await typed(`grpo --model ${at('base')} --reward sentence_length_5_with_happy --gradient_routing --lora_config r1 --eval_rewards sentence_length_5,happy_count --max_steps 2 --output_dir ${at('routed')} ${small} save_steps=1`); // prettier-ignore
    await typed(`eval-run --model_path ${at('routed')}/checkpoint-1 --output_dir ${at('evaluated')} --n_samples 4 --engine wasm`); // prettier-ignore
    const report = JSON.parse(readFileSync(at('evaluated', 'eval_run.json'), 'utf8')) as Record<string, object>;
    expect(report['model']).toMatchObject({ step: 1, run: at('routed') });
    expect(Object.keys(report['modes']!)).toEqual(['both', 'retain_only', 'forget_only']);
    await typed(`eval-run --model_path ${at('routed')}/checkpoint-2 --lora_config r1 --no_routing_eval --n_samples 4 --out ${at('whole.json')} --engine wasm`); // prettier-ignore
    const whole = JSON.parse(readFileSync(at('whole.json'), 'utf8')) as Record<string, object>;
    expect(Object.keys(whole['modes']!)).toEqual(['both']);
    const { stderr } = await typed(`eval-run --model_path ${at('routed')} --lora_config r4 --engine wasm`, 2);
    expect(stderr).toContain('lora_config=r4 is retain rank 4 alpha 4, forget rank 4 alpha 4, and the checkpoint has');
  });

  it('read checkpoints of small-rl itself (base_layer, lora_A_good); alpha is given or its default, with a note', async () => {
    smallRlCheckpoint(at('routed', 'checkpoints', 'final'), at('theirs'));
    const asked =
      '--eval_rewards sentence_length_5_with_happy,sentence_length_5,happy_count --n_samples 4 --max_completion_length 8 --engine wasm';
    const { stdout } = await typed(`eval-run --model_path ${at('theirs')} ${asked} out=${at('standard.json')}`);
    expect(stdout).toContain('lora_alpha=16, stride 1: the checkpoint does not record its alpha');
    await typed(`eval-run --model_path ${at('theirs')} --lora_config r1 ${asked} out=${at('theirs.json')}`);
    await typed(`eval-run --model_path ${at('routed')} ${asked} out=${at('ours.json')} temperature=1`);
    const modes = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { modes: Record<string, { samples: unknown }> }).modes; // prettier-ignore
    expect(Object.keys(modes(at('theirs.json')))).toEqual(['both', 'retain_only', 'forget_only']);
    const ours = readModel(at('routed', 'checkpoints', 'final'));
    const theirs = readModel(at('theirs'), { alpha: 1 });
    expect(theirs.weights).toEqual(ours.weights);
    expect(theirs.adapters!.parameters).toEqual(ours.adapters!.parameters);
  });

  it('create the run where the manager looks for it, under a name with the settings that matter', async () => {
    process.env['MEMRL_RUN_DIR'] = at('managed');
    try {
      await typed(`grpo --model ${at('base')} --reward happy_binary --lr 1e-5 --max_steps 1 ${small}`);
    } finally {
      delete process.env['MEMRL_RUN_DIR'];
    }
    expect(existsSync(at('managed', 'checkpoints', 'final'))).toBe(true);
    const line = 'model=x reward=sentence_length_10_smooth lora_rank=1 beta=0.02 lr=3e-4 seed=42 temperature=0.9';
    const { config, experiment } = grpoSettings(readArguments(grpoKeys, line.split(' ')));
    const name = 'sentence_length_10_smooth_temperature0.9_batch_size32_beta0.02_lora_rank1_lr0.0003_s42';
    expect([...runName(config, experiment).split(/_(?=[a-z])/)].sort()).toEqual(name.split(/_(?=[a-z])/).sort());
  });
});

/** The same model in small-rl's words. */
function smallRlCheckpoint(from: string, target: string): void {
  mkdirSync(target);
  for (const name of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'])
    if (existsSync(join(from, name))) cpSync(join(from, name), join(target, name));
  const { shape, adapters } = readModel(from);
  const config = readAdapterConfig(adapters!.config, from);
  const path = join(from, 'model.safetensors');
  const frozen = readSafetensors(readFileSync(path), path).tensors;
  const tensors = new Map<string, StoredTensor>();
  for (const [name, tensor] of frozen) {
    if (name.startsWith('adam.')) continue;
    tensors.set(name.replace(/\.(\w+_proj)\.weight$/, '.$1.base_layer.weight'), tensor);
  }
  for (const part of adapterLayout(shape, config).tensors) {
    const name = part.name.replace(/lora_([AB])\.(retain|forget)$/, (_, side: string, which: string) => `lora_${side}_${which === 'retain' ? 'good' : 'bad'}`); // prettier-ignore
    tensors.set(name, extract(part, adapters!.parameters));
  }
  writeFileSync(join(target, 'model.safetensors'), writeSafetensors({ tensors, metadata: { format: 'pt' } }));
}
