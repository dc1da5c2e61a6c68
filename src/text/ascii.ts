import { cellsOf, isSimple } from './display-width.js';

/** What stands for each of our own characters where only ASCII can be shown. Each is one column, as the original. */
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

/** The same text in printable ASCII, column for column; what has no stand-in becomes `?`. */
export function toAscii(text: string): string {
  // A sign that needs two columns takes the space beside it.
  const spaced = text.replace(
    / ([±≤≥])(?=\S)|([±≤≥]) /g,
    (_, after: string, before: string) => inTwo[after || before]!,
  );
  if (isSimple(spaced)) return spaced.replace(/[^ -~]/g, standFor);
  return cellsOf(spaced)
    .map(({ glyph, width }) => standFor(glyph).padEnd(width, '?'))
    .join('');
}

/** Where columns do not matter, these are said in more than one. */
const spelt: Readonly<Record<string, string>> = { '∞': 'inf', '±': '+-', '²': '^2', '∝': '~', '†': '+' };

/** A line in ASCII, as long as it takes. What has no substitute becomes `?`. */
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

/** A cell of the chart by the heights at which it has dots: top, upper middle, lower middle, bottom. */
function brailleStand(dots: number): string {
  if (dots === 0) return ' ';
  const rows = [0x09, 0x12, 0x24, 0xc0].map((mask) => (dots & mask) !== 0);
  if (rows.filter(Boolean).length >= 3) return '|';
  if (rows[0] && rows[3]) return '|';
  if (rows[0]) return rows[1] ? '"' : "'";
  if (rows[3]) return rows[2] ? ':' : '_';
  return '-';
}

/** A letter with an accent loses it; anything else is unknown. */
function withoutAccent(glyph: string): string {
  const base = glyph.normalize('NFD')[0]!;
  return base < '\u0080' ? base : '?';
}
