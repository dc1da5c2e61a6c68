import { eastAsianWidth } from 'get-east-asian-width';
import { graphemes } from './graphemes.js';

const plain = /^[\x20-\x7e]*$/;
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** The text in exactly so many columns: cut with an ellipsis, or filled with spaces at its end or its beginning. */
export function fit(text: string, width: number, align: 'left' | 'right'): string {
  const cut = textWidth(text) > width ? truncate(text, width) : text;
  const fill = ' '.repeat(Math.max(0, width - textWidth(cut)));
  return align === 'left' ? cut + fill : fill + cut;
}

/** The beginning of the text, with an ellipsis for what is cut off. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return '';
  let kept = '';
  let used = 1;
  for (const { segment } of graphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

function graphemeWidth(segment: string): number {
  if (emoji.test(segment)) return 2;
  const code = segment.codePointAt(0)!;
  if (code < 0x20 || /^\p{Mark}/u.test(segment)) return 0;
  return eastAsianWidth(code);
}
