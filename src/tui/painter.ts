import { cellsOf, isSimple } from './view/display-width.js';
import { grounds, type Line, tones } from './view/span.js';
import { type Theme } from './theme.js';

/** Where frames go: a terminal, or in tests anything that takes text. */
export type PaintTarget = {
  write(text: string): unknown;
  /** Bytes not yet taken by the terminal. */
  readonly writableLength: number;
  once(event: 'drain', listener: () => void): unknown;
};

const begin = '\u001b[?2026h';
const end = '\u001b[?2026l';
/** Beyond this a slow line is behind by more than a frame; what is then skipped is made up by the next one. */
const mostPending = 64 * 1024;
/** The second column of a wide character. */
const continuation = '';

/**
 * Draws frames by writing only the cells that changed since the last one, inside one synchronized update.
 *
 * Holds what the terminal shows. That is true only as long as nobody else writes to it: after anything that
 * might have (a resize, a stop and continue), call `forget`, and the next frame is drawn whole.
 * Lines shorter than the width are filled with spaces, longer ones cut.
 */
export class Painter {
  readonly #target: PaintTarget;
  readonly #theme: Theme;
  #width = 0;
  #height = 0;
  /** Glyph and style of each cell, row by row; an unknown cell differs from every glyph. */
  #glyphs: (string | null)[] = [];
  #styles = new Uint16Array();
  /** Of the row being drawn. */
  #rowGlyphs: string[] = [];
  #rowStyles = new Uint16Array();
  #waiting: { lines: readonly Line[]; width: number; height: number } | null = null;
  #isWaiting = false;

  constructor(target: PaintTarget, theme: Theme) {
    this.#target = target;
    this.#theme = theme;
  }

  /** Draws a frame of `width` × `height`, or keeps it until the terminal has caught up; then only the newest is drawn. */
  paint(lines: readonly Line[], width: number, height: number): void {
    if (this.#target.writableLength > mostPending) {
      this.#waiting = { lines, width, height };
      this.#paintOnDrain();
      return;
    }
    this.#waiting = null;
    const fresh = width !== this.#width || height !== this.#height;
    if (fresh) this.#reset(width, height);
    const changes = this.#changes(lines);
    // A terminal that became larger or smaller keeps old text where no cell is written: erase first.
    if (fresh || changes !== '') this.#target.write(`${begin}${fresh ? '\u001b[0m\u001b[2J' : ''}${changes}${end}`);
  }

  /** What the terminal shows is no longer known. */
  forget(): void {
    this.#width = 0;
  }

  #reset(width: number, height: number): void {
    this.#width = width;
    this.#height = height;
    this.#glyphs = new Array<string | null>(width * height).fill(null);
    this.#styles = new Uint16Array(width * height);
    this.#rowGlyphs = new Array<string>(width).fill(' ');
    this.#rowStyles = new Uint16Array(width);
  }

  #paintOnDrain(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#target.once('drain', () => {
      this.#isWaiting = false;
      const frame = this.#waiting;
      if (frame !== null) this.paint(frame.lines, frame.width, frame.height);
    });
  }

  #changes(lines: readonly Line[]): string {
    const pen = new Pen(this.#theme);
    for (let row = 0; row < this.#height; row++) {
      this.#layOut(lines[row] ?? []);
      this.#drawRow(row, pen);
    }
    return pen.finish();
  }

  /** Puts a line into the row's cells. */
  #layOut(line: Line): void {
    let column = 0;
    for (const { text, tone, ground = 'none' } of line) {
      const style = styleOf(tones.indexOf(tone), grounds.indexOf(ground));
      column = this.#put(this.#theme.glyphs(text), style, column);
    }
    this.#rowGlyphs.fill(' ', column);
    this.#rowStyles.fill(plainStyle, column);
  }

  #put(text: string, style: number, start: number): number {
    if (isSimple(text)) {
      const count = Math.min(text.length, this.#width - start);
      for (let index = 0; index < count; index++) this.#rowGlyphs[start + index] = text[index]!;
      this.#rowStyles.fill(style, start, start + count);
      return start + count;
    }
    let column = start;
    for (const { glyph, width } of cellsOf(text)) {
      if (column + width > this.#width) {
        // Half of a wide character is a space; what follows is beyond the edge.
        this.#rowGlyphs.fill(' ', column);
        this.#rowStyles.fill(style, column);
        return this.#width;
      }
      this.#rowGlyphs[column] = glyph;
      if (width === 2) this.#rowGlyphs[column + 1] = continuation;
      this.#rowStyles.fill(style, column, column + width);
      column += width;
    }
    return column;
  }

  #drawRow(row: number, pen: Pen): void {
    const base = row * this.#width;
    let disturbed = -1;
    for (let column = 0; column < this.#width; column++) {
      const glyph = this.#rowGlyphs[column]!;
      const style = this.#rowStyles[column]!;
      const same = this.#glyphs[base + column] === glyph && this.#styles[base + column] === style;
      if (same && column !== disturbed) continue;
      this.#glyphs[base + column] = glyph;
      this.#styles[base + column] = style;
      if (glyph === continuation) continue;
      const isWide = this.#rowGlyphs[column + 1] === continuation;
      pen.draw({ glyph, style, row, column, isWide });
      // Where terminals disagree on a glyph's width, it may have spilled into its neighbour.
      if (!isSimple(glyph)) disturbed = column + (isWide ? 2 : 1);
    }
  }
}

type Stroke = { glyph: string; style: number; row: number; column: number; isWide: boolean };

/** Collects the escape codes of one frame; knows where the cursor is and which style is on. */
class Pen {
  readonly #theme: Theme;
  #out = '';
  #row = -1;
  #column = -1;
  #style = -1;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  draw({ glyph, style, row, column, isWide }: Stroke): void {
    this.#moveTo(row, column);
    this.#take(style);
    if (isSimple(glyph)) {
      this.#out += glyph;
      this.#column++;
      return;
    }
    // Clear both columns first: a terminal that thinks the glyph narrow would leave the old second half.
    if (isWide) this.#out += `  \u001b[${column + 1}G`;
    this.#out += glyph;
    this.#row = -1;
  }

  /** The codes, with the style put back to normal; empty if nothing was drawn. */
  finish(): string {
    return this.#out === '' || this.#style === plainStyle ? this.#out : `${this.#out}\u001b[0m`;
  }

  #moveTo(row: number, column: number): void {
    if (row === this.#row && column === this.#column) return;
    const gap = column - this.#column;
    this.#out += row === this.#row && gap > 0 ? `\u001b[${gap}C` : `\u001b[${row + 1};${column + 1}H`;
    this.#row = row;
    this.#column = column;
  }

  #take(style: number): void {
    if (style === this.#style) return;
    this.#style = style;
    const codes = this.#theme.sgr(tones[style % tones.length]!, grounds[Math.floor(style / tones.length)]!);
    this.#out += codes === '' ? '\u001b[0m' : `\u001b[0;${codes}m`;
  }
}

function styleOf(tone: number, ground: number): number {
  return ground * tones.length + tone;
}

const plainStyle = styleOf(tones.indexOf('plain'), grounds.indexOf('none'));
