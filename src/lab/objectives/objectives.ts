/** Losses of single tokens, and their normalization over a batch. */
import { assertNever } from '../../base/assert-never.js';
import { UserError } from '../../base/user-error.js';

/** Bounds of the ratio exp(lp − q), absolute, not distances from 1. */
export type Clip = { readonly low: number; readonly high: number };

/**
 * The loss of one token, with the names and settings (`loss_fn_config`) of Tinker's protocol for the losses it has.
 * The loss of a batch is the weighted sum over its tokens, without averaging.
 *
 * `lp`: log-probability under the model that is trained; `q`: under the one that sampled; `A`: the token's advantage.
 */
export type Objective = {
  readonly name: string;
  /** @param clip Bounds of this token's ratio, instead of the objective's. */
  readonly loss: (lp: number, q: number, A: number, clip?: Clip) => number;
  /** The derivative of the loss w.r.t. `lp`, for backpropagation (for cispo, with the clipped ratio held fixed). */
  readonly gradient: (lp: number, q: number, A: number, clip?: Clip) => number;
  /** Bounds of the ratio; without them the objective clips nothing. */
  readonly clip?: Clip;
  /**
   * Set for the ratio of the whole sequence: the geometric mean of its tokens' ratios. Otherwise each token has its
   * own.
   */
  readonly ratio?: 'sequence';
  readonly settings?: Readonly<Record<string, number>>;
};

/** −ρA: the policy gradient with importance weights for the policy that sampled. */
export const importanceSampling: Objective = {
  name: 'importance_sampling',
  loss: (lp, q, A) => -Math.exp(lp - q) * A,
  gradient: (lp, q, A) => -Math.exp(lp - q) * A,
};

/** −min(ρA, clip(ρ)A): no gain from moving further than the clip allows (Schulman et al. 2017). */
export function ppo(bounds: Clip): Objective {
  const loss = (lp: number, q: number, A: number, clip = bounds) => {
    const ratio = Math.exp(lp - q);
    return -Math.min(ratio * A, clamp(ratio, clip) * A);
  };
  const gradient = (lp: number, q: number, A: number, clip = bounds) => {
    const ratio = Math.exp(lp - q);
    const cut = A > 0 ? ratio > clip.high : ratio < clip.low;
    return cut ? 0 : -ratio * A;
  };
  return { name: 'ppo', loss, gradient, ...clipOf(bounds) };
}

/** −clip(ρ)·lp·A with the clipped ratio as a constant: every token keeps some gradient. */
export function cispo(bounds: Clip): Objective {
  const weight = (lp: number, q: number, clip: Clip) => clamp(Math.exp(lp - q), clip);
  return {
    name: 'cispo',
    loss: (lp, q, A, clip = bounds) => -weight(lp, q, clip) * lp * A,
    gradient: (lp, q, A, clip = bounds) => -weight(lp, q, clip) * A,
    ...clipOf(bounds),
  };
}

/**
 * PPO's loss on the ratio of the whole sequence, so that a sequence is clipped as a whole or not at all (GSPO-token,
 * Zheng et al. 2025).
 */
export function gspo(bounds: Clip): Objective {
  return { ...ppo(bounds), name: 'gspo', ratio: 'sequence' };
}

function clipOf(clip: Clip): Pick<Objective, 'clip' | 'settings'> {
  return { clip, settings: { clip_low_threshold: clip.low, clip_high_threshold: clip.high } };
}

/** −(lp·A − ½β(lp − q)²): a pull back to the sampler instead of a clip. */
export function dro(beta: number): Objective {
  return {
    name: 'dro',
    loss: (lp, q, A) => -(lp * A - 0.5 * beta * (lp - q) ** 2),
    gradient: (lp, q, A) => -(A - beta * (lp - q)),
    settings: { beta },
  };
}

/** −lp: supervised learning. */
export const crossEntropy: Objective = { name: 'cross_entropy', loss: (lp) => -lp, gradient: () => -1 };

/** How far a log-probability is from `q`: half the square up to 1 nat, linear beyond (Huber 1964). */
export const distance: Objective = {
  name: 'distance',
  loss: (lp, q) => (Math.abs(lp - q) <= 1 ? (lp - q) ** 2 / 2 : Math.abs(lp - q) - 0.5),
  gradient: (lp, q) => Math.max(-1, Math.min(1, lp - q)),
};

export const lossFns = ['importance_sampling', 'ppo', 'cispo', 'dro', 'gspo'] as const;
export type LossFn = (typeof lossFns)[number];

/** Settings of losses; null takes the loss's own default. */
export type LossSettings = {
  readonly clip_low_threshold: number | null;
  readonly clip_high_threshold: number | null;
  readonly beta: number;
};

/**
 * The objective of that name. Defaults: ppo and gspo clip to [0.8, 1.2], cispo to [0, 4].
 * @throws UserError when the bounds are crossed.
 */
export function objectiveOf(name: LossFn, settings: LossSettings): Objective {
  const clip = (low: number, high: number) =>
    checkedClip({ low: settings.clip_low_threshold ?? low, high: settings.clip_high_threshold ?? high });
  switch (name) {
    case 'importance_sampling':
      return importanceSampling;
    case 'ppo':
      return ppo(clip(0.8, 1.2));
    case 'cispo':
      return cispo(clip(0, 4));
    case 'dro':
      return dro(settings.beta);
    case 'gspo':
      return gspo(clip(0.8, 1.2));
    default:
      return assertNever(name);
  }
}

function checkedClip(clip: Clip): Clip {
  if (clip.low <= clip.high) return clip;
  throw new UserError(
    `The ratio cannot be clipped to at least ${clip.low} and at most ${clip.high}.`,
    'Give clip_low_threshold a value of at most clip_high_threshold.',
  );
}

function clamp(ratio: number, { low, high }: Clip): number {
  return Math.min(high, Math.max(low, ratio));
}

/**
 * The KL term of one token towards a reference model, as a loss: an estimate of KL(policy ‖ reference) from a token
 * that the policy drew. The mean of its gradient need not be the gradient of that KL.
 *
 * `lp`: log-probability under the model that is trained; `reference`: under the reference model.
 */
export type Pull = {
  readonly loss: (lp: number, reference: number) => number;
  /** The derivative of the estimate w.r.t. `lp`. */
  readonly gradient: (lp: number, reference: number) => number;
};

/** ½ (lp − reference)²: never below zero, and biased. The mean of its gradient is that of KL(policy ‖ reference). */
const k2: Pull = {
  loss: (lp, reference) => (lp - reference) ** 2 / 2,
  gradient: (lp, reference) => lp - reference,
};

/**
 * e^d − d − 1 with d = reference − lp (Schulman 2020): never below zero, and unbiased for tokens drawn from the
 * policy. The mean of its gradient is that of KL(reference ‖ policy).
 */
export const k3: Pull = {
  loss: (lp, reference) => Math.expm1(reference - lp) - (reference - lp),
  gradient: (lp, reference) => -Math.expm1(reference - lp),
};

export const klEstimators = ['k1', 'k2', 'k3'] as const;
export type KlEstimator = (typeof klEstimators)[number];
export const pulls = { k2, k3 } as const satisfies Record<string, Pull>;

/**
 * KL terms of a training step. `pull`: coefficient of the KL loss (k2 or k3); 0: none. `penalty`: KL penalty by the
 * estimator k1, which is added to the advantages; null: none.
 */
type KlTerms = {
  readonly pull: number;
  readonly pullEstimator?: Pull;
  readonly penalty: { readonly coefficient: number; readonly discount: number } | null;
};

/**
 * Where a KL term with this coefficient belongs. k1 = lp − reference is charged in the rewards, where it follows the
 * gradient of KL(policy ‖ reference). As a loss it has the gradient ∇lp, whose mean over the policy's own tokens is 0:
 * the policy would not move towards the reference. k2 and k3 are losses.
 *
 * @param penalty A penalty by k1 that is charged as well.
 */
export function klTerms(
  estimator: KlEstimator,
  coefficient: number,
  penalty = { coefficient: 0, discount: 0 },
): KlTerms {
  const inRewards = penalty.coefficient + (estimator === 'k1' ? coefficient : 0);
  return {
    ...(estimator === 'k1' ? { pull: 0 } : { pull: coefficient, pullEstimator: pulls[estimator] }),
    penalty: inRewards === 0 ? null : { ...penalty, coefficient: inRewards },
  };
}

/** A line for the start of a run; none unless k1 takes another place than the losses k2 and k3. */
export function klWords(estimator: KlEstimator, coefficient: number): string[] {
  if (estimator !== 'k1' || coefficient === 0) return [];
  return [
    `KL to the initial model: k1 is a penalty on rewards, ${coefficient} a nat; as a loss its mean gradient would be 0`,
  ];
}

export const normalizations = ['sum', 'grpo', 'dr_grpo', 'token_mean'] as const;

/**
 * Normalization of the losses of a batch's tokens before they are summed.
 *
 * `sum`: none, as in tinker-cookbook. `grpo`: the mean over all sequences of the mean over a sequence's tokens (Shao
 * et al. 2024, eq. 3; TRL's `loss_type="grpo"`), so that a long answer's tokens count less. `dr_grpo`: the mean over
 * groups of the sum over a group's tokens, divided by its size and its longest answer; Liu et al. 2025 divide by a
 * constant in the place of that length. There all tokens of a group count alike. `token_mean`: the mean over all
 * tokens of the batch (Yu et al. 2025; TRL's `loss_type="bnpo"`).
 */
export type Normalization = (typeof normalizations)[number];

/**
 * The weight of each token of a sequence in the loss.
 *
 * @param lengths_PG Generated tokens of each sequence of each group; all groups of the batch.
 * @returns The same shape.
 */
export function tokenWeights(lengths_PG: readonly (readonly number[])[], how: Normalization): number[][] {
  switch (how) {
    case 'sum':
      return Array.from(lengths_PG, (lengths) => Array.from(lengths, () => 1));
    case 'grpo': {
      const sequences = lengths_PG.reduce((sum, lengths) => sum + lengths.length, 0);
      return lengths_PG.map((lengths) => lengths.map((length) => 1 / (sequences * Math.max(1, length))));
    }
    case 'token_mean': {
      const tokens = lengths_PG.flat().reduce((sum, length) => sum + length, 0);
      return lengths_PG.map((lengths) => lengths.map(() => 1 / Math.max(1, tokens)));
    }
    case 'dr_grpo':
      return lengths_PG.map((lengths) => {
        const longest = Math.max(1, ...lengths);
        return lengths.map(() => 1 / (lengths_PG.length * lengths.length * longest));
      });
    default:
      return assertNever(how);
  }
}
