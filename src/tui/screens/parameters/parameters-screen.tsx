import { Memoized } from '../../../base/memoize.js';
import { ScreenCanvas, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Line } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import type { ScreenProps } from '../screen.js';
import { type ParametersFacts, parametersScreen } from './parameters-screen-lines.js';

export function ParametersScreen({ size, read }: ScreenProps<ParametersFacts>) {
  const wheel = useWheel();
  return <ScreenCanvas {...size} read={read} draw={draw} onPoint={wheel} />;
}

/** Cached, so that a picture of thousands of lines is not redrawn while nothing changes. */
const drawn = new Memoized<readonly Line[]>();

function draw(facts: ParametersFacts, { ui: { screen } }: WindowModel, { width, height }: Size): readonly Line[] {
  if (screen.kind !== 'parameters') return [];
  return drawn.value([facts, screen, width, height], () => parametersScreen(facts, screen, { width, height }));
}
