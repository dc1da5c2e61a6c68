import type { SampleOrder } from '../../logs/samples.js';

/** How the samples of a run are shown. `isLatest`: the last step, whichever it is; `step` counts otherwise, null: those without one. */
export type SampleChoice = {
  readonly isLatest: boolean;
  readonly step: number | null;
  readonly order: SampleOrder;
  /** What is beside, prompt by prompt: the step before, or the run that is pinned as the baseline; null: nothing. */
  readonly beside: 'step before' | 'pinned run' | null;
};

export const initialSampleChoice: SampleChoice = { isLatest: true, step: null, order: 'best first', beside: null };

/** The index of the chosen step; that of the nearest step before it in another run. -1: there are none. */
export function stepIndex(steps: readonly (number | null)[], { isLatest, step }: SampleChoice): number {
  if (isLatest) return steps.length - 1;
  const at = steps.findLastIndex((each) => (each ?? -Infinity) <= (step ?? -Infinity));
  return Math.max(at, Math.min(0, steps.length - 1));
}
