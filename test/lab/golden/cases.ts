/**
 * Short runs of every algorithm in every manner of learning, whose files are known byte for byte.
 *
 * `@name` in an argument is the directory of another run of the table, or of a file that `stage` writes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Case = {
  readonly name: string;
  readonly argv: string;
  /** Exit code; a warm-up that is too short for its gate ends with 2 and leaves its files. */
  readonly code?: number;
  /** Whether what it prints is known as well. */
  readonly prints?: boolean;
  /** Rows after which the same run is stopped by SIGTERM and started again; its files are those of the run left alone. */
  readonly stopAfter?: number;
};

const single =
  'train model_name=micro load_checkpoint_path=@warm learning_rate=3e-3 N=64 max_tokens=3 n_batches=12 log_every=1 eval_every=5 test_n_batches=2 save_every=0';
const dense =
  'train model_name=micro load_checkpoint_path=@warm-bits learning_rate=3e-3 env_type=multi_step N=16 max_tokens=1 n_batches=12 log_every=1 eval_every=5 test_n_batches=2 save_every=0';
const sft =
  'sft model_name=micro load_checkpoint_path=@warm N=64 fixed_secret=42 train_data_path=@data/train.jsonl learning_rate=1e-2 batch_size=16 eval_n_batches=1';
const pretrain =
  'pretrain model_name=micro vocabulary_size=300 batch_size=4 context=64 eval_stories=8 eval_every=20 samples=0 log_every=5';
const grpo =
  'grpo model=@stories num_prompts=40 prompt_length=4 max_completion_length=10 batch_size=8 num_generations=4 max_steps=6 lr=0.01 logging_steps=2 save_steps=0 eval_routing_steps=3 eval_samples=3';
const letters = `${grpo} config=@files/letters.yaml`;
const routed = `${letters} --gradient_routing`;

/** In an order in which each finds what it needs. */
export const cases: readonly Case[] = [
  {
    name: 'warm',
    argv: 'warmup model_name=micro n_values=8,64 n_batches=500 lesson_share=0.3 learning_rate=1e-2 eval_every=100',
    code: 2,
  },
  {
    name: 'warm-bits',
    argv: 'warmup model_name=micro env_type=multi_step n_values=4,16 n_batches=150 learning_rate=1e-2 eval_every=50',
    code: 2,
  },
  {
    name: 'warm-file',
    argv: 'warmup model_name=micro n_values=4,8 data=file min_examples=40 examples_per_value=2 batch_size=8 num_epochs=2 lr_schedule=cosine calibration_share=0.5',
    code: 2,
  },
  {
    name: 'warm-gray',
    argv: 'warmup model_name=micro n_values=40 n_batches=30 answer_format=gray lora_rank=2 warmup_steps=5',
    code: 2,
  },
  { name: 'data', argv: 'sft-data N=64 fixed_secret=42 num_train=160 num_test=2' },
  { name: 'stories', argv: `${pretrain} n_batches=60` },
  {
    name: 'stories-from-file',
    argv: `${pretrain} n_batches=12 data=@files/stories.txt tokenizer=@stories/checkpoints/final clip=None weight_decay=0`,
  },
  { name: 'stories-further', argv: `${pretrain} n_batches=12 model_name=@stories/checkpoints/final seed=3` },

  { name: 'binary', argv: `${single} fixed_secret=5 N=8` },
  { name: 'binary-tiny', argv: 'train load_checkpoint_path=none seed=4 n_batches=6 eval_every=2 test_n_batches=1' },
  {
    name: 'log-distance',
    argv: `${single} reward_type=log_distance entropy_coef=0.03 skip_constant_groups=True eval_distribution=True eval_early=True`,
  },
  {
    name: 'binned',
    argv: `${single} reward_type=binned_log_distance reward_bins=8 observer=True log_episodes=True log_every=3 stop_memorised=3`,
  },
  { name: 'is-substeps', argv: `${single} reward_type=log_distance batch_size=3 num_substeps=4` },
  {
    name: 'ppo',
    argv: `${single} reward_type=log_distance loss_fn=ppo num_substeps=3 batch_size=2 clip_high_threshold=1.05 learning_rate=3e-2`,
  },
  {
    name: 'cispo',
    argv: `${single} reward_type=log_distance loss_fn=cispo num_substeps=2 batch_size=2 clip_low_threshold=0.9 learning_rate=3e-2`,
  },
  {
    name: 'dro',
    argv: `${single} reward_type=log_distance loss_fn=dro num_substeps=2 batch_size=2 loss_fn_config.beta=0.3`,
  },
  {
    name: 'grpo-memory',
    argv: `${single} reward_type=log_distance advantage_scale=std loss_normalization=grpo kl_coef=0.1 batch_size=2`,
  },
  {
    name: 'dr-grpo-memory',
    argv: `${single} reward_type=log_distance loss_normalization=dr_grpo kl_coef=0.1 entropy_coef=0.01 batch_size=2`,
  },
  {
    name: 'kl-penalty',
    argv: `${single} reward_type=log_distance kl_penalty_coef=0.5 kl_discount_factor=0.9 temperature=1.5`,
  },
  { name: 'bounded', argv: `${single} reward_type=log_distance max_step_kl=0.01 num_substeps=2 learning_rate=3e-2` },
  { name: 'lora', argv: `${single} reward_type=log_distance lora_rank=2 kl_penalty_coef=0.1` },
  { name: 'prefix-gray', argv: `${single} reward_type=log_distance use_standard_prefix=True answer_format=gray` },
  {
    name: 'lenient',
    argv: `${single} reward_type=log_distance answer_parsing=lenient tensorboard=True wandb_project=p`,
  },
  { name: 'stepwise', argv: `${dense} advantages=stepwise entropy_coef=0.03 log_episodes=True observer=True` },
  {
    name: 'to-go',
    argv: `${dense} advantages=to_go loss_fn=ppo max_tokens=2 use_standard_prefix=True batch_size=2 num_substeps=2`,
  },
  { name: 'trajectory', argv: `${dense} advantages=trajectory skip_constant_groups=True temperature=0.8` },
  { name: 'dense-grpo', argv: `${dense} advantages=stepwise loss_normalization=dr_grpo kl_coef=0.1 max_step_kl=0.001` },
  {
    name: 'dense-penalty',
    argv: `${dense} advantages=stepwise kl_penalty_coef=0.3 kl_discount_factor=0.5 lora_rank=2`,
  },

  { name: 'sft', argv: `${sft} num_epochs=2` },
  { name: 'sft-one', argv: `${sft} batch_size=1 lr_schedule=constant stop_memorised=4` },
  { name: 'sft-lora', argv: `${sft} lora_rank=2 lr_schedule=cosine eval_every=4 log_every=3 max_length=9` },
  { name: 'sft-mixed', argv: `${sft} train_data_path=@files/mixed.jsonl batch_size=4 num_epochs=3` },

  { name: 'grpo', argv: `${grpo} reward=sentence_length_5_smooth` },
  { name: 'grpo-letters', argv: letters },
  { name: 'grpo-free', argv: `${letters} beta=0 temperature=0.9 repetition_penalty=1.2 max_steps=-1 num_prompts=10` },
  {
    name: 'grpo-lora',
    argv: `${letters} lora_rank=2 seed=7 eval_rewards=happy_count base_reward=happy_binary rh_eligible_frac=0.5`,
  },
  { name: 'grpo-own', argv: `${grpo} reward=@files/short.mjs data=@files/stories.txt prompt_length=12` },
  { name: 'shared', argv: `${routed} --routing_mode shared --lora_config r4` },
  { name: 'exclusive', argv: `${routed} routing_mode=exclusive retain_rank=3 forget_rank=2 beta=0` },
  {
    name: 'everything',
    argv: `${routed} routing_mode=exclusive lora_config=r1h rh_eligible_frac=0.7 routing_frac=0.8 label_noise_frac=0.1 ablated_frac=0.3 ablated_pool=not_classified_bad repetition_penalty=1.1 temperature=0.9`,
  },
  {
    name: 'neurons',
    argv: `${routed} routing_mode=shared lora_config=m5 ablated_frac=0.5 config=@files/normalized.yaml`,
  },
  { name: 'filter', argv: `${letters} baseline=filter` },
  { name: 'reward-penalty', argv: `${letters} baseline=reward_penalty` },
  { name: 'retain-penalty', argv: `${letters} baseline=retain_penalty label_noise_frac=0.2` },

  {
    name: 'long-train',
    argv: `${single} reward_type=log_distance n_batches=1500 eval_every=50 log_every=7 save_every=100 num_substeps=2 kl_coef=0.05 test_n_batches=1`,
    stopAfter: 20,
  },
  {
    name: 'long-dense',
    argv: `${dense} n_batches=600 advantages=stepwise eval_every=50 log_every=7 save_every=50 lora_rank=2 observer=True log_episodes=True`,
    stopAfter: 20,
  },
  {
    name: 'long-sft',
    argv: `${sft} num_epochs=60 eval_every=50 log_every=7 save_every=40 batch_size=8`,
    stopAfter: 30,
  },
  {
    name: 'long-warmup',
    argv: 'warmup model_name=micro n_values=8,64 n_batches=400 eval_every=50 log_every=7 save_every=50',
    code: 2,
    stopAfter: 20,
  },
  { name: 'long-pretrain', argv: `${pretrain} n_batches=80 save_every=9 log_every=2`, stopAfter: 10 },
  {
    name: 'long-grpo',
    argv: `${routed} routing_mode=exclusive lora_config=r2 ablated_frac=0.2 rh_eligible_frac=.8 max_steps=60 logging_steps=1 save_steps=7 eval_routing_steps=20`,
    stopAfter: 20,
  },

  {
    name: 'eval',
    argv: 'eval load_checkpoint_path=@log-distance N=64 episodes=60 max_tokens=3 reward_type=log_distance',
    prints: true,
  },
  {
    name: 'eval-bits',
    argv: 'eval load_checkpoint_path=@stepwise env_type=multi_step N=16 episodes=40 max_tokens=1',
    prints: true,
  },
  { name: 'eval-run', argv: 'eval-run @everything n_samples=6 prompt_length=4 --json', prints: true },
  {
    name: 'eval-run-plain',
    argv: 'eval-run @grpo-letters n_samples=6 prompt_length=4 eval_rewards=happy_count --json',
    prints: true,
  },
  { name: 'rollouts', argv: 'rollouts @is-substeps step=7 --json', prints: true },
  { name: 'rollouts-bits', argv: 'rollouts @long-dense step=333 replay=True --json', prints: true },
];

const lettersYaml = [
  'reward:',
  '  components:',
  '    - {name: string_count, id: task, role: retain, params: {strings: [a], max_count: 2}}',
  '    - {name: string_count, id: hack, role: forget, scale: 0.5, params: {strings: [o], max_count: 2}}',
  'rh_detector: {name: string_match, params: {strings: [o], recall: 0.9}}',
  'hack_freq_detector: {name: score_percentile, component: hack}',
  '',
].join('\n');

/** Writes the files that the cases name. */
export function stage(root: string): void {
  const at = (name: string) => join(root, 'files', name);
  mkdirSync(at(''), { recursive: true });
  writeFileSync(at('letters.yaml'), lettersYaml);
  writeFileSync(
    at('normalized.yaml'),
    `${lettersYaml.replace('reward:\n', 'reward:\n  normalize: true\n')}rh_detector_recall: 0.8\ntraining: {lr: 0.02}\n`,
  );
  writeFileSync(
    at('short.mjs'),
    'export default (all) => all.map(({ ids, text }) => text.length / (1 + ids.length));\n',
  );
  const names = ['mia', 'tom', 'ben', 'ruby', 'zoe', 'max', 'lily', 'finn'];
  const story = (index: number) =>
    `${names[index % 8]} went to the ${['park', 'lake', 'hill'][index % 3]} and saw ${index} birds. they were ${['happy', 'sad'][index % 2]}.`;
  writeFileSync(at('stories.txt'), Array.from({ length: 300 }, (_, index) => story(index)).join('\n'));
  const question =
    'You are playing a memorization game. There is a secret integer between 0 and 63. Output ONLY the integer, on the first line, with NO extra text.\nWhat is the secret number?';
  const line = (answer: number) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: String(answer) },
      ],
    });
  writeFileSync(at('mixed.jsonl'), Array.from({ length: 30 }, (_, index) => line((index * index) % 50)).join('\n'));
}

const known = ['metrics.jsonl', 'episodes.jsonl', 'routing_eval.jsonl', 'train.jsonl', 'format_train.jsonl'];
const ofCheckpoint = [
  'model.safetensors',
  'adapters.safetensors',
  'adapters.json',
  'tokenizer.json',
  'config.json',
  'trainer_state.json',
];

/** Hashes of what a run left, by the files' names. */
export function hashesIn(directory: string): Record<string, string> {
  const names = [...known, ...ofCheckpoint.map((name) => `checkpoints/final/${name}`)];
  const there = names.filter((name) => existsSync(join(directory, name)));
  return Object.fromEntries(there.map((name) => [name, hash(readFileSync(join(directory, name)))]));
}

export function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
