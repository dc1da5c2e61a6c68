import { ScreenCanvas, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Size } from '../../surface/surface.js';
import type { Line } from '../../surface/span.js';
import type { ScreenProps } from '../screen.js';
import type { GpuUse } from './gpu-data.js';
import { gpuScreen } from './gpu-screen-lines.js';

export function GpuScreen({ size, read }: ScreenProps<GpuUse>) {
  const wheel = useWheel();
  return <ScreenCanvas {...size} read={read} draw={draw} onPoint={wheel} />;
}

function draw(value: GpuUse, model: WindowModel, { width, height }: Size): Line[] {
  return gpuScreen({ ...value, status: model.status, ui: model.ui, now: model.now }, width, height);
}
