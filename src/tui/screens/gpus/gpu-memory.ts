import type { GpuSummary, RunSummary } from '../../state/port.js';

/** Usage of a GPU's memory in MiB. `hidden`: in use by processes that are not visible (a desktop, another container). */
export type GpuMemory = { readonly runs: number; readonly foreign: number; readonly hidden: number };

/** `runs`: the runs placed on the GPU. For a run on several GPUs only the sum is known, which is assumed to be divided evenly. */
export function gpuMemory({ memoryUsed, foreign }: GpuSummary, runs: readonly RunSummary[]): GpuMemory {
  const ours = runs.reduce((sum, run) => sum + (memoryHere(run) ?? 0), 0);
  const theirs = foreign.reduce((sum, { memory }) => sum + (memory ?? 0), 0);
  const used = memoryUsed ?? ours + theirs;
  const seen = Math.min(used, ours);
  const strangers = Math.min(used - seen, theirs);
  return { runs: seen, foreign: strangers, hidden: used - seen - strangers };
}

/** MiB of a run on one of its GPUs; null: unknown. */
export function memoryHere({ gpuMemory: sum, gpus }: RunSummary): number | null {
  return sum === null ? null : sum / Math.max(1, gpus.length);
}
