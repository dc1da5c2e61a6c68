import { key } from '../config/key.js';
import { bool, int, oneOf } from '../config/value-type.js';
import { presets } from '../engine/model-shape.js';

/** `memrl bench`: how long a training step takes on each engine of this machine. */
export const benchKeys = {
  model_name: key(oneOf(Object.keys(presets) as (keyof typeof presets)[]), 'tiny', 'shape of the model'),
  group_size: key(int(1), 4, 'sequences sampled from the prompt of a step'),
  prompt_tokens: key(int(1), 10, 'tokens of the prompt'),
  sampled_tokens: key(int(1), 5, 'tokens sampled after it, one by one'),
  steps: key(int(1), 200, 'steps of a round; a round of a slow engine ends after a second'),
  rounds: key(int(1), 5, 'rounds, in each of which every engine is timed once'),
  seed: key(int(0), 0, 'seed of weights, prompts and samples'),
  json: key(bool, false, 'print JSON; --json is the same'),
};
