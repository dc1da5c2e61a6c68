import { engineChoices } from '../engine/choose-engine.js';
import { key } from './key.js';
import { bool, int, oneOf, orNone, text } from './value-type.js';

/** What every run can be told, and none of which changes what is learnt. */
export const runKeys = {
  engine: key(
    oneOf(engineChoices),
    'auto',
    'what computes: our kernels (wasm; wasm-relaxed fuses products, so each processor has its own bits), TensorFlow.js (tfjs); auto: TensorFlow.js where it has a GPU, else wasm',
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
    'write the metrics for W&B, too: files in the run directory that its client sends off (wandb sync); None: none',
  ),
  wandb_name: key(orNone(text), null, 'what the run is called there; None: as its directory'),
};

/** Their names: they may differ from attempt to attempt. */
export const runKeyNames: readonly string[] = Object.keys(runKeys);
