import type { LogLine } from '../../../logs/log-file.js';
import { cellsOf, isSimple, textWidth } from '../../../text/display-width.js';
import type { LogPlace } from '../../state/run-choice.js';

/** A row of the page: row `row` of line `index`. */
export type LogSpot = { readonly index: number; readonly row: number };

/** The row at the top of the pane for a position; null while the page has no lines. */
export function topOf(page: LogPage, place: LogPlace, room: LogRoom): LogSpot | null {
  if (page.lines.length === 0) return null;
  const last = endTop(page, room);
  const wanted = wantedTop(page, place, room);
  return wanted === null || isAfter(wanted, last) ? last : wanted;
}

/** The position some rows further down, or up if `rows` is negative; the end when it is reached. */
export function placeAfter(page: LogPage, top: LogSpot, rows: number, room: LogRoom): LogPlace {
  const moved = rows < 0 ? up(page, top, -rows, room) : down(page, top, rows, room);
  if (rows > 0 && isAtEnd(page) && !isAfter(endTop(page, room), moved)) return { kind: 'end' };
  return { kind: 'top', offset: page.lines[moved.index]!.offset, row: moved.row };
}

/** The top row for which the last row of the page is at the bottom. */
function endTop(page: LogPage, room: LogRoom): LogSpot {
  const index = page.lines.length - 1;
  const row = rowsOf(page.lines[index]!, room).length - 1;
  return up(page, { index, row }, room.height - 1, room);
}

/** The top row; null: the end. For a position that has not been read yet, the position for which the page was read. */
function wantedTop(page: LogPage, place: LogPlace, room: LogRoom): LogSpot | null {
  if (place.kind === 'end') return null;
  // The reason of a failure comes last, so most of the pane shows the lines before it.
  if (place.kind === 'opening')
    return page.failure === null ? null : above(page, page.failure, Math.floor(room.height * 0.7), room);
  const offset = place.offset >= page.from && place.offset < page.to ? place.offset : page.anchor;
  if (place.kind === 'around') return above(page, offset, Math.floor(room.height / 3), room);
  const index = lineAt(page, offset);
  return { index, row: Math.min(place.row, rowsOf(page.lines[index]!, room).length - 1) };
}

function above(page: LogPage, offset: number, rows: number, room: LogRoom): LogSpot {
  return up(page, { index: lineAt(page, offset), row: 0 }, rows, room);
}

function isAfter(a: LogSpot, b: LogSpot): boolean {
  return a.index > b.index || (a.index === b.index && a.row > b.row);
}

function up(page: LogPage, { index, row }: LogSpot, rows: number, room: LogRoom): LogSpot {
  let left = rows;
  while (left > row) {
    if (index === 0) return { index: 0, row: 0 };
    left -= row + 1;
    index -= 1;
    row = rowsOf(page.lines[index]!, room).length - 1;
  }
  return { index, row: row - left };
}

function down(page: LogPage, { index, row }: LogSpot, rows: number, room: LogRoom): LogSpot {
  let left = rows;
  for (;;) {
    const below = rowsOf(page.lines[index]!, room).length - 1 - row;
    if (left <= below) return { index, row: row + left };
    if (index === page.lines.length - 1) return { index, row: row + below };
    left -= below + 1;
    index += 1;
    row = 0;
  }
}

/** The part of a log that is in memory. */
export type LogPage = {
  /** Size of the whole log in bytes. */
  readonly size: number;
  /** Byte range of `lines`, from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly LogLine[];
  /** Number of the first line, from 1; null if it was not reached from the start of the log. */
  readonly firstNumber: number | null;
  /** Start of the line that gives the reason of the failure; null: none is known. */
  readonly failure: number | null;
  /** The position for which this part was read first. */
  readonly anchor: number;
};

/** Index of the line that contains the byte `offset`, or of the nearest line if it is outside. -1 without lines. */
export function lineAt({ lines }: LogPage, offset: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.offset <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(Math.min(0, lines.length - 1), low - 1);
}

/** Whether the page reaches the end of the log. */
export function isAtEnd({ to, size }: LogPage): boolean {
  return to >= size;
}

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
