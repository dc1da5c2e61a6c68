import { GpuHistory } from '../../model/gpu-history.js';
import type { WindowModel } from '../../model/window-model.js';
import type { FleetPort } from '../../state/port.js';
import { noFiles, type ScreenData } from '../screen.js';

/** Data of the GPU screen beyond the window's. */
export type GpuUse = {
  /** All runs by id, of any sweep. */
  readonly fleetRuns: FleetPort['runs'];
  /** Utilization of a GPU in percent, oldest first, five seconds apart. */
  readonly gpuUse: (index: number) => readonly (number | null)[];
};

/** Everything the screen is drawn from. */
export type GpuModel = GpuUse & Pick<WindowModel, 'status' | 'ui' | 'now'>;

/** Reads the screen's data. The supervisor sends only the present utilization; its history is collected here. */
export function gpuData(): ScreenData<'gpus', GpuUse> {
  const history = new GpuHistory();
  return {
    wanted: () => noFiles,
    read: ({ fleet }) => ({ fleetRuns: fleet.runs, gpuUse: history.of }),
    context: ({ body }) => ({ page: Math.max(1, body.height - 1) }),
    hear: ({ status }, now) => history.hear(status, now),
  };
}
