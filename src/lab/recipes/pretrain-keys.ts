import { key } from '../config/key.js';
import { float, int, orNone, text } from '../config/value-type.js';
import { warmupKeys } from './keys.js';

/** `memrl pretrain`: a language model of stories. */
export const pretrainKeys = {
  data: key(
    orNone(text),
    null,
    'stories: a .txt file (one a line, or with blank lines between them), a .jsonl file of objects with story or text, or a folder with train and test. None: the grammar writes them',
  ),
  model_name: key(
    text,
    'stories',
    'shape of a new model: stories, simplestories-1.25M, tiny or micro; or a directory with a LLaMA model of Hugging Face, which is trained on',
  ),
  tokenizer: key(
    orNone(text),
    null,
    'directory with a tokenizer.json. None: that of the model in model_name, else one trained on the stories',
  ),
  vocabulary_size: key(
    int(1),
    1280,
    'tokens of a tokenizer that is trained, at most; each word of the grammar is one of 1280',
  ),
  n_batches: key(int(0), 1500, 'steps; a larger one continues a finished run on the longer schedule'),
  batch_size: key(int(1), 16, 'stories per step'),
  context: key(int(2), 512, 'tokens of the longest sequence of a new model; longer stories are cut to it'),
  learning_rate: key(float(0), 3e-3, 'highest learning rate of AdamW (betas 0.9, 0.95)'),
  warmup_steps: key(int(0), 100, 'steps in which the learning rate rises; after them it falls as a cosine'),
  final_lr_fraction: key(float(0), 0.1, 'of the highest learning rate, at the last step'),
  weight_decay: key(float(0), 0.1, 'of matrices; norms do not decay'),
  clip: key(orNone(float(0)), 1, 'greatest norm of the gradient; None: no bound'),
  eval_every: key(int(0), 100, 'steps between measurements on the test split, 0 for none'),
  eval_stories: key(int(1), 64, 'stories of the test split to measure on, always the same'),
  samples: key(int(0), 3, 'stories to write at the end, at temperature 1 from prompts of the test split'),
  log_every: warmupKeys.log_every,
  save_every: key(int(0), 500, 'steps between checkpoints, 0 for only the last'),
  keep_checkpoints: key(orNone(int(1)), 2, 'how many checkpoints to keep; None: all'),
  tensorboard: warmupKeys.tensorboard,
  wandb_project: warmupKeys.wandb_project,
  wandb_name: warmupKeys.wandb_name,
  log_path: warmupKeys.log_path,
  engine: warmupKeys.engine,
  threads: warmupKeys.threads,
  seed: key(int(0), 42, 'seed of the initial weights, the stories and the samples'),
};
