import { Box } from 'ink';
import { cleanText } from '../../../text/display-text.js';
import { ScreenCanvas, useModel } from '../../model/use-model.js';
import { runReason } from '../../model/run-reason.js';
import { runLook } from '../../model/state-look.js';
import type { WindowModel } from '../../model/window-model.js';
import type { Size } from '../../surface/surface.js';
import { type Line, span } from '../../surface/span.js';
import { logSection } from '../../widgets/log/log-section.js';
import { inFocus, sectionRule } from '../../widgets/section.js';
import type { ScreenProps } from '../screen.js';
import { mostTiles } from './keys.js';
import type { LogTile } from './logs-reader.js';

/** Least columns of a log beside another one. */
const leastWidth = 50;

/** The ends of several logs, two beside each other where there is room. */
export function LogsScreen({ size, read }: ScreenProps<readonly LogTile[]>) {
  const count = useModel(({ ui }) => (ui.screen.kind === 'logs' ? ui.screen.runs.length : 0));
  const columns = count > 1 && size.width >= 2 * leastWidth + 1 ? 2 : 1;
  const rows = Math.ceil(count / columns);
  return (
    <Box {...size} flexDirection="column">
      {Array.from({ length: rows }, (_, row) => (
        <Box key={row} height={share(size.height, rows, row)} flexDirection="row" columnGap={1} flexShrink={0}>
          {tiles.slice(row * columns, Math.min(count, (row + 1) * columns)).map((draw, column) => {
            const beside = Math.min(columns, count - row * columns);
            const width = share(size.width - (beside - 1), beside, column);
            return (
              <ScreenCanvas key={column} width={width} height={share(size.height, rows, row)} {...{ read, draw }} />
            );
          })}
        </Box>
      ))}
    </Box>
  );
}

/** The whole cells of one of several equal parts; the first ones have the rest. */
function share(total: number, parts: number, index: number): number {
  return Math.floor(total / parts) + (index < total % parts ? 1 : 0);
}

type DrawTile = (value: readonly LogTile[], model: WindowModel, size: Size) => Line[];

/** The same functions whenever the screen is rendered, as a canvas is drawn again by another one. */
const tiles = Array.from({ length: mostTiles }, (_, index): DrawTile => (value, model, size) => {
  const tile = value[index];
  return tile === undefined ? [] : tileLines(tile, model, size);
});

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
