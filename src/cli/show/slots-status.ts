import { gpuName } from '../../base/ids.js';
import type { FleetStatus } from '../../client/fleet.js';

/** The slots as `status --json` and `slots --json` give them. A GPU's `name` is the model, its `gpu` what `--gpus` calls it. */
export function slotsStatus({ cpu, gpus }: Pick<FleetStatus, 'cpu' | 'gpus'>): object {
  return { cpu, gpus: gpus.map((gpu) => ({ gpu: gpuName(gpu.index), ...gpu })) };
}
