type LrSchedule = 'linear' | 'cosine' | 'constant';

/** Multiplier of the learning rate at step s of S: 1 at the first step, near 0 at the last. */
export function lrMultiplier(schedule: LrSchedule, step: number, steps: number): number {
  if (schedule === 'constant') return 1;
  return schedule === 'linear' ? 1 - step / steps : (1 + Math.cos((Math.PI * step) / steps)) / 2;
}

/** Rises linearly over `rise` steps, while it falls linearly to 0 at `steps`. */
export function riseAndFall(step: number, rise: number, steps: number): number {
  return Math.min(1, (step + 1) / Math.max(1, rise)) * (1 - step / steps);
}
