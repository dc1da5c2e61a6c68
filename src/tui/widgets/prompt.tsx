import { Box } from 'ink';
import { textWidth } from '../../text/display-width.js';
import type { EditedLine } from '../state/line-editor.js';
import { columnsOf, fitLine, type Line, lineWidth, span } from '../surface/span.js';
import type { Size } from '../surface/surface.js';
import { Spans } from './text.js';

type Props = {
  /** Size of the whole screen. A small one has one row below its screens instead of two. */
  readonly size: Size;
  readonly isSmall: boolean;
  readonly line: EditedLine;
  /** A remark at the right; left out if the line needs the room. */
  readonly right: Line;
  /** Why Enter was refused; null: nothing is wrong. */
  readonly problem: Line | null;
};

/** Prefix of the text. */
export const promptSign = ' / ';

/** A line typed in the row of messages. A problem is shown in the row of keys, or in the row above if there is none. */
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

type FieldProps = { readonly line: EditedLine; readonly width: number };

/** A line of text being typed, with its cursor visible. */
export function TextField({ line, width }: FieldProps) {
  return <Spans line={lineWithCursor(line, width)} />;
}

const cursor = '▏';

/** Exactly `width` columns of a line being typed, scrolled so that the cursor is visible. */
export function lineWithCursor({ text, at }: EditedLine, width: number): Line {
  if (width <= 0) return [];
  const before = text.slice(0, at);
  const line = [span(before, 'strong'), span(cursor, 'accent'), span(text.slice(at), 'strong')];
  if (lineWidth(line) <= width) return fitLine(line, width);
  // Up to a third of the room is kept for the text after the cursor.
  const following = Math.min(textWidth(text.slice(at)), Math.floor(width / 3));
  const from = Math.max(0, textWidth(before) + textWidth(cursor) + following - width);
  return columnsOf(line, from, from + width);
}
