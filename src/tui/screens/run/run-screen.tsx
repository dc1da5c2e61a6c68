import { Box } from 'ink';
import { type DrawModel, ModelCanvas, useWheel } from '../../model/use-model.js';
import type { ScreenProps } from '../screen-props.js';
import { openScreen } from './open-screen.js';

/** The selected run or group with the window to itself. */
export function RunScreen({ size, isSmall }: ScreenProps) {
  const wheel = useWheel();
  return (
    <Box {...size} paddingX={isSmall ? 0 : 1}>
      <ModelCanvas flexGrow={1} draw={draw} onPoint={wheel} />
    </Box>
  );
}

const draw: DrawModel = (model, { width, height }) => openScreen(model, width, height);
