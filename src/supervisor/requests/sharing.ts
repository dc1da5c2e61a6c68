import { isOnPath } from '../../gpu/ask-program.js';
import { sharesAllowed } from '../../gpu/gpu.js';
import type { GpuView } from '../../gpu/gpu-view.js';
import type { GrantedGpu } from '../../scheduler/event.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { Environment } from '../runs/submission-store.js';

/** How many runs may share each of these GPUs, whatever is asked for. */
export type Sharing = (run: Pick<PlannedRun, 'resources'>) => number;

/** A driver set to one process a GPU lets several runs on it only through the MPS daemon. */
export function mostSharing(granted: readonly GrantedGpu[], view: GpuView, environment: Environment): Sharing {
  const gpus = view.gpus.filter(({ index }) => granted.some((gpu) => gpu.index === index));
  const isThere = isOnPath('nvidia-cuda-mps-control', environment);
  const most = (hasMps: boolean) => Math.max(1, Math.min(...gpus.map((gpu) => sharesAllowed(gpu, hasMps))));
  const [through, without] = [most(isThere), most(false)];
  return ({ resources }) => (resources.mps === 'auto' ? through : without);
}
