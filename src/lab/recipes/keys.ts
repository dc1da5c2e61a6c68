import { inertKey, key, within } from '../config/key.js';
import { bool, float, int, ints, oneOf, orNone, text } from '../config/value-type.js';
import { answerFormats } from '../environments/memory/answer-format.js';
import { credits, scales } from '../credit.js';
import { rewardTypes } from '../environments/memory/rewards.js';
import { engineChoices } from '../engine/choose-engine.js';
import { lossFns } from '../objectives/loss-fn.js';
import { schedules } from '../update/learning-rate.js';
import { normalizations } from '../objectives/normalization.js';

const envType = key(oneOf(['single_step', 'multi_step']), 'single_step', 'one number at once, or its bits one by one');
const logPath = key(
  orNone(text),
  null,
  'run directory; an existing run there is continued. None: one in the temp folder',
);
const engine = key(
  oneOf(engineChoices),
  'auto',
  'what computes: our kernels (wasm; wasm-relaxed fuses products, so each processor has its own bits), TensorFlow.js (tfjs); auto: TensorFlow.js where it has a GPU, else wasm',
);
const threads = key(
  orNone(int(1, 64)),
  null,
  'threads of our kernels, which change no bit; None: OMP_NUM_THREADS, else one per core, at most 8; one for a model below 500,000 parameters',
);
const modelName = key(
  text,
  'tiny',
  'shape of a new model: tiny, micro, stories or simplestories-1.25M, or a directory with a LLaMA model of Hugging Face; other names mean tiny',
);
const loadPath = key(
  orNone(text),
  null,
  'initial weights: a run directory, a checkpoint, or a directory of Hugging Face. None: random',
);
const seed = key(int(0), 0, 'seed of sampling, shuffling and initial weights');
const N = key(int(1), 16, 'the secret is in [0, N)');
const testBits = key(bool, true, 'measure bits known at each evaluation');
const stopMemorised = key(
  orNone(int(1)),
  null,
  'ends the run when so many evaluations in a row found 95 % of the bits known; None: never',
);
const keep = key(orNone(int(1)), null, 'how many checkpoints to keep; None: all');

const tensorboard = key(bool, false, 'write the metrics for TensorBoard, too: an events file in the run directory');

const wandb = {
  wandb_project: key(
    orNone(text),
    null,
    'write the metrics for W&B, too: files in the run directory that its client sends off (wandb sync); None: none',
  ),
  wandb_name: key(orNone(text), null, 'what the run is called there; None: as its directory'),
};

/** What does not change what is learnt. */
export const runKeys = { engine, threads, keep_checkpoints: keep, tensorboard, ...wandb };

const foreign = {
  ...wandb,
  renderer_name: inertKey(orNone(text), null, 'the format is always role_colon'),
  base_url: inertKey(orNone(text), null, 'the model is trained in this process'),
  behavior_if_log_dir_exists: inertKey(text, 'resume', 'an existing run is always continued'),
};
const lora = {
  lora_rank: key(
    int(0),
    0,
    'rank of LoRA on the seven projections of each layer: it alone is trained, fresh, on weights that stay. 0: all weights are trained',
  ),
  lora_alpha: key(
    float(0),
    32,
    "LoRA's output is multiplied by alpha/rank; 32 at every rank, as where the source system trains",
  ),
};

const answers = {
  answer_format: key(
    oneOf(answerFormats),
    'decimal',
    'how a number is written: as usual, with zeros up to the width of N-1, or so and in Gray code, without carries',
  ),
};
const parsing = {
  answer_parsing: key(oneOf(['strict', 'lenient']), 'strict', 'lenient: the first number among other words counts'),
};

const reward = {
  reward_type: key(oneOf(rewardTypes), 'binary', 'reward of a guess (single_step)'),
  reward_bins: key(orNone(int()), null, 'levels of binned_log_distance, at least 2'),
};

/** `memrl train`: policy gradient on a memory game. Defaults are the source system's. */
export const trainKeys = {
  env_type: envType,
  ...within('dataset_builder', {
    N,
    ...reward,
    fixed_secret: key(orNone(int(0)), null, 'the secret; None draws it from dataset_seed as NumPy would'),
  }),
  ...answers,
  ...parsing,
  dataset_seed: key(int(0, 2 ** 32 - 1), 0, 'draws the secret when fixed_secret is None'),
  use_standard_prefix: key(bool, false, 'show one demonstration of the format before the question'),
  load_checkpoint_path: loadPath,
  stop_memorised: stopMemorised,
  ...within('dataset_builder', {
    batch_size: key(int(1), 1, 'groups per step'),
    group_size: key(int(1), 4, 'episodes per group, at least 2'),
    n_batches: key(int(0), 1000, 'steps; more than a finished run had continues it'),
  }),
  learning_rate: key(float(0), 4e-5, 'learning rate of Adam (betas 0.9, 0.95), constant'),
  loss_fn: key(oneOf(lossFns), 'importance_sampling', 'loss per token'),
  ...within('loss_fn_config', {
    clip_low_threshold: key(orNone(float(0)), null, 'lower bound of the ratio; None: 0.8 for ppo, 0 for cispo'),
    clip_high_threshold: key(orNone(float(0)), null, 'upper bound of the ratio; None: 1.2 for ppo, 4 for cispo'),
    beta: key(float(0), 0.05, 'pull towards the sampler (dro)'),
  }),
  advantages: key(
    oneOf(credits),
    'trajectory',
    'credit of a turn: the whole episode, its own reward, or those to come',
  ),
  advantage_scale: key(oneOf(scales), 'none', 'std divides advantages by the standard deviation of their group (GRPO)'),
  loss_normalization: key(
    oneOf(normalizations),
    'sum',
    'sum of the losses of all tokens; grpo: mean over sequences of their token means; dr_grpo: by the longest answer of a group',
  ),
  kl_coef: key(float(0), 0, 'pull of each generated token towards the model the run began with (k3), per nat; 0: none'),
  kl_penalty_coef: key(
    float(0),
    0,
    'what a nat less likely to the model the run began with than the mean token of the batch costs a token’s advantage; 0: nothing',
  ),
  kl_discount_factor: key(float(0), 0, 'discount of the penalties of later tokens; 0: each token has its own alone'),
  entropy_coef: key(float(0), 0, 'bonus per nat of entropy of each generated token, in steps that update'),
  skip_constant_groups: key(
    bool,
    false,
    'groups whose rewards are all equal train nothing; a step of only such groups is no Adam step',
  ),
  num_substeps: key(int(1), 1, 'Adam steps per batch, each on a part of its episodes'),
  max_step_kl: key(
    orNone(float(0)),
    null,
    'an update that moves the policy further on its own episodes (nats per episode) is halved until it does not; None: no bound',
  ),
  temperature: key(float(0.01), 1, 'softmax temperature of the policy that plays and is trained'),
  max_tokens: key(int(1), 8, 'maximum tokens of an answer, per turn'),
  eval_every: key(int(0), 10, 'steps between evaluations, 0 for none'),
  eval_early: key(
    bool,
    false,
    'evaluate at steps 1, 2, 4, 8 … as well, where curves over the logarithm of the episodes are thin',
  ),
  eval_bits: testBits,
  eval_distribution: key(
    bool,
    false,
    'measure the probability of every number below N at each evaluation (single_step)',
  ),
  test_n_batches: key(
    orNone(int(0)),
    null,
    'batches of test episodes per evaluation; None: a tenth of n_batches, at least 10',
  ),
  observer: key(
    bool,
    false,
    'follow what an ideal observer of the same guesses and rewards knows: observer/bits_known',
  ),
  log_episodes: key(bool, false, 'write guess and reward of every episode to episodes.jsonl, for memrl observer'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl; a row holds means over the steps since the last'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  keep_checkpoints: keep,
  tensorboard,
  log_path: logPath,
  model_name: modelName,
  engine,
  threads,
  seed,
  ...lora,
  ...foreign,
};

/** `memrl sft-data`: examples for `memrl sft`. */
export const sftDataKeys = {
  N,
  ...answers,
  fixed_secret: key(int(0), 0, 'the secret'),
  num_train: key(int(1), 1000, 'identical lines of train.jsonl'),
  num_test: key(int(1), 200, 'identical lines of test.jsonl'),
  output_dir: key(orNone(text), null, 'where to write; None: in the temp folder'),
  seed: inertKey(int(), 0, 'nothing is drawn'),
};

/** `memrl sft`: supervised learning of the secret, the reference for what a learner could know. */
export const sftKeys = {
  N,
  fixed_secret: key(int(0), 0, 'the secret that evaluations ask for'),
  ...reward,
  ...answers,
  ...parsing,
  train_data_path: key(orNone(text), null, 'JSON lines with messages; None: where sft-data writes by default'),
  load_checkpoint_path: loadPath,
  learning_rate: key(float(0), 2e-4, 'learning rate of Adam (betas 0.9, 0.95), at the first step'),
  lr_schedule: key(oneOf(schedules), 'linear', 'learning-rate schedule'),
  num_epochs: key(int(0), 1, 'passes over the data'),
  stop_memorised: stopMemorised,
  batch_size: key(int(1), 128, 'examples per step; the loss is the mean over their tokens'),
  eval_every: key(int(0), 1, 'steps between evaluations, 0 for none'),
  eval_batch_size: key(int(1), 64, 'test episodes per batch'),
  eval_n_batches: key(int(0), 10, 'batches of test episodes per evaluation'),
  eval_max_tokens: key(int(1), 8, 'maximum tokens of an answer'),
  eval_bits: testBits,
  max_length: key(int(1), 2048, 'maximum tokens of an example; longer ones are truncated'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 0, 'steps between checkpoints, 0 for only the last'),
  keep_checkpoints: keep,
  tensorboard,
  log_path: logPath,
  model_name: modelName,
  engine,
  threads,
  seed,
  ...lora,
  ...foreign,
};

/** `memrl warmup`: teaches the format, and nothing about any secret. */
export const warmupKeys = {
  env_type: envType,
  ...answers,
  n_values: key(ints(2), [16, 64, 256, 1024, 4096], 'sizes of secret space to learn the format of'),
  n_batches: key(orNone(int(0)), null, 'steps; None: 4500 for single_step, 2000 for multi_step'),
  batch_size: key(
    orNone(int(1)),
    null,
    'answers per step, spread over n_values; None: 64 for single_step, 10 for multi_step',
  ),
  learning_rate: key(
    orNone(float(0)),
    null,
    'peak learning rate of Adam (betas 0.9, 0.95); None: 2e-3 for single_step, 3e-3 for multi_step',
  ),
  lesson_share: key(
    orNone(float(0)),
    null,
    'share of the steps, the first ones, that teach passing secrets; None: 0.1 for single_step, 0.85 for multi_step',
  ),
  calibration_share: key(
    orNone(float(0)),
    null,
    'share of the steps, the last ones, that also make rare answers as likely as they should be; None: 0.5 for single_step, 0.15 for multi_step',
  ),
  lesson_steps: key(int(1), 60, 'steps for which such a secret stays the same'),
  warmup_steps: key(int(0), 20, 'steps in which the learning rate rises; after them it only falls, linearly, to 0'),
  check_secrets: key(orNone(ints(0)), null, 'secrets that must be near zero bits at the end, each for the N above it'),
  eval_every: key(int(0), 500, 'steps between checks of the first N, 0 for none'),
  log_every: key(int(1), 10, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 0, 'steps between checkpoints, 0 for only the last'),
  keep_checkpoints: keep,
  tensorboard,
  log_path: logPath,
  model_name: modelName,
  engine,
  threads,
  seed,
  data: key(
    oneOf(['drawn', 'file']),
    'drawn',
    'answers drawn afresh for each step; or the source system’s file of examples, written into the run directory and learnt from',
  ),
  data_seed: key(int(0, 2 ** 32 - 1), 1337, 'shuffles the file, as Python would'),
  min_examples: key(
    orNone(int(1)),
    null,
    'examples of each N in the file, at least; None: 800 for single_step, 500 for multi_step',
  ),
  examples_per_value: key(
    orNone(int(1)),
    null,
    'examples of each answer in the file, at least; None: 32 for single_step, 20 for multi_step',
  ),
  num_epochs: key(int(1), 1, 'passes over the file'),
  max_length: key(int(1), 512, 'maximum tokens of an example of the file; longer ones are truncated'),
  lr_schedule: key(oneOf(schedules), 'linear', 'learning-rate schedule, after the rise'),
  preview_samples: key(bool, false, 'sample answers at the end, and say how many are legal and how many different'),
  preview_count: key(orNone(int(1)), null, 'of each N; None: 20 for single_step, 10 for multi_step'),
  preview_temperature: key(orNone(float(0)), null, 'of the samples; None: 1 for single_step, 0.1 for multi_step'),
  preview_max_tokens: key(orNone(int(1)), null, 'of an answer; None: 8 for single_step, 3 for multi_step'),
  ...lora,
  ...foreign,
};

/** `memrl eval`: what saved weights know. */
export const evalKeys = {
  load_checkpoint_path: key(orNone(text), null, 'a run directory, a checkpoint, or a directory of Hugging Face'),
  env_type: envType,
  N,
  ...reward,
  ...answers,
  ...parsing,
  fixed_secret: trainKeys.fixed_secret,
  dataset_seed: trainKeys.dataset_seed,
  use_standard_prefix: trainKeys.use_standard_prefix,
  max_tokens: trainKeys.max_tokens,
  episodes: key(int(0), 400, 'sampled episodes'),
  engine,
  threads,
  seed,
};

/** `memrl rollouts`: the episodes of one step of a run. */
export const rolloutsKeys = {
  path: key(orNone(text), null, 'a run of memrl train; `path=` may be left out'),
  step: key(orNone(int(0)), null, 'the step, the first is 0'),
  replay: key(
    bool,
    false,
    'play the step again also where its episodes were kept (log_episodes): with words and log-probabilities',
  ),
  json: key(bool, false, 'print JSON; --json is the same'),
};

/** `memrl model`: what a saved model is, and the same model for other programs. */
export const modelKeys = {
  path: key(
    orNone(text),
    null,
    'a run directory, a checkpoint, or a directory of Hugging Face; `path=` may be left out',
  ),
  adapter: key(orNone(text), null, 'a directory of PEFT with LoRA for this model, to be merged into what is written'),
  output_dir: key(
    orNone(text),
    null,
    'a new directory to write the model into, as transformers reads it; adapters are merged into its weights',
  ),
  adapter_dir: key(orNone(text), null, 'a new directory to write the LoRA of a checkpoint into, as peft reads it'),
};
