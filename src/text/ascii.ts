import { cellsOf, isSimple } from './display-width.js';

/** ASCII substitutes of the non-ASCII characters that the program draws. Each fills one column, as the original does. */
const stands: Record<string, string> = {
  '○': '.',
  '◐': '+',
  '●': '*',
  '◑': '%',
  '◫': '=',
  '✓': 'v',
  '✗': 'x',
  '■': '#',
  '‖': 'h',
  '★': '*',
  '◆': '*',
  '◇': '+',
  '•': 'o',
  '━': '=',
  '═': '#',
  '╸': '-',
  '╌': '-',
  '┃': '|',
  '▏': '|',
  '░': ':',
  '─': '-',
  '│': '|',
  '┤': '|',
  '┬': '+',
  '├': '|',
  '┼': '+',
  '└': '+',
  '┘': '+',
  '┌': '+',
  '┐': '+',
  '╭': '+',
  '╮': '+',
  '╰': '+',
  '╯': '+',
  '▸': '>',
  '▾': '-',
  '…': '~',
  '·': '-',
  '±': '~',
  '°': 'o',
  '²': '2',
  '×': 'x',
  '▲': '^',
  '▼': 'v',
  '▶': '>',
  '◀': '<',
  '↑': '^',
  '↓': 'v',
  '←': '<',
  '→': '>',
  '›': '>',
  '⏎': '>',
  '≥': '>',
  '≤': '<',
  '–': '-',
  '—': '-',
  '’': "'",
  '“': '"',
  '”': '"',
};
const inTwo: Readonly<Record<string, string>> = { '±': '+-', '≤': '<=', '≥': '>=' };
const levels = '▁▂▃▄▅▆▇█';
const levelStands = '_.,-~+*#';

/** The same text in printable ASCII, column for column; a character without a substitute becomes `?`. */
export function toAscii(text: string): string {
  // A substitute of two columns replaces a space beside the character as well.
  const spaced = text.replace(
    / ([±≤≥])(?=\S)|([±≤≥]) /g,
    (_, after: string, before: string) => inTwo[after || before]!,
  );
  if (isSimple(spaced)) return spaced.replace(/[^ -~]/g, standFor);
  return cellsOf(spaced)
    .map(({ glyph, width }) => standFor(glyph).padEnd(width, '?'))
    .join('');
}

/** Longer substitutes, for text without columns. */
const spelt: Readonly<Record<string, string>> = { '∞': 'inf', '±': '+-', '²': '^2', '∝': '~', '†': '+' };

/** A line in ASCII, of any length. A character without a substitute becomes `?`. */
export function plainAscii(line: string): string {
  return line.replace(/[^\x20-\x7e]/gu, (character) => spelt[character] ?? standFor(character));
}

function standFor(glyph: string): string {
  const code = glyph.codePointAt(0)!;
  if (code < 0x80) return glyph[0]!;
  if (code >= 0x2800 && code <= 0x28ff) return brailleStand(code - 0x2800);
  const level = levels.indexOf(glyph);
  return level >= 0 ? levelStands[level]! : (stands[glyph] ?? withoutAccent(glyph));
}

/** The substitute of a braille cell by the heights of its dots: top, upper middle, lower middle, bottom. */
function brailleStand(dots: number): string {
  if (dots === 0) return ' ';
  const rows = [0x09, 0x12, 0x24, 0xc0].map((mask) => (dots & mask) !== 0);
  if (rows.filter(Boolean).length >= 3) return '|';
  if (rows[0] && rows[3]) return '|';
  if (rows[0]) return rows[1] ? '"' : "'";
  if (rows[3]) return rows[2] ? ':' : '_';
  return '-';
}

/** The base letter of an accented one; `?` for anything else. */
function withoutAccent(glyph: string): string {
  const base = glyph.normalize('NFD')[0]!;
  return base < '\u0080' ? base : '?';
}
