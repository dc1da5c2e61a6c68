import { type Line, span, type Span, type Tone } from './span.js';

/** Bits of the eight dots of a braille character, by row and column of the dot. */
const dotBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;

/** A place among the dots, counted from the top left. */
export type Dot = { readonly column: number; readonly row: number };

/** A drawing of 2 × 4 dots per character. A character has the tone of the last dot set in it. */
export class BrailleCanvas {
  readonly #columns: number;
  readonly #bits: Uint8Array;
  readonly #tones: Tone[];

  constructor(columns: number, rows: number) {
    this.#columns = columns;
    this.#bits = new Uint8Array(columns * rows);
    this.#tones = new Array<Tone>(columns * rows).fill('plain');
  }

  /** A vertical stroke at dot column `x` from dot row `from` to `to`, both included and inside. */
  stroke(x: number, from: number, to: number, tone: Tone): void {
    const bottom = Math.max(from, to);
    for (let y = Math.min(from, to); y <= bottom; y++) {
      const cell = (y >> 2) * this.#columns + (x >> 1);
      this.#bits[cell]! |= dotBits[y & 3]![x & 1]!;
      this.#tones[cell] = tone;
    }
  }

  /** On from a point already drawn to one further right: a vertical stroke per column, so that there are no holes. */
  line(from: Dot, to: Dot, tone: Tone): void {
    const width = to.column - from.column;
    let row = from.row;
    for (let step = 1; step <= width; step++) {
      const next = Math.round(from.row + ((to.row - from.row) * step) / width);
      this.stroke(from.column + step, next === row ? row : row + Math.sign(next - row), next, tone);
      row = next;
    }
  }

  /** One row of characters, neighbours of one tone in one span. */
  row(row: number): Line {
    const spans: Span[] = [];
    const start = row * this.#columns;
    let text = '';
    let tone: Tone = 'plain';
    for (let cell = start; cell < start + this.#columns; cell++) {
      const own: Tone = this.#bits[cell] === 0 ? tone : this.#tones[cell]!;
      if (own !== tone && text !== '') {
        spans.push(span(text, tone));
        text = '';
      }
      tone = own;
      text += this.#bits[cell] === 0 ? ' ' : String.fromCharCode(0x2800 + this.#bits[cell]!);
    }
    return [...spans, span(text, tone)];
  }
}
