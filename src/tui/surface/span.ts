import { columnsOfText, fit, fitRight, textWidth } from '../../text/display-width.js';
import type { PixelSize, Raster, Rgb } from './graphics/raster.js';

export { fit, fitRight };
export type { PixelSize, Raster, Rgb };

/** Names of bands: one per curve, and one for curves in the background. */
export const bandNames = ['band0', 'band1', 'band2', 'band3', 'band4', 'band5', 'band6', 'band7', 'band'] as const;

/** Meanings of text. Only `theme.ts` knows their colours. */
export const tones = [
  'plain',
  'strong',
  'dim',
  'faint',
  'title',
  'accent',
  'good',
  'bad',
  'warn',
  'busy',
  'wait',
  'value',
  'spark',
  'key',
  'curve0',
  'curve1',
  'curve2',
  'curve3',
  'curve4',
  'curve5',
  'curve6',
  'curve7',
  // Fillings of bands without a background of their own.
  ...bandNames,
] as const;
export type Tone = (typeof tones)[number];

/** Backgrounds of text. */
export const backgrounds = [
  'none',
  'selected',
  'raised',
  'alarm',
  // A ramp from low to high.
  'heat0',
  'heat1',
  'heat2',
  'heat3',
  'heat4',
  'heat5',
  'heat6',
  ...bandNames,
] as const;
export type Background = (typeof backgrounds)[number];

/**
 * A piece of text with one look. `link`: the path that a click opens, if the terminal supports links. `plot`: the span begins a row
 * of a plot, which a terminal with pictures shows as a picture instead.
 */
export type Span = {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Background;
  readonly link?: string;
  readonly plot?: { readonly of: PlotImage; readonly row: number };
};

/** A plot as a picture. `columns` and `rows`: size of the characters that it replaces. The same object while it looks the same. */
export type PlotImage = {
  readonly columns: number;
  readonly rows: number;
  /** Draws the plot on a transparent background, for characters of the given pixel size, which need not be integral. */
  draw(cell: PixelSize, ink: (tone: Tone) => Rgb): Raster;
};

/** One row of the screen, or a part of one. */
export type Line = readonly Span[];

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** Number of columns of a line. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + textWidth(text), 0);
}

/** The text of a line without tones. */
export function plainText(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/** Whether two lines look the same. */
export function areSame(a: Line, b: Line): boolean {
  return a === b || (a.length === b.length && a.every((each, index) => isSameSpan(each, b[index]!)));
}

function isSameSpan(a: Span, b: Span): boolean {
  return a === b || (a.text === b.text && a.tone === b.tone && a.ground === b.ground && a.link === b.link);
}

/** Fits a line to exactly `width` columns. */
export function fitLine(line: Line, width: number): Line {
  if (width <= 0) return [];
  const columns = lineWidth(line);
  if (columns <= width) return filled(line, width - columns);
  const kept = columnsOf(line, 0, width - 1);
  const last = kept.at(-1);
  return [...kept, last === undefined ? span('…') : { ...last, text: '…' }];
}

/** Fits a line to exactly `width` columns, with spaces on the left. */
export function fitLineRight(line: Line, width: number): Line {
  const missing = width - lineWidth(line);
  return missing > 0 ? [span(' '.repeat(missing)), ...line] : fitLine(line, width);
}

/** `left` and `right` at the two ends of a row of `width` columns; the left one is cut if necessary. */
export function ends(left: Line, right: Line, width: number): Line {
  const rightWidth = lineWidth(right);
  if (rightWidth >= width) return fitLine(right, width);
  return [...fitLine(left, width - rightWidth), ...right];
}

export function onBackground(line: Line, ground: Background): Line {
  return line.map((piece) => ({ ...piece, ground }));
}

/** The part of a line from column `from` to before column `to`; half of a wide character becomes a space. */
export function columnsOf(line: Line, from: number, to: number): Line {
  const kept: Span[] = [];
  let column = 0;
  for (const piece of line) {
    const width = textWidth(piece.text);
    if (column + width > from && column < to) {
      kept.push({
        ...piece,
        text: columnsOfText(piece.text, Math.max(0, from - column), Math.min(width, to - column)),
      });
    }
    column += width;
  }
  return filled(kept, to - from - lineWidth(kept));
}

/** The line with `missing` columns of space at its end. */
function filled(line: Line, missing: number): Line {
  return missing > 0 ? [...line, span(' '.repeat(missing))] : line;
}

/** Columns between two tiles. */
export const tileGap = 2;

/** Tiles of equal size in one row of a pane. `size`: of each tile. */
export function sideBySide(tiles: readonly (readonly Line[])[], size: { width: number; height: number }): Line[] {
  return Array.from({ length: size.height }, (_, row): Line =>
    tiles.flatMap((lines, column) => [
      ...(column > 0 ? [span(' '.repeat(tileGap))] : []),
      ...fitLine(lines[row] ?? [], size.width),
    ]),
  );
}

/** The width of each of several tiles in a row of `width` columns. */
export function tileWidth(width: number, tiles: number): number {
  return Math.floor((width - tileGap * (tiles - 1)) / tiles);
}
