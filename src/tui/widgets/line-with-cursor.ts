import type { EditedLine } from '../state/line-editor.js';
import { textWidth } from '../../text/display-width.js';
import { columnsOf, fitLine, type Line, lineWidth, span } from '../surface/span.js';

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
