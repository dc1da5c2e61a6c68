import { cellsOf, fit, isSimple, textWidth } from './display-width.js';

/** Wraps a sentence at blanks; lines after the first are indented. A word is never cut. */
export function wrap(text: string, width: number, indent = '  '): string[] {
  return packed(
    text.split(/\s+/).filter((word) => word !== ''),
    width,
    indent,
  );
}

/** Wraps shell words into lines of at most `width` columns, joined by backslashes into one command. */
export function wrapCommand(words: readonly string[], width: number): string[] {
  const lines = packed(words, width - 2, '');
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}

/** Packs words into lines. A word that is wider than a line gets a line of its own. */
function packed(words: readonly string[], width: number, indent: string): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    if (last === undefined) lines.push(word);
    else if (textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(indent + word);
  }
  return lines;
}

/** Wraps a text into at most `most` lines of at most `width` columns, at spaces where there are any; the last line is cut. */
export function wrapWithin(text: string, width: number, most: number): string[] {
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

/** The longest beginning that fits; at least one character, so that wrapping always ends. */
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

/** The text without characters that are not drawn, so that cutting it only removes visible ones. */
function visible(text: string): string {
  return cellsOf(text)
    .map(({ glyph }) => glyph)
    .join('');
}
