import type { RunId } from '../base/ids.js';
import type { Gpu, GpuProcess } from './gpu.js';

/** What a run holds on GPUs. `memory`: MiB, all its processes on all GPUs together; null: not known. */
export type RunOnGpus = { memory: number | null; pids: number[] };

/** Everything known about the GPUs and who is on them, from the last good reading. */
export type GpuView = {
  gpus: readonly Gpu[];
  processes: readonly GpuProcess[];
  byRun: ReadonlyMap<RunId, RunOnGpus>;
  /** By GPU index: processes of nobody's run here. A GPU without any is not in it. */
  foreign: ReadonlyMap<number, readonly GpuProcess[]>;
  /** By GPU index: MiB in use that no visible process accounts for (a desktop, other containers). */
  hidden: ReadonlyMap<number, number>;
  /** When it was read, Unix ms; null: never yet, and nothing is known. */
  at: number | null;
  /** Why this is not fresher, in words; null when it is fresh. */
  problem: string | null;
};

export const nothingKnown: GpuView = {
  ...{ gpus: [], processes: [], byRun: new Map(), foreign: new Map(), hidden: new Map(), at: null, problem: null },
};

/** Which of these processes still hold memory, for `GPU 0: 1,024 MiB still held by pid 4711` after a kill. */
export function gpuMemoryHeld(view: GpuView, pids: readonly number[]): GpuProcess[] {
  return view.processes.filter(({ pid, memory }) => pids.includes(pid) && memory !== 0);
}
