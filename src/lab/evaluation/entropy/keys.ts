import { normalizations } from '../../objectives/objectives.js';
import { credits } from '../../probes/entropy-derivative.js';
import { units } from '../../probes/entropy-estimates.js';
import { key, type Config } from '../../config/key.js';
import { runKeys } from '../../config/run-keys.js';
import { float, floats, int, oneOf, orNone, text } from '../../config/value-type.js';

/** Keys of `memrl entropy`. Names in capitals come from RL_Practice. */
export const entropyKeys = {
  path: key(orNone(text), null, 'the policy: a run, one of its checkpoints, or a directory of Hugging Face'),
  environment: key(
    text,
    'arithmetic',
    'environment: arithmetic, secrets, word_problems, gsm8k, or the path of a module with your own',
  ),
  environment_params: key(orNone(text), null, 'parameters of the environment, as YAML or JSON: {max: 9}'),
  B_U: key(int(3), 64, 'prompts of the batch U, which the step is made from'),
  G: key(int(2), 8, 'answers to each of them'),
  B_E: key(int(2), 512, 'answers of the batch E, to a prompt each, on which entropy is measured'),
  B_T: key(
    int(0),
    0,
    'answers of a separate batch T on which the change is measured, so that the prediction can be tested against its error; 0: measured on E',
  ),
  temperature: key(float(1e-6), 1, 'softmax temperature of the policy, in sampling and in its entropy'),
  max_tokens: key(int(1), 8, 'maximum tokens of an answer'),
  eta: key(floats(0), [1e-6, 3e-6, 1e-5, 3e-5, 1e-4], 'learning rates to take the step with, one after the other'),
  per: key(oneOf(units), 'token', 'unit of entropy: nats per token, or per answer'),
  credit: key(
    oneOf(credits),
    'centred',
    'which entropies a token is credited with: all of its answer (whole), those after it (to_go), or these less their mean over other answers (centred)',
  ),
  loss_normalization: key(
    oneOf(normalizations),
    'dr_grpo',
    'what the losses of tokens are divided by, as in the run whose moments are used: by the longest answer of a prompt (dr_grpo), sum, grpo or token_mean',
  ),
  update: key(oneOf(['adam', 'sgd']), 'adam', 'the step: AdamW with the moments of the checkpoint, or the gradient'),
  moments: key(
    oneOf(['kept', 'none']),
    'kept',
    'of Adam: kept as the checkpoint has them, or none, as in a new run that begins with its weights: the step is then a first one',
  ),
  beta1: key(float(0), 0.9, 'decay of the first moment'),
  beta2: key(float(0), 0.999, 'decay of the second moment'),
  epsilon: key(float(1e-300), 1e-8, 'added to the root of the second moment'),
  weight_decay: key(float(0), 0.01, 'weight decay of matrices, per unit of learning rate; norms do not decay'),
  grad_clip: key(float(0), 0, 'maximum norm of the gradient; 0: no bound'),
  clip_c: key(float(0), 10, 'greatest absolute log-weight of importance sampling'),
  precision: key(
    oneOf(['double', 'single']),
    'double',
    'precision of scores and gradients; double uses plain loops, for small models. Below a learning rate of some 1e-6, single precision sees only rounding',
  ),
  gns_prompts: key(
    int(0),
    0,
    'prompts that the noise scale by two batch sizes is drawn from, in two halves of at least three; 0: it is left out',
  ),
  fisher: key(int(0), 0, 'answers of U whose Fisher kernel is computed, the first ones; 0: none'),
  sketch_rows: key(int(0), 0, 'numbers that stand for a gradient in the kernel, with error bars; 0: all, no error'),
  n_runs: key(int(1), 1, 'repetitions with other batches'),
  seed: key(int(0), 0, 'seed of the first repetition; each has one more'),
  log_path: {
    ...key(orNone(text), null, 'directory for results. None: MEMRL_RUN_DIR, else entropy/ in the one that is open'),
    alias: 'out_root',
  },
  engine: runKeys.engine,
  threads: runKeys.threads,
};
export type EntropyConfig = Config<typeof entropyKeys>;
