import { inertKey, key } from '../config/key.js';
import { bool, float, int, oneOf, orNone, text } from '../config/value-type.js';
import { runKeys } from '../recipes/keys.js';
import { adapterPresets } from './adapter-presets.js';
import { ablatedPools } from '../rewards/labels.js';
import { baselines } from './baselines.js';
import { routingModes } from './routing.js';

const sizes = {
  num_prompts: key(int(1), 10_000, 'different prompts to train on'),
  eval_prompts: key(int(0), 1_000, 'different prompts, of other stories, that evaluations take theirs from'),
  prompt_length: key(int(1), 8, 'tokens of a prompt: the first ones of a story'),
  max_completion_length: key(int(1), 128, 'tokens of a completion, at most'),
};

const training = {
  batch_size: key(int(2), 32, 'completions of a step; num_generations divides it'),
  num_generations: key(int(2), 16, 'completions of each prompt, compared with each other'),
  temperature: key(float(1e-6), 1, 'softmax temperature of the policy that writes and learns'),
  repetition_penalty: key(
    float(1e-6),
    1,
    'scores of tokens that were said before are divided by it (multiplied, where below 0); 1: none',
  ),
  lr: key(
    float(0),
    1e-5,
    'learning rate at the first step; falls linearly to 0. LoRA wants 10 to 30 times that of full training',
  ),
  beta: key(float(0), 0.02, 'coefficient of the KL pull (k3) towards the model that training began with'),
  num_epochs: key(int(1), 1, 'passes over the prompts, where max_steps is -1'),
  max_steps: key(int(-1), 2_000, 'optimizer steps; -1: as many as num_epochs make'),
  seed: key(int(0), 42, 'seed of prompts, their order, sampling, labels and fresh adapters'),
};

const adapters = {
  lora_rank: key(
    int(0),
    0,
    'rank (and alpha) of one LoRA on all projections, without routing; 0: all weights are trained. The baseline of routing has retain_rank + forget_rank',
  ),
  gradient_routing: key(bool, false, 'two adapters; samples that the detector flags change the forget adapter alone'),
  routing_mode: key(
    orNone(oneOf(routingModes)),
    null,
    'what samples that are not flagged change: both adapters (shared) or the retain adapter alone (exclusive). Must be said',
  ),
  retain_rank: key(int(0), 4, 'rank of the retain adapter'),
  forget_rank: key(int(0), 4, 'rank of the forget adapter'),
  lora_alpha: key(float(0), 16, 'the output of both is multiplied by alpha / its rank'),
  lora_config: key(
    orNone(oneOf(adapterPresets)),
    null,
    'ranks, alpha and layers of the two adapters by a name: r8 is rank 8 for both, r32f4 retain 32 and forget 4, r1h every other layer, m16 two nets of 16 neurons',
  ),
};

const labels = {
  base_reward: key(orNone(text), null, 'reward of completions that may not earn the full one (rh_eligible_frac)'),
  rh_eligible_frac: key(float(0), 1, 'share of completions that may earn the full reward; needs base_reward'),
  routing_frac: key(float(0), 1, 'share of those that may be flagged'),
  label_noise_frac: key(float(0), 0, 'share of completions flagged though the detector does not'),
  ablated_frac: key(float(0), 0, 'share of the pool learnt from with the forget adapter switched off'),
  ablated_pool: key(
    oneOf(ablatedPools),
    'ground_truth_good',
    'whom that share is of: what the detector finds good, or what is not flagged',
  ),
  baseline: key(
    orNone(oneOf(baselines)),
    null,
    'instead of routing, flagged completions get an advantage of 0 (filter), a reward of 0 (reward_penalty), or that of the retain components alone (retain_penalty)',
  ),
};

const said = {
  logging_steps: key(int(1), 10, 'steps between rows of metrics, and between samples in train.log'),
  save_steps: key(int(0), 500, 'steps between checkpoints; 0: only the last'),
  eval_routing_steps: key(
    int(0),
    100,
    'steps between evaluations on prompts of their own, with both adapters and with each alone; 0: none',
  ),
  eval_samples: key(int(1), 10, 'completions of an evaluation, in each mode'),
  eval_rewards: key(text, '', 'more rewards to measure in evaluations, with commas'),
};

/** small-rl's train.py, with the settings that were validated there as defaults: its own are batch_size 8, num_generations 8, beta 0.1 and one epoch. */
export const grpoKeys = {
  model: key(
    text,
    '',
    'the model to begin with: a run of memrl pretrain, one of its checkpoints, or a directory of Hugging Face',
  ),
  reward: key(
    orNone(text),
    null,
    'a reward of the registry, or the path of a module with your own; None: the one of `config`, else happy_binary',
  ),
  config: key(orNone(text), null, 'YAML file with reward and detector'),
  data: key(orNone(text), null, 'stories for prompts: a text or JSONL file; None: the corpus of memrl pretrain'),
  log_path: {
    ...key(orNone(text), null, 'run directory; an existing run there is continued. None: output/RUN_NAME'),
    alias: 'output_dir',
  },
  run_name: key(orNone(text), null, 'None: made of the reward and every setting that is not the default'),
  ...sizes,
  ...training,
  ...adapters,
  ...labels,
  ...said,
  ...runKeys,
  no_wandb: inertKey(bool, false, 'files for W&B are written only where wandb_project is given'),
};
