/** Adam as tinker-cookbook sets it. */
export const cookbookAdam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

export const schedules = ['linear', 'cosine', 'constant'] as const;
type LrSchedule = (typeof schedules)[number];

/** Multiplier of the learning rate at step s of S: 1 at the first step; `linear` and `cosine` end near 0. */
export function lrMultiplier(schedule: LrSchedule, step: number, steps: number): number {
  if (schedule === 'constant') return 1;
  return schedule === 'linear' ? 1 - step / steps : (1 + Math.cos((Math.PI * step) / steps)) / 2;
}

/** Rises linearly over the first `rise` steps. */
export function riseMultiplier(step: number, rise: number): number {
  return Math.min(1, (step + 1) / Math.max(1, rise));
}
