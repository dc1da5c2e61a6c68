import { Box } from 'ink';
import type { EditedLine } from '../state/line-editor.js';
import type { Size } from '../surface/surface.js';
import { lineWithCursor } from './line-with-cursor.js';
import { fitLine, type Line, lineWidth, span } from '../surface/span.js';
import { Spans } from './text.js';

type Props = {
  /** Of the whole screen; a small one has one row below its screens, not two. */
  readonly size: Size;
  readonly isSmall: boolean;
  readonly line: EditedLine;
  /** What there is to say of it; left out where the line needs the room. */
  readonly right: Line;
  /** Why Enter did not take it; null: nothing is wrong. */
  readonly problem: Line | null;
};

/** What stands before the text. */
export const promptSign = ' / ';

/** A line that is typed in the row of messages. What is wrong with it takes the row of keys, or the row above where there is none. */
export function Prompt({ size, isSmall, line, right, problem }: Props) {
  const { width, height } = size;
  const room = lineWidth(right) > width / 2 ? [] : right;
  const field = lineWithCursor(line, width - lineWidth(room) - promptSign.length);
  const row = height - (isSmall ? 1 : 2);
  return (
    <Box position="absolute" {...size}>
      <Box position="absolute" marginTop={row} width={width}>
        <Spans line={[span(promptSign, 'title'), ...field, ...room]} />
      </Box>
      {problem !== null && (
        <Box position="absolute" marginTop={isSmall ? row - 1 : row + 1} width={width}>
          <Spans line={fitLine(problem, width)} />
        </Box>
      )}
    </Box>
  );
}
