import { gpuName } from '../base/ids.js';
import type { Gpu } from './gpu.js';

/**
 * The variables that show a run its GPUs and no others, in the given order.
 *
 * By index in PCI bus order, because some libraries read nothing else; by uuid where an instance (MIG) is among them, which
 * has no index of its own. For AMD, ROCR_VISIBLE_DEVICES chooses, and the other two count within what it has chosen.
 *
 * @param gpus Indexes. Empty: the run sees none. @param inventory What was last read; a GPU missing in it is named by index.
 */
export function visibleDevices(gpus: readonly number[], inventory: readonly Gpu[]): Record<string, string> {
  const known = gpus.map((index) => inventory.find((gpu) => gpu.index === index));
  if ((known[0] ?? inventory[0])?.vendor === 'amd') return visibleToRocm(gpus);
  const hasInstances = known.some((gpu) => gpu !== undefined && gpu.instanceOf !== null);
  const names = gpus.map((index, place) => (hasInstances ? known[place]?.uuid : undefined) ?? gpuName(index));
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', CUDA_VISIBLE_DEVICES: names.join(',') };
}

function visibleToRocm(gpus: readonly number[]): Record<string, string> {
  if (gpus.length === 0) return { ROCR_VISIBLE_DEVICES: '-1', HIP_VISIBLE_DEVICES: '-1', CUDA_VISIBLE_DEVICES: '' };
  const within = gpus.map((_, place) => place).join(',');
  return { ROCR_VISIBLE_DEVICES: gpus.join(','), HIP_VISIBLE_DEVICES: within, CUDA_VISIBLE_DEVICES: within };
}
