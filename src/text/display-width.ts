import { eastAsianWidth } from 'get-east-asian-width';
import { lazy } from '../base/lazy.js';

/** One glyph as the terminal shows it: a base character with its marks, one or two columns wide. */
type Cell = { readonly glyph: string; readonly width: 1 | 2 };

/**
 * Ranges of characters that fill one column in every terminal and are one UTF-16 unit each: ASCII, Latin, dashes and dots, arrows,
 * lines and blocks, check marks, braille. By first and last code, ascending.
 */
const oneColumnEach = [
  [0x20, 0x7e],
  [0xa1, 0xac],
  [0xae, 0x2ff],
  [0x2010, 0x2027],
  [0x2190, 0x21ff],
  [0x2500, 0x25f7],
  [0x2713, 0x2713],
  [0x2717, 0x2717],
  [0x2800, 0x28ff],
] as const;
/** The same ranges as a table, as it is read for every character of every frame. */
const isOneColumn = new Uint8Array(0x1_0000);
for (const [first, last] of oneColumnEach) isOneColumn.fill(1, first, last + 1);
const mark = /^[\p{Mn}\p{Me}]$/u;
const invisible = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u;
const zeroWidthJoiner = '\u200d';
const emojiStyle = '\ufe0f';
/** Limit on combining marks per character: more than any language uses would overwrite the lines above and below. */
const mostMarks = 3;

/** Whether each UTF-16 unit of the text is one column, so that the text can be cut and measured by index. */
export function isSimple(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (isOneColumn[text.charCodeAt(index)] === 0) return false;
  return true;
}

/** Number of columns that the text fills. */
export function textWidth(text: string): number {
  return isSimple(text) ? text.length : cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}

/**
 * The text as cells, left to right. Control characters and invisible ones are left out.
 *
 * Terminals disagree on joined emoji, so of a joined sequence only the first picture is kept: it looks the same everywhere.
 */
export function cellsOf(text: string): Cell[] {
  if (isSimple(text)) return [...text].map((glyph) => ({ glyph, width: 1 }));
  return [...graphemes(text)].flatMap(({ segment }) => clusterCells(segment));
}

function clusterCells(cluster: string): Cell[] {
  const cells: { glyph: string; width: 1 | 2; marks: number }[] = [];
  for (const character of cluster) {
    const last = cells.at(-1);
    if (character === zeroWidthJoiner || (last !== undefined && /^\p{Emoji_Modifier}$/u.test(character))) break;
    if (mark.test(character)) {
      if (last === undefined) continue;
      if (character === emojiStyle) last.width = 2;
      else if (last.marks++ >= mostMarks) continue;
      last.glyph += character;
    } else if (!invisible.test(character)) {
      cells.push({ glyph: character, width: eastAsianWidth(character.codePointAt(0)!), marks: 0 });
    }
  }
  return cells.map(({ glyph, width }) => ({ glyph, width }));
}

/** Created on first use, as that takes longer than anything else at the start of a window, and few texts need it. */
const segmenter = lazy(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** The characters of a text as a reader sees them, in order. */
export function graphemes(text: string): Iterable<{ readonly segment: string; readonly index: number }> {
  return segmenter().segment(text);
}

/** Exactly `width` columns: cut with an ellipsis, or filled with spaces. */
export function fit(text: string, width: number): string {
  if (width <= 0) return '';
  const columns = textWidth(text);
  if (columns <= width) return text + ' '.repeat(width - columns);
  return `${columnsOfText(text, 0, width - 1)}…`;
}

/** Like `fit`, with the spaces on the left. */
export function fitRight(text: string, width: number): string {
  const columns = textWidth(text);
  return columns < width ? ' '.repeat(width - columns) + text : fit(text, width);
}

/** The part of a text from column `from` to before column `to`; half of a wide character is a space. */
export function columnsOfText(text: string, from: number, to: number): string {
  if (isSimple(text)) return text.slice(from, to);
  let kept = '';
  let column = 0;
  for (const { glyph, width } of cellsOf(text)) {
    const [start, stop] = [Math.max(from, column), Math.min(to, column + width)];
    if (stop > start) kept += stop - start === width ? glyph : ' ';
    column += width;
  }
  return kept;
}

/** The beginning of the text, with an ellipsis for what is cut off. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 1;
  for (const { glyph, width: columns } of cellsOf(text)) {
    used += columns;
    if (used > width) break;
    kept += glyph;
  }
  return `${kept}…`;
}
