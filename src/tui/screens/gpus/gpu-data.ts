import type { FleetStatus } from '../../state/port.js';
import { noFiles, type ScreenData, type ScreenEntry } from '../screen.js';
import type { GpuUse } from './gpu-memory.js';
import { gpuKeys, gpuOpener } from './keys.js';

/** The GPUs of this machine, or the nodes of a cluster. */
export const gpus: ScreenEntry<'gpus', GpuUse> = {
  ...{ name: 'GPUs', keys: gpuKeys, opener: gpuOpener, data: gpuData },
  component: () => import('./gpu-screen.js').then(({ GpuScreen }) => GpuScreen),
};

/** Time between two samples, in ms, and the number of samples kept: ten minutes' worth. */
const PERIOD_MS = 5000;
const KEPT = 120;

/** The utilization of the GPUs over the last minutes, collected here because the supervisor sends only the present one. */
function gpuData(): ScreenData<'gpus', GpuUse> {
  const samples = new Map<number, (number | null)[]>();
  let heardAt = -Infinity;
  const hear = ({ gpus }: FleetStatus, now: number): void => {
    if (gpus.length === 0 || now - heardAt < PERIOD_MS) return;
    heardAt = now;
    for (const { index, utilization } of gpus)
      samples.set(index, [...(samples.get(index) ?? []), utilization].slice(-KEPT));
  };
  const use: GpuUse = (index) => samples.get(index) ?? [];
  return {
    wanted: () => noFiles,
    read: () => use,
    context: ({ body }) => ({ page: Math.max(1, body.height - 1) }),
    hear: ({ status }, now) => hear(status, now),
  };
}
