import { inertKey, key } from '../../config/key.js';
import { bool, float, int, oneOf, orNone, text } from '../../config/value-type.js';
import { runKeys } from '../../config/run-keys.js';
import { adapterPresets } from '../../service/dual-adapters.js';
import { evaluationSeed } from '../modes.js';

/** Keys of `memrl eval-run`, small-rl's eval_run.py; None takes the setting of the run. */
export const evalRunKeys = {
  path: {
    ...key(
      orNone(text),
      null,
      'a run directory (its final checkpoint, else its last), a checkpoint, or a directory of Hugging Face or small-rl. The first argument',
    ),
    alias: 'model_path',
  },
  lora_config: key(
    orNone(oneOf(adapterPresets)),
    null,
    'the adapters of the checkpoint, by a name; only small-rl’s first checkpoints do not say theirs',
  ),
  lora_alpha: key(
    orNone(float(1e-6)),
    null,
    'alpha of both adapters, where neither the checkpoint nor lora_config says it. None: 16',
  ),
  no_routing_eval: key(bool, false, 'measure the whole model alone, and not each adapter by itself'),
  gradient_routing: inertKey(bool, false, 'a checkpoint records its adapters itself'),
  n_samples: key(int(1), 20, 'prompts, and completions in each mode of the model'),
  eval_rewards: key(text, '', 'more rewards to measure, with commas; without a run and without `config` these alone'),
  config: key(orNone(text), null, 'YAML file with reward and detector; None: those of the run, else happy_binary'),
  max_completion_length: key(orNone(int(1)), null, 'maximum tokens of a completion; None: as in the run, else 128'),
  temperature: key(orNone(float(1e-6)), null, 'softmax temperature; None: as in the run, else 1'),
  repetition_penalty: key(orNone(float(1e-6)), null, 'as in memrl grpo; None: as in the run, else 1 (none)'),
  seed: key(int(0), evaluationSeed, 'seed of the sampling, the same in each mode: modes differ only by their adapters'),
  prompt_length: key(
    int(1),
    8,
    'tokens of a prompt: the first ones of a story of the test split; shorter stories as a whole',
  ),
  prompt_seed: key(int(0), 99, 'seed of the order in which stories become prompts'),
  data: key(
    orNone(text),
    null,
    'stories for prompts: a text, JSONL or parquet file; None: those of the run, else the grammar of memrl pretrain',
  ),
  base: key(
    orNone(text),
    null,
    'the model before the training, the reference for drift and collapse; None: from the settings of the run; for adapters, the frozen model',
  ),
  held_out: key(
    orNone(text),
    null,
    'another model that reads the samples, for drift: with the same tokenizer, and trained on neither reward nor samples, such as the base of another seed (memrl pretrain seed=7 tokenizer=runs/base/checkpoints/final)',
  ),
  output_dir: key(orNone(text), null, 'directory of eval_run.json, where `out` does not name the file'),
  out: key(
    orNone(text),
    null,
    'JSON file with everything; None: eval_run.json in log_path, else in the run directory, else CHECKPOINT.eval_run.json beside it',
  ),
  log_path: key(
    orNone(text),
    null,
    "directory of this evaluation's own row of metrics, for memrl-tui; None: MEMRL_RUN_DIR, which it sets, else none is written",
  ),
  json: key(bool, false, 'print that JSON instead of the summary'),
  engine: runKeys.engine,
  threads: runKeys.threads,
};
