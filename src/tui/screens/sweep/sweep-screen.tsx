import { ScreenCanvas, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Size } from '../../surface/surface.js';
import type { Line } from '../../surface/span.js';
import type { ScreenProps } from '../screen.js';
import type { SweepOverview } from './sweep-overview.js';
import { sweepScreen } from './sweep-screen-lines.js';

export function SweepScreen({ size, read }: ScreenProps<SweepOverview>) {
  const wheel = useWheel();
  return <ScreenCanvas {...size} read={read} draw={draw} onPoint={wheel} />;
}

function draw(value: SweepOverview, model: WindowModel, { width, height }: Size): Line[] {
  return sweepScreen(value, model, width, height);
}
