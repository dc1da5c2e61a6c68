import { UserError } from '../../base/user-error.js';
import type { AnswerFormat } from '../environments/memory/answer-format.js';
import type { Game } from '../environments/memory/game.js';
import { multiStepGame } from '../environments/memory/multi-step.js';
import { standardPrefix } from '../environments/memory/prompts.js';
import type { RewardRule, RewardType } from '../environments/memory/rewards.js';
import { singleStepGame } from '../environments/memory/single-step.js';
import { numpyRandint } from '../numpy-random.js';

/** The keys that say which game is played. */
type GameConfig = {
  readonly env_type: 'single_step' | 'multi_step';
  readonly N: number;
  readonly reward_type: RewardType;
  readonly reward_bins: number | null;
  readonly fixed_secret: number | null;
  readonly dataset_seed: number;
  readonly use_standard_prefix: boolean;
  readonly answer_format: AnswerFormat;
  readonly answer_parsing: 'strict' | 'lenient';
};

/** @throws UserError when the secret is not below N, or the reward cannot be given. */
export function buildGame(config: GameConfig): Game {
  const { env_type: kind, N } = config;
  const secret = secretOf(config);
  const { answer_format: format, answer_parsing: parsing } = config;
  if (parsing === 'lenient' && format !== 'decimal') {
    throw new UserError(
      `answer_parsing=lenient takes the first number among other words, and answer_format=${format} needs all digits of one.`,
      'Leave answer_parsing out, or set answer_format=decimal.',
    );
  }
  const prefix = config.use_standard_prefix ? standardPrefix(N, kind) : [];
  const setup = { N, secret, prefix, format, lenient: parsing === 'lenient' };
  return kind === 'multi_step' ? multiStepGame(setup) : singleStepGame(setup, rewardRule(config));
}

/** The secret of a run: the one that is set, or the one that NumPy would draw. @throws UserError when it is not below N. */
export function secretOf(config: Pick<GameConfig, 'N' | 'fixed_secret' | 'dataset_seed'>): number {
  const { N } = config;
  if (config.fixed_secret === null && N > 2 ** 32) {
    throw new UserError(
      `A secret below ${N} cannot be drawn as NumPy would, which stops at 2**32.`,
      'Set fixed_secret.',
    );
  }
  const secret = config.fixed_secret ?? numpyRandint(config.dataset_seed, N);
  if (secret >= N) {
    throw new UserError(
      `The secret ${secret} is not in [0, ${N}).`,
      `Give fixed_secret a value from 0 to ${N - 1}, or a larger N.`,
    );
  }
  return secret;
}

/** The reward of a single-step game. @throws UserError when the number of bins does not fit its type. */
export function rewardRule(config: Pick<GameConfig, 'reward_type' | 'reward_bins'>): RewardRule {
  const { reward_type: type, reward_bins: bins } = config;
  if (type !== 'binned_log_distance') return { type };
  if (bins === null || bins < 2) {
    throw new UserError(
      `reward_type=binned_log_distance needs at least 2 bins, and reward_bins is ${bins ?? 'None'}.`,
      'Set reward_bins, for example reward_bins=8.',
    );
  }
  return { type, bins };
}
