import { key, type Config } from '../../config/key.js';
import { runKeys } from '../../config/run-keys.js';
import { bool, float, int, ints, orNone, text } from '../../config/value-type.js';

/** A run's evaluations of its checkpoints: `evaluation/ENVIRONMENT/SAMPLING/metrics.jsonl`. */
export const evaluationFolder = 'evaluation';

/** Keys of `memrl eval-batch`, named as in RL_Practice's eval_batch; None takes the setting of the run. */
export const evalBatchKeys = {
  path: { ...key(orNone(text), null, 'directory of the run. The first argument'), alias: 'training_run' },
  steps: key(orNone(ints(0)), null, 'steps whose checkpoints are evaluated; 0 is the model before training. None: all'),
  base: key(bool, true, 'whether the model that training began with is among them, as step 0'),
  environment: key(orNone(text), null, 'environment; None: that of the run'),
  environment_params: key(orNone(text), null, 'parameters of the environment; None: as in the run'),
  num_prompts: key(int(1), 64, 'tasks that are played, the same for each checkpoint'),
  subset_frac: {
    ...key(orNone(float(0)), null, 'share of the environment’s tasks to play, instead of num_prompts'),
    alias: 'subset-frac',
  },
  num_return_sequences: key(int(1), 8, 'answers to each task'),
  max_new_tokens: key(orNone(int(1)), null, 'maximum tokens of an answer; None: as in the run'),
  temperature: key(float(1e-6), 0.7, 'softmax temperature'),
  top_p: key(float(1e-6), 1, 'the fewest of the likeliest tokens whose probabilities sum to this'),
  seed: key(int(0), 0, 'seed of tasks and answers'),
  log_path: {
    ...key(orNone(text), null, 'directory for results. None: evaluation/ENVIRONMENT/… in the run'),
    alias: 'eval_root',
  },
  engine: runKeys.engine,
  threads: runKeys.threads,
};
export type EvalBatchConfig = Config<typeof evalBatchKeys>;
