import type { Outcome } from '../../base/outcome.js';
import { groupOf } from '../queue/groups.js';
import type { Run } from '../run-state.js';
import type { StepContext } from '../step-context.js';

/**
 * Remembers what a run of the group took. A run that broke off early says little of what its siblings will take, so it can
 * raise a known figure but not be the first. `gpuMemory`: the most on one GPU, MiB.
 */
export function learnMemory({ state }: StepContext, run: Run, outcome: Outcome, gpuMemory: number | undefined): void {
  const group = groupOf(state, run.group);
  if (gpuMemory === undefined || gpuMemory <= (group.peakMemory ?? 0)) return;
  if (group.peakMemory !== null || isFullGrown(outcome)) group.peakMemory = gpuMemory;
}

function isFullGrown({ kind }: Outcome): boolean {
  return kind === 'done' || kind === 'oom' || kind === 'timeout';
}
