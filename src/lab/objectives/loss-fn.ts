import { assertNever } from '../../base/assert-never.js';
import { UserError } from '../../base/user-error.js';
import { cispo, dro, importanceSampling, ppo, type Clip, type Objective } from './objective.js';

export const lossFns = ['importance_sampling', 'ppo', 'cispo', 'dro'] as const;
type LossFn = (typeof lossFns)[number];

/** Values for the losses that take some; null stands for the loss's own standard. */
type LossSettings = {
  readonly clip_low_threshold: number | null;
  readonly clip_high_threshold: number | null;
  readonly beta: number;
};

/** The objective of that name. Standards: ppo clips to [0.8, 1.2], cispo to [0, 4]. @throws UserError when the bounds are crossed. */
export function objectiveOf(name: LossFn, settings: LossSettings): Objective {
  const clip = (low: number, high: number) =>
    checked({
      low: settings.clip_low_threshold ?? low,
      high: settings.clip_high_threshold ?? high,
    });
  switch (name) {
    case 'importance_sampling':
      return importanceSampling;
    case 'ppo':
      return ppo(clip(0.8, 1.2));
    case 'cispo':
      return cispo(clip(0, 4));
    case 'dro':
      return dro(settings.beta);
    default:
      return assertNever(name);
  }
}

function checked(clip: Clip): Clip {
  if (clip.low <= clip.high) return clip;
  throw new UserError(
    `The ratio cannot be clipped to at least ${clip.low} and at most ${clip.high}.`,
    'Give clip_low_threshold a value of at most clip_high_threshold.',
  );
}
