import { engineChoices } from '../engine/choose-engine.js';
import { inertKey, key } from './key.js';
import { bool, float, int, oneOf, orNone, text } from './value-type.js';

/** Keys of every run; none of them changes what is learnt. */
export const runKeys = {
  engine: key(
    oneOf(engineChoices),
    'auto',
    'engine: our kernels (wasm) or TensorFlow.js (tfjs); auto: the faster of the two if TensorFlow.js has a GPU, else wasm',
  ),
  threads: key(
    orNone(int(1, 64)),
    null,
    'threads of our kernels, which change no bit; None: OMP_NUM_THREADS, else one per core, at most 8; one for a model below 500,000 parameters',
  ),
  keep_checkpoints: key(orNone(int(1)), null, 'how many checkpoints to keep; None: all'),
  tensorboard: key(bool, false, 'write the metrics for TensorBoard, too: an events file in the run directory'),
  log_times: key(
    bool,
    false,
    'write how long steps took (time/…) into metrics.jsonl, too, which then differs from run to run; they are in timing.jsonl anyway',
  ),
  wandb_project: key(
    orNone(text),
    null,
    'write the metrics for W&B, too: files in the run directory that its client sends off (wandb sync); None: as WANDB_PROJECT says, or none',
  ),
  wandb_name: key(orNone(text), null, 'what the run is called there; None: as its directory'),
};

/** Names of keys that may differ from attempt to attempt. */
export const runKeyNames: readonly string[] = Object.keys(runKeys);

export const logPath = key(
  orNone(text),
  null,
  'run directory; an existing run there is continued. None: one in the temp folder',
);
export const modelName = key(
  text,
  'tiny',
  'shape of a new model: tiny, micro, stories, simplestories-1.25M, or tiny-WxL, of width W and L layers (tiny itself is 64x2); or a directory with a LLaMA model of Hugging Face; other names mean tiny',
);
export const loadPath = key(
  orNone(text),
  null,
  'initial weights: a run directory, a checkpoint, or a directory of Hugging Face. None: random',
);
/** Leaves the initial weights open: the warm-up for a new model on a memory game, else None. */
export const WARMUP = 'WARMUP';
export const memoryLoadPath = key(
  orNone(text),
  WARMUP,
  'initial weights: a run directory, a checkpoint, a directory of Hugging Face, or SINGLE_STEP or MULTI_STEP, a warm-up of the memory games; WARMUP: the warm-up of the game, for a new model. none: random',
);
export const seed = key(int(0), 0, 'seed of sampling, shuffling and initial weights');

export const loraKeys = {
  lora_rank: key(
    int(0),
    0,
    'rank of LoRA on the seven projections of each layer: it alone is trained, fresh, on weights that stay. 0: all weights are trained',
  ),
  lora_alpha: key(float(0), 32, "LoRA's output is multiplied by alpha/rank; 32 at every rank, as at Tinker"),
};

/** Keys of tinker-cookbook that mean nothing in a process that trains by itself. */
export const foreignKeys = {
  renderer_name: inertKey(orNone(text), null, 'the format is always role_colon'),
  base_url: inertKey(orNone(text), null, 'the model is trained in this process'),
  behavior_if_log_dir_exists: inertKey(text, 'resume', 'an existing run is always continued'),
};
