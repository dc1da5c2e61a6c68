import { ScreenCanvas, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Size } from '../../surface/surface.js';
import type { Line } from '../../surface/span.js';
import type { ScreenProps } from '../screen.js';
import type { Comparison } from './comparison.js';
import { compareScreen } from './compare-screen-lines.js';

export function CompareScreen({ size, read }: ScreenProps<Comparison>) {
  const wheel = useWheel();
  return <ScreenCanvas {...size} read={read} draw={draw} onPoint={wheel} />;
}

function draw(value: Comparison, model: WindowModel, { width, height }: Size): Line[] {
  return compareScreen(value, model, width, height);
}
