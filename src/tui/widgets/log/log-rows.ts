import type { LogLine } from '../../../logs/log-file.js';
import { cellsOf, isSimple, textWidth } from '../../../text/display-width.js';

/** Maximum number of characters drawn of a line; the rest is only counted. */
const LONGEST = 4000;

/** A piece of a line that fills one row. `start`: its position in `shownText`. */
export type LogRow = { readonly text: string; readonly start: number };

/** Layout of a log. `width` and `height`: columns and rows of its text. */
export type LogRoom = { readonly width: number; readonly height: number; readonly wraps: boolean };

/** The drawn part of a line: without zero-width characters, cut at the maximum length. */
export function shownText({ text }: LogLine): string {
  const kept = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  const seen = isSimple(kept)
    ? kept
    : cellsOf(kept)
        .map(({ glyph }) => glyph)
        .join('');
  return text.length > LONGEST ? `${seen} …${(text.length - LONGEST).toLocaleString('en')} more characters` : seen;
}

/** The rows of a line: broken at spaces if there are any, or a single row for the drawer to cut. Never empty. */
export function rowsOf(line: LogLine, { width, wraps }: LogRoom): LogRow[] {
  const text = shownText(line);
  if (!wraps || width < 1 || textWidth(text) <= width) return [{ text, start: 0 }];
  return isSimple(text) ? simpleRows(text, width) : wideRows(text, width);
}

function simpleRows(text: string, width: number): LogRow[] {
  const rows: LogRow[] = [];
  for (let start = 0; start < text.length;) {
    const end = text.length - start <= width ? text.length : breakIn(text, start, start + width);
    rows.push({ text: text.slice(start, end), start });
    start = end;
  }
  return rows;
}

/** Where to break: after the last space if that leaves most of the row filled, otherwise at the end. */
function breakIn(text: string, start: number, end: number): number {
  const space = text.lastIndexOf(' ', end - 1) + 1;
  return space > start + (end - start) / 2 ? space : end;
}

function wideRows(text: string, width: number): LogRow[] {
  const rows: LogRow[] = [];
  let [start, at, used] = [0, 0, 0];
  for (const { glyph, width: columns } of cellsOf(text)) {
    if (used + columns > width && at > start) {
      const end = breakIn(text, start, at);
      rows.push({ text: text.slice(start, end), start });
      used = textWidth(text.slice(end, at));
      start = end;
    }
    at += glyph.length;
    used += columns;
  }
  return [...rows, { text: text.slice(start), start }];
}
