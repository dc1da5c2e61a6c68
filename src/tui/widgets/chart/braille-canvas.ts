import { type Background, type Line, span, type Span, type Tone } from '../../surface/span.js';

/** Bits of the eight dots of a braille character, by row and column of the dot. */
const dotBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;

/** A position among the dots, from the top left; it may be outside the picture and between two rows. */
type Dot = { readonly column: number; readonly row: number };

/** Characters shown where nothing is drawn: a vertical rule in one column. */
type Rule = { readonly column: number; readonly glyph: string; readonly tone: Tone };

/** Tone and background of the band around a line, which have the same names. */
type Band = Extract<Tone, Background>;

const curveTone = /^curve(\d)$/;

function bandOf(tone: Tone): Band {
  return tone.replace(curveTone, 'band$1') === tone ? 'band' : (tone.replace('curve', 'band') as Band);
}

/** All eight dots. */
const full = 0xff;
/** Fills a cell that is completely within a band. */
const shade = '░';

/**
 * A drawing with 2 × 4 dots per character, in layers. A character shows the topmost layer that has a dot in it, in the tone of the
 * last dot set there, so a line stays sharp in front of others. Bands are behind all layers, and are shown as background where a
 * line crosses them. Anything outside the picture is clipped.
 */
export class BrailleCanvas {
  readonly columns: number;
  readonly rows: number;
  readonly #bits: Uint8Array;
  readonly #layers: Uint8Array;
  readonly #tones: Tone[];
  readonly #glyphs = new Map<number, string>();
  /** Dots of each cell that a band covers. The next field is the last band there. */
  readonly #shaded: Uint8Array;
  readonly #bands: Band[];
  #layer = 0;
  #pattern = solid;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
    this.#bits = new Uint8Array(columns * rows);
    this.#layers = new Uint8Array(columns * rows);
    this.#tones = new Array<Tone>(columns * rows).fill('plain');
    this.#shaded = new Uint8Array(columns * rows);
    this.#bands = new Array<Band>(columns * rows).fill('band');
  }

  /** Sets the dashes of the following lines: dots are drawn only in those of eight columns whose bits are set. */
  dash(pattern: number): void {
    this.#pattern = pattern;
  }

  /** Fills a band around a line of this tone at dot column `x`, from dot row `from` to `to` inclusive. */
  fill(x: number, from: number, to: number, tone: Tone): void {
    if (x < 0 || x >= this.columns * 2) return;
    const band = bandOf(tone);
    const bottom = Math.min(this.rows * 4 - 1, to);
    for (let y = Math.max(0, from); y <= bottom; y++) {
      const cell = (y >> 2) * this.columns + (x >> 1);
      this.#shaded[cell]! |= dotBits[y & 3]![x & 1]!;
      this.#bands[cell] = band;
    }
  }

  /** Starts a new layer in front of everything drawn so far. */
  raise(): void {
    this.#layer++;
  }

  dot(x: number, y: number, tone: Tone): void {
    if (x < 0 || y < 0 || x >= this.columns * 2 || y >= this.rows * 4) return;
    this.#set((y >> 2) * this.columns + (x >> 1), dotBits[y & 3]![x & 1]!, tone);
  }

  #set(cell: number, bit: number, tone: Tone): void {
    if (this.#layers[cell] !== this.#layer) this.#bits[cell] = 0;
    this.#layers[cell] = this.#layer;
    this.#bits[cell]! |= bit;
    this.#tones[cell] = tone;
  }

  /** Sets a dot in the lowest layer, if its character contains only such dots. */
  dotBehind(x: number, y: number, tone: Tone): void {
    const cell = (y >> 2) * this.columns + (x >> 1);
    if (this.#bits[cell] !== 0 && (this.#layers[cell]! > 0 || this.#tones[cell] !== tone)) return;
    this.#layers[cell] = 0;
    this.#bits[cell]! |= dotBits[y & 3]![x & 1]!;
    this.#tones[cell] = tone;
  }

  /** Draws a vertical stroke at dot column `x` from dot row `from` to `to` inclusive. */
  stroke(x: number, from: number, to: number, tone: Tone): void {
    if (x < 0 || x >= this.columns * 2 || ((this.#pattern >> (x & 7)) & 1) === 0) return;
    const top = Math.max(0, Math.min(from, to));
    const bottom = Math.min(this.rows * 4 - 1, Math.max(from, to));
    for (let y = top; y <= bottom; y++) this.#set((y >> 2) * this.columns + (x >> 1), dotBits[y & 3]![x & 1]!, tone);
  }

  /** Continues from a drawn point to one further right, with a vertical stroke per column, so that there are no holes. */
  line(from: Dot, to: Dot, tone: Tone): void {
    const width = to.column - from.column;
    const slope = (to.row - from.row) / width;
    const first = Math.max(1, -from.column);
    const last = Math.min(width, this.columns * 2 - 1 - from.column);
    let row = Math.round(from.row + slope * (first - 1));
    for (let step = first; step <= last; step++) {
      const next = Math.round(from.row + slope * step);
      this.stroke(from.column + step, next === row ? row : row + Math.sign(next - row), next, tone);
      row = next;
    }
  }

  /** Whether these characters are empty. */
  isFree(column: number, row: number, length: number): boolean {
    if (column < 0 || row < 0 || column + length > this.columns || row >= this.rows) return false;
    const start = row * this.columns + column;
    for (let cell = start; cell < start + length; cell++) {
      if (this.#bits[cell] !== 0 || this.#shaded[cell] !== 0 || this.#glyphs.has(cell)) return false;
    }
    return true;
  }

  /** Writes characters, each one column wide, in place of the dots there. */
  write(column: number, row: number, text: string, tone: Tone): void {
    [...text].forEach((glyph, index) => {
      const cell = row * this.columns + column + index;
      this.#glyphs.set(cell, glyph);
      this.#tones[cell] = tone;
    });
  }

  /** One row of characters; neighbours with the same look share a span. */
  row(row: number, rule: Rule | null = null): Line {
    const spans: Span[] = [];
    const start = row * this.columns;
    let [text, tone, ground]: [string, Tone, Background] = ['', 'plain', 'none'];
    const flush = (): void => {
      if (text !== '') spans.push(ground === 'none' ? span(text, tone) : { text, tone, ground });
      text = '';
    };
    for (let column = 0; column < this.columns; column++) {
      const cell = start + column;
      const isRule = rule?.column === column && this.#isEmpty(cell);
      const glyph = isRule ? rule.glyph : this.#glyph(cell);
      const lies = this.#ground(cell);
      const own: Tone = glyph === ' ' ? tone : isRule ? rule.tone : this.#tone(cell);
      if (own !== tone || lies !== ground) flush();
      [tone, ground] = [own, lies];
      text += glyph;
    }
    flush();
    return spans;
  }

  #isEmpty(cell: number): boolean {
    return !this.#glyphs.has(cell) && (this.#bits[cell] === 0 || this.#layers[cell] === 0);
  }

  #glyph(cell: number): string {
    const written = this.#glyphs.get(cell);
    if (written !== undefined) return written;
    const bits = this.#bits[cell]!;
    if (bits !== 0) return String.fromCharCode(0x2800 + bits);
    const shaded = this.#shaded[cell]!;
    return shaded === 0 ? ' ' : shaded === full ? shade : String.fromCharCode(0x2800 + shaded);
  }

  #tone(cell: number): Tone {
    return this.#bits[cell] !== 0 || this.#glyphs.has(cell) ? this.#tones[cell]! : this.#bands[cell]!;
  }

  /** The background of a cell: its band, if that covers all of it, or half of a cell that a line crosses. */
  #ground(cell: number): Background {
    const shaded = this.#shaded[cell]!;
    const isBand = this.#bits[cell] === 0 ? shaded === full : dotsIn(shaded) >= 4;
    return isBand ? this.#bands[cell]! : 'none';
  }
}

/** A pattern for `BrailleCanvas.dash` without gaps. */
export const solid = 0xff;
/** A pattern with every second dot, not used as the dashes of any curve. */
export const dotted = 0x55;

function dotsIn(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/**
 * Dash patterns of the eight curves for `BrailleCanvas.dash`: the columns of dots, out of eight, that are drawn. Their dashes
 * differ in length, so that steep lines can be distinguished as well.
 */
const patterns = [solid, 0x1f, 0x4f, 0x33, 0x07, 0x11, 0x5f, 0x27] as const;

/** The dashes of a curve with this tone; solid for anything else. */
export function dashesOf(tone: Tone): number {
  const number = /^curve(\d)$/.exec(tone)?.[1];
  return number === undefined ? solid : patterns[Number(number)]!;
}

/** The symbol of a line in a legend: a piece of it, and a space. `hasDashes`: as for the lines. */
export function lineSign(tone: Tone, hasDashes: boolean): string {
  if (!hasDashes) return '━ ';
  const pattern = dashesOf(tone);
  const cells = [0, 2, 4, 6].map((column) => strokes[(pattern >> column) & 3]);
  return `${cells.join('')} `;
}

/** Characters of a line with neither, the left, the right and both columns of dots. */
const strokes = [' ', '⠂', '⠐', '⠒'] as const;
