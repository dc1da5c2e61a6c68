/**
 * Draws the screen of a terminal emulator as SVG, and that as PNG.
 *
 * Text is text; blocks, braille dots and box lines are drawn as shapes, so that no font leaves gaps between them.
 */
import { Resvg } from '@resvg/resvg-js';

const cell = { width: 9, height: 20 };
const margin = { side: 14, top: 38, bottom: 14 };
const ground = '#16181f';
const ink = '#d7dae0';
const font = 'DejaVu Sans Mono, Menlo, Consolas, monospace';
const basicColours = [
  ...['#1d1f28', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  ...['#5c6370', '#ff7a85', '#b5e890', '#ffd787', '#82c4ff', '#e2a0ff', '#7fe0ea', '#ffffff'],
];
const cube = [0, 95, 135, 175, 215, 255];
/** Bit, column and row of each braille dot. */
const dots = [
  [0x01, 0, 0],
  [0x02, 0, 1],
  [0x04, 0, 2],
  [0x08, 1, 0],
  [0x10, 1, 1],
  [0x20, 1, 2],
  [0x40, 0, 3],
  [0x80, 1, 3],
];
/** Arms of box-drawing characters: left, right, up, down; capitals are heavy. */
const arms = {
  ...{ '─': 'lr', '│': 'ud', '┌': 'rd', '┐': 'ld', '└': 'ru', '┘': 'lu', '├': 'rud', '┤': 'lud' },
  ...{ '┬': 'lrd', '┴': 'lru', '┼': 'lrud', '╭': 'rd', '╮': 'ld', '╰': 'ru', '╯': 'lu', '━': 'LR', '╸': 'L', '╺': 'R' },
};

/** The screen as an SVG document. `title`: shown in the window's bar. */
export function terminalSvg(screen, title) {
  const width = screen.cols * cell.width + 2 * margin.side;
  const height = screen.rows * cell.height + margin.top + margin.bottom;
  const backs = [];
  const fronts = [];
  const buffer = screen.buffer.active;
  for (let row = 0; row < screen.rows; row++) {
    const line = buffer.getLine(buffer.viewportY + row);
    for (let column = 0; column < screen.cols; column++) {
      const shown = line?.getCell(column);
      if (shown !== undefined && shown.getWidth() > 0) drawCell(shown, placeOf(column, row), { backs, fronts });
    }
  }
  const lights = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, index) => `<circle cx="${20 + 20 * index}" cy="19" r="6" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" rx="10" fill="${ground}"/>${lights.join('')}`,
    `<text x="${width / 2}" y="24" fill="#7b8191" font-family="${font}" font-size="13" text-anchor="middle">${escaped(title)}</text>`,
    `<g font-family="${font}" font-size="14.9" xml:space="preserve">`,
    ...backs,
    ...fronts,
    '</g></svg>',
  ].join('\n');
}

/** `zoom`: pixels per unit of the SVG. */
export function svgToPng(svg, zoom = 1.5) {
  const options = {
    fitTo: { mode: 'zoom', value: zoom },
    font: { loadSystemFonts: true, defaultFontFamily: 'DejaVu Sans Mono' },
  };
  return new Resvg(svg, options).render().asPng();
}

function placeOf(column, row) {
  return { x: margin.side + column * cell.width, y: margin.top + row * cell.height };
}

function drawCell(shown, place, { backs, fronts }) {
  const { front, back } = coloursOf(shown);
  if (back !== null) {
    backs.push(rectangle(place.x, place.y, shown.getWidth() * cell.width + 0.3, cell.height + 0.3, back));
  }
  const text = shown.getChars();
  if (text !== '' && text !== ' ') fronts.push(glyph(text, place, front, shown));
}

function coloursOf(shown) {
  const front = shown.isFgDefault() ? ink : colour(shown.getFgColor(), shown.isFgRGB());
  const back = shown.isBgDefault() ? null : colour(shown.getBgColor(), shown.isBgRGB());
  return shown.isInverse() ? { front: back ?? ground, back: front } : { front, back };
}

function colour(value, isRgb) {
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`;
  if (value < 16) return basicColours[value];
  if (value >= 232) return `rgb(${Array(3).fill(8 + (value - 232) * 10)})`;
  const index = value - 16;
  return `rgb(${[Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((level) => cube[level])})`;
}

function glyph(text, { x, y }, fill, shown) {
  const code = text.codePointAt(0);
  if (code >= 0x2800 && code <= 0x28ff) return braille(code - 0x2800, x, y, fill);
  if (code >= 0x2581 && code <= 0x2588) {
    const height = ((code - 0x2580) / 8) * cell.height;
    return rectangle(x, y + cell.height - height, cell.width + 0.3, height, fill);
  }
  if (code >= 0x2589 && code <= 0x258f) {
    return rectangle(x, y, ((0x2590 - code) / 8) * cell.width, cell.height, fill);
  }
  if (arms[text] !== undefined) return box(arms[text], x, y, fill);
  const weight = shown.isBold() ? ' font-weight="bold"' : '';
  const opacity = shown.isDim() ? ' opacity="0.6"' : '';
  return `<text x="${x}" y="${round(y + cell.height * 0.74)}" fill="${fill}"${weight}${opacity}>${escaped(text)}</text>`;
}

function braille(bits, x, y, fill) {
  return dots
    .filter(([bit]) => (bits & bit) !== 0)
    .map(([, column, row]) => {
      const [cx, cy] = [x + cell.width * (0.25 + 0.5 * column), y + cell.height * (0.125 + 0.25 * row)];
      return `<circle cx="${round(cx)}" cy="${round(cy)}" r="1.55" fill="${fill}"/>`;
    })
    .join('');
}

function box(directions, x, y, stroke) {
  const [middle, centre] = [x + cell.width / 2, y + cell.height / 2];
  const ends = {
    l: `M${x} ${centre}H${middle}`,
    r: `M${middle} ${centre}H${x + cell.width}`,
    u: `M${middle} ${y}V${centre}`,
    d: `M${middle} ${centre}V${y + cell.height}`,
  };
  const path = [...directions].map((direction) => ends[direction.toLowerCase()]).join('');
  const width = /[A-Z]/.test(directions) ? 3.2 : 1.3;
  return `<path d="${path}" stroke="${stroke}" stroke-width="${width}" fill="none"/>`;
}

function rectangle(x, y, width, height, fill) {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${fill}"/>`;
}

function round(value) {
  return Number(value.toFixed(2));
}

function escaped(text) {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);
}
