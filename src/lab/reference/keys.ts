import { key } from '../config/key.js';
import { bool, float, int, ints, oneOf, orNone, text } from '../config/value-type.js';
import { conditionNames, usualConditions } from './conditions.js';
import { optimizers } from './optimizer.js';

/** `memrl ideal`: episodes that learners without a network need. */
export const idealKeys = {
  N: key(ints(2), [16, 64, 256, 1024, 4096], 'sizes of secret space, 4096 at most'),
  conditions: key(
    conditionNames,
    usualConditions,
    'channels: examples, one reward, B levels, the distance, rewarded bits',
  ),
  seeds: key(int(1), 30, 'secrets of each size, drawn uniformly'),
  optimizer: key(oneOf(optimizers), 'sgd', 'how the table of logits learns (adam: betas 0.9, 0.95)'),
  learning_rate: key(float(0), 1, 'its learning rate'),
  group_size: key(int(2), 4, 'episodes per step of the table'),
  budget: key(int(1), 80_000, 'episodes after which a table is given up'),
  seed: key(int(0), 0, 'draws secrets and guesses'),
  out: key(orNone(text), null, 'a file to write, for memrl-tui report: reference.json beside the runs of a sweep'),
  json: key(bool, false, 'print JSON; --json is the same'),
};

/** `memrl observer`: bits that a run's rewards revealed, and bits that its weights learnt. */
export const observerKeys = {
  path: key(orNone(text), null, 'a run of memrl train with log_episodes=True; `path=` may be left out'),
  json: key(bool, false, 'print JSON, with what was known after every episode that told something; --json is the same'),
};
