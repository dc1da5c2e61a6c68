import { cellsOf, isSimple, textWidth } from '../../text/display-width.js';
import { fit } from './span.js';

/** The text in at most `most` lines of at most `width` columns, broken at spaces where there are any; the last one is cut. */
export function wrap(text: string, width: number, most: number): string[] {
  if (width <= 0 || most <= 0) return [];
  const lines: string[] = [];
  let rest = isSimple(text) ? text : visible(text);
  while (textWidth(rest) > width && lines.length < most - 1) {
    const head = headOf(rest, width);
    const space = head.lastIndexOf(' ');
    const end = space > width / 2 ? space : head.length;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, textWidth(rest) > width ? fit(rest, width) : rest];
}

/** The longest beginning that fits; at least one character, so that wrapping always gets on. */
function headOf(text: string, width: number): string {
  let head = '';
  let used = 0;
  for (const cell of cellsOf(text)) {
    if (used + cell.width > width && head !== '') break;
    head += cell.glyph;
    used += cell.width;
  }
  return head;
}

/** The text without characters that are not drawn, so that what is cut off is what was seen. */
function visible(text: string): string {
  return cellsOf(text)
    .map(({ glyph }) => glyph)
    .join('');
}
