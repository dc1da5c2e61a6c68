import { Box } from 'ink';
import { ScreenCanvas, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Size } from '../../surface/surface.js';
import type { Line } from '../../surface/span.js';
import type { ScreenProps } from '../screen.js';
import { openModel, openScreen, type RunFiles } from './open-screen.js';

/** The selected run or group on the whole screen. */
export function RunScreen({ size, isSmall, read }: ScreenProps<RunFiles>) {
  const wheel = useWheel();
  return (
    <Box {...size} paddingX={isSmall ? 0 : 1}>
      <ScreenCanvas flexGrow={1} read={read} draw={draw} onPoint={wheel} />
    </Box>
  );
}

function draw(files: RunFiles, model: WindowModel, { width, height }: Size): Line[] {
  return openScreen(openModel(model, files), width, height);
}
