import { Box } from 'ink';
import { useCallback, useRef } from 'react';
import { ScreenCanvas, useModelSource, useWheel } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { OnDrag, Place, Size } from '../../surface/surface.js';
import type { Line } from '../../surface/span.js';
import type { ScreenProps } from '../screen.js';
import { openBoundary, openModel, openScreen, type RunFiles } from './open-screen.js';

/** The selected run or group on the whole screen. */
export function RunScreen({ size, isSmall, read }: ScreenProps<RunFiles>) {
  const wheel = useWheel();
  const drag = useBoundary(read);
  return (
    <Box {...size} paddingX={isSmall ? 0 : 1}>
      <ScreenCanvas flexGrow={1} read={read} draw={draw} onPoint={wheel} onDrag={drag} />
    </Box>
  );
}

function draw(files: RunFiles, model: WindowModel, { width, height }: Size): Line[] {
  return openScreen(openModel(model, files), width, height);
}

/** Drags the boundary below the charts by the row on which the panes below begin. */
function useBoundary(read: () => RunFiles | null): OnDrag {
  const source = useModelSource();
  /** Where the button was pressed, and the rows above the charts; null: not on the boundary. */
  const pressed = useRef<{ from: Place; above: number | null }>(null);
  return useCallback(
    ({ from, at, place }) => {
      if (pressed.current?.from !== from) {
        const files = read();
        const model = files === null ? null : openModel(source.model(), files);
        const boundary = model && openBoundary(model, place.right - place.left, place.bottom - place.top);
        pressed.current = { from, above: boundary?.row === from.row ? boundary.row - boundary.size : null };
      }
      const { above } = pressed.current;
      if (above !== null) source.resizePane('charts', at.row - above);
    },
    [source, read],
  );
}
