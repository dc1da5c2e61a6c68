import { columnsOfText, fit, fitRight, textWidth } from '../../text/display-width.js';
import type { PixelSize, Raster, Rgb } from './graphics/raster.js';

export { fit, fitRight };
export type { PixelSize, Raster, Rgb };

/** The bands of the curves, and that of curves in the background. */
export const bandNames = ['band0', 'band1', 'band2', 'band3', 'band4', 'band5', 'band6', 'band7', 'band'] as const;

/** What a piece of text means. Only `theme.ts` knows which colour that is. */
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
  // What a band is filled with where it has no background of its own.
  ...bandNames,
] as const;
export type Tone = (typeof tones)[number];

/** What a piece of text lies on. */
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
 * `link`: the path that a click in the terminal opens, where the terminal has links. `plot`: the span begins a row of a plot,
 * whose characters a terminal that can show pictures has a picture for.
 */
export type Span = {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Background;
  readonly link?: string;
  readonly plot?: { readonly of: PlotImage; readonly row: number };
};

/** A plot as a picture. `columns` and `rows`: the characters in whose place it is seen. The same object as long as it looks the same. */
export type PlotImage = {
  readonly columns: number;
  readonly rows: number;
  /** Draws it, on nothing, for characters of so many pixels, which need not be whole ones. */
  draw(cell: PixelSize, ink: (tone: Tone) => Rgb): Raster;
};

/** One row of the screen, or a part of one. */
export type Line = readonly Span[];

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** Columns a line fills. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + textWidth(text), 0);
}

/** The words of a line without their tones. */
export function plainText(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/** Exactly `width` columns of a line. */
export function fitLine(line: Line, width: number): Line {
  if (width <= 0) return [];
  const columns = lineWidth(line);
  if (columns <= width) return filled(line, width - columns);
  const kept = columnsOf(line, 0, width - 1);
  const last = kept.at(-1);
  return [...kept, last === undefined ? span('…') : { ...last, text: '…' }];
}

/** `left` and `right` at the two ends of a row of `width` columns; the left one gives way. */
export function ends(left: Line, right: Line, width: number): Line {
  const rightWidth = lineWidth(right);
  if (rightWidth >= width) return fitLine(right, width);
  return [...fitLine(left, width - rightWidth), ...right];
}

export function onBackground(line: Line, ground: Background): Line {
  return line.map((piece) => ({ ...piece, ground }));
}

export function blank(width: number): Line {
  return [span(' '.repeat(Math.max(0, width)))];
}

/** The part of a line from column `from` to before column `to`; half of a wide character is a space. */
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

/** With so many columns of space at its end. */
function filled(line: Line, missing: number): Line {
  return missing > 0 ? [...line, span(' '.repeat(missing))] : line;
}
