import { assertNever } from '../../base/assert-never.js';
import { cispo, dro, importanceSampling, ppo, type Objective } from './objective.js';

export const lossFns = ['importance_sampling', 'ppo', 'cispo', 'dro'] as const;
type LossFn = (typeof lossFns)[number];

/** Values for the losses that take some; null stands for the loss's own standard. */
type LossSettings = {
  readonly clip_low_threshold: number | null;
  readonly clip_high_threshold: number | null;
  readonly beta: number;
};

/** The objective of that name. Standards: ppo clips to [0.8, 1.2], cispo to [0, 4]. */
export function objectiveOf(name: LossFn, settings: LossSettings): Objective {
  const clip = (low: number, high: number) => ({
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
