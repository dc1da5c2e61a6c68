import { Box } from 'ink';
import { useCallback } from 'react';
import { cleanText } from '../../../text/display-text.js';
import { runLook, runReason } from '../../model/state-look.js';
import { type DrawModel, ModelCanvas, useModelSource, useScreen } from '../../model/use-model.js';
import type { WindowModel } from '../../model/window-model.js';
import type { RunSummary } from '../../state/port.js';
import { type Line, span } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import { logSection } from '../../widgets/log/log-pane.js';
import { inFocus, sectionRule } from '../../widgets/line-parts.js';
import type { ScreenProps } from '../screen.js';

/** One of the logs shown side by side. `isChosen`: the cursor is on it. */
export type LogTile = { readonly run: RunSummary; readonly lines: readonly string[]; readonly isChosen: boolean };

/** Least columns of a log beside another one. */
const leastWidth = 50;

/** The ends of several logs, two beside each other where there is room. */
export function LogsScreen({ size }: ScreenProps) {
  const count = useScreen('logs').runs.length;
  const columns = count > 1 && size.width >= 2 * leastWidth + 1 ? 2 : 1;
  const rows = Math.ceil(count / columns);
  return (
    <Box {...size} flexDirection="column">
      {Array.from({ length: rows }, (_, row) => {
        const height = share(size.height, rows, row);
        const beside = Math.min(columns, count - row * columns);
        return (
          <Box key={row} height={height} columnGap={1} flexShrink={0}>
            {Array.from({ length: beside }, (_, column) => {
              const width = share(size.width - (beside - 1), beside, column);
              return <Tile key={column} index={row * columns + column} {...{ width, height }} />;
            })}
          </Box>
        );
      })}
    </Box>
  );
}

/** One log. Drawn on a canvas, as all logs are. */
function Tile({ index, ...size }: Size & { readonly index: number }) {
  const source = useModelSource();
  const draw = useCallback<DrawModel>(
    (model, room) => {
      const tile = (source.screenData('logs') as readonly LogTile[] | null)?.[index];
      return tile === undefined ? [] : tileLines(tile, model, room);
    },
    [source, index],
  );
  return <ModelCanvas {...size} flexShrink={0} draw={draw} />;
}

/** The whole cells of one of several equal parts; the first ones have the rest. */
function share(total: number, parts: number, index: number): number {
  return Math.floor(total / parts) + (index < total % parts ? 1 : 0);
}

function tileLines({ run, lines, isChosen }: LogTile, { now, ui }: WindowModel, { width, height }: Size): Line[] {
  const { glyph, tone } = runLook(run);
  const reason = runReason(run, now);
  const rule = sectionRule(
    `${glyph} ${cleanText(run.name)}`,
    reason === null ? [span(run.state, tone)] : [span(reason.text, reason.tone)],
    width,
  );
  return [
    isChosen ? inFocus(rule) : rule,
    ...logSection(lines, { offset: 0, wraps: ui.log.wraps }, width, height).slice(1),
  ];
}
