/** Keys of the memory games. */
import { key } from '../../config/key.js';
import { bool, int, oneOf, orNone } from '../../config/value-type.js';
import { answerFormats } from './answer-format.js';
import { rewardTypes } from './rewards.js';

export const envType = key(
  oneOf(['single_step', 'multi_step']),
  'single_step',
  'one number at once, or its bits one by one',
);
export const N = key(int(1), 16, 'the secret is in [0, N)');
export const rewardKeys = {
  reward_type: key(oneOf(rewardTypes), 'binary', 'reward of a guess (single_step)'),
  reward_bins: key(orNone(int()), null, 'levels of binned_log_distance, at least 2'),
};
export const secretKeys = {
  fixed_secret: key(orNone(int(0)), null, 'the secret; None draws it from dataset_seed as NumPy would'),
  dataset_seed: key(int(0, 2 ** 32 - 1), 0, 'draws the secret when fixed_secret is None'),
};
export const answerFormat = key(
  oneOf(answerFormats),
  'decimal',
  'how a number is written: as usual, with zeros up to the width of N-1, or so and in Gray code, without carries',
);
export const answerParsing = key(
  oneOf(['strict', 'lenient']),
  'strict',
  'lenient: the first number among other words counts',
);
export const standardPrefixKey = key(bool, false, 'show one demonstration of the format before the question');

export const testBits = key(bool, true, 'measure bits known at each evaluation');
export const stopMemorised = key(
  orNone(int(1)),
  null,
  'ends the run when so many evaluations in a row found 95 % of the bits known; None: never',
);
