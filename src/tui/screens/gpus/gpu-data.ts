import { GpuHistory } from '../../model/gpu-history.js';
import type { WindowModel } from '../../model/window-model.js';
import type { FleetPort } from '../../state/port.js';
import { noFiles, type ScreenData } from '../screen.js';

/** What the screen of GPUs shows besides what the whole window knows. */
export type GpuUse = {
  /** All runs by their ids, whatever sweep they belong to. */
  readonly fleetRuns: FleetPort['runs'];
  /** How busy a GPU was: percent, oldest first, five seconds apart. */
  readonly gpuUse: (index: number) => readonly (number | null)[];
};

/** Everything the screen is drawn from. */
export type GpuModel = GpuUse & Pick<WindowModel, 'status' | 'ui' | 'now'>;

/** The supervisor tells how busy a GPU is now; how busy it was is known from what has been heard. */
export function gpuData(): ScreenData<'gpus', GpuUse> {
  const history = new GpuHistory();
  return {
    wanted: () => noFiles,
    read: ({ fleet }) => ({ fleetRuns: fleet.runs, gpuUse: history.of }),
    context: ({ body }) => ({ page: Math.max(1, body.height - 1) }),
    hear: ({ status }, now) => history.hear(status, now),
  };
}
