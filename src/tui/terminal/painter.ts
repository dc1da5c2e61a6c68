import { cellsOf, isSimple } from '../../text/display-width.js';
import { type Background, backgrounds, type Line, type Tone, tones } from '../widgets/span.js';
import type { Theme } from './theme.js';

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
/** Codes of glyphs in a cell: a UTF-16 unit for a simple one; below, the second column of a wide one, and what is not known. */
const continuation = 0;
const unknown = 0xffff_ffff;
const space = 0x20;

/**
 * Draws frames by writing only the cells that changed since the last one, inside one synchronized update.
 *
 * Holds what the terminal shows. That is true only as long as nobody else writes to it: after anything that
 * might have (a resize, a stop and continue), call `forget`, and the next frame is drawn whole.
 * Lines shorter than the width are filled with spaces, longer ones cut.
 */
export class Painter {
  readonly #target: PaintTarget;
  #theme: Theme;
  #width = 0;
  #height = 0;
  /** Glyph and style of each cell, row by row. */
  #glyphs = new Uint32Array();
  #styles = new Uint16Array();
  /** Of the row being drawn. */
  #rowGlyphs = new Uint32Array();
  #rowStyles = new Uint16Array();
  /** What each row was drawn from. */
  #rows: (DrawnRow | undefined)[] = [];
  readonly #composed = new ComposedGlyphs();
  #waiting: { lines: readonly Line[]; width: number; height: number } | null = null;
  #isWaiting = false;
  #isResting = false;

  constructor(target: PaintTarget, theme: Theme) {
    this.#target = target;
    this.#theme = theme;
  }

  /** Draws a frame of `width` × `height`, or keeps it until the terminal has caught up; then only the newest is drawn. */
  paint(lines: readonly Line[], width: number, height: number): void {
    if (this.#isResting) return;
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

  /** Draws in other colours from the next frame on, which is drawn whole. */
  restyle(theme: Theme): void {
    this.#theme = theme;
    this.forget();
  }

  /** What the terminal shows is no longer known. */
  forget(): void {
    this.#width = 0;
  }

  /** Another program uses the terminal: nothing is drawn until `wake`, not even what has waited. */
  rest(): void {
    this.#isResting = true;
    this.#waiting = null;
  }

  /** The terminal is ours again; what it shows is not known. */
  wake(): void {
    this.#isResting = false;
    this.forget();
  }

  #reset(width: number, height: number): void {
    this.#width = width;
    this.#height = height;
    this.#glyphs = new Uint32Array(width * height).fill(unknown);
    this.#styles = new Uint16Array(width * height);
    this.#rowGlyphs = new Uint32Array(width);
    this.#rowStyles = new Uint16Array(width);
    this.#rows = [];
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
    for (let row = 0; row < this.#height; row++) this.#change(row, lines[row] ?? [], pen);
    return pen.finish();
  }

  /** Most rows begin as they did, or are the same: of those cells nothing needs to be known. */
  #change(row: number, line: Line, pen: Pen): void {
    const drawn = this.#rows[row];
    const same = drawn === undefined ? 0 : sharedSpans(line, drawn.line);
    if (same === line.length && same === drawn?.line.length) return;
    const ends = drawn?.ends.slice(0, same) ?? [];
    const start = ends.at(-1) ?? 0;
    this.#layOut(line, ends);
    this.#drawRow(row, start, pen);
    this.#rows[row] = { line, ends };
  }

  /** Puts a line into the row's cells, but for those spans that have their `ends`, the columns after them; adds the others. */
  #layOut(line: Line, ends: number[]): void {
    let column = ends.at(-1) ?? 0;
    for (let index = ends.length; index < line.length; index++) {
      const { text, tone, ground = 'none' } = line[index]!;
      column = this.#put(this.#theme.glyphs(text), styleOf(tone, ground), column);
      ends.push(column);
    }
    if (column === this.#width) return;
    this.#rowGlyphs.fill(space, column);
    this.#rowStyles.fill(plainStyle, column);
  }

  #put(text: string, style: number, start: number): number {
    if (isSimple(text)) {
      const end = Math.min(start + text.length, this.#width);
      const [glyphs, styles] = [this.#rowGlyphs, this.#rowStyles];
      for (let column = start; column < end; column++) {
        glyphs[column] = text.charCodeAt(column - start);
        styles[column] = style;
      }
      return end;
    }
    let column = start;
    for (const { glyph, width } of cellsOf(text)) {
      if (column + width > this.#width) {
        // Half of a wide character is a space; what follows is beyond the edge.
        this.#rowGlyphs.fill(space, column);
        this.#rowStyles.fill(style, column);
        return this.#width;
      }
      this.#rowGlyphs[column] = isSimple(glyph) ? glyph.charCodeAt(0) : this.#composed.code(glyph);
      if (width === 2) this.#rowGlyphs[column + 1] = continuation;
      this.#rowStyles.fill(style, column, column + width);
      column += width;
    }
    return column;
  }

  /** Writes what has changed from the column `start` on. */
  #drawRow(row: number, start: number, pen: Pen): void {
    const [width, glyphs, styles] = [this.#width, this.#glyphs, this.#styles];
    const [rowGlyphs, rowStyles] = [this.#rowGlyphs, this.#rowStyles];
    const base = row * width;
    let disturbed = -1;
    for (let column = start; column < width; column++) {
      const code = rowGlyphs[column]!;
      const style = rowStyles[column]!;
      if (glyphs[base + column] === code && styles[base + column] === style && column !== disturbed) continue;
      glyphs[base + column] = code;
      styles[base + column] = style;
      if (code === continuation) continue;
      pen.moveTo(row, column);
      pen.take(style);
      if (code < ComposedGlyphs.first) {
        pen.drawSimple(code);
        continue;
      }
      const isWide = rowGlyphs[column + 1] === continuation;
      pen.drawComposed(this.#composed.glyph(code), isWide);
      // Where terminals disagree on a glyph's width, it may have spilled into its neighbour.
      disturbed = column + (isWide ? 2 : 1);
    }
  }
}

/** The spans of a row and the columns after each of them. */
type DrawnRow = { readonly line: Line; readonly ends: readonly number[] };

/** How many spans two lines have in common from their beginning. */
function sharedSpans(a: Line, b: Line): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && areSame(a[shared]!, b[shared]!)) shared++;
  return shared;
}

function areSame(a: Line[number], b: Line[number]): boolean {
  return a === b || (a.text === b.text && a.tone === b.tone && a.ground === b.ground);
}

/** Gives numbers to glyphs that are more than one UTF-16 unit of one column, so that cells are compared as numbers. */
class ComposedGlyphs {
  /** Above every UTF-16 unit. */
  static readonly first = 0x1_0000;
  readonly #glyphs: string[] = [];
  readonly #codes = new Map<string, number>();

  code(glyph: string): number {
    const known = this.#codes.get(glyph);
    if (known !== undefined) return known;
    const code = ComposedGlyphs.first + this.#glyphs.length;
    this.#glyphs.push(glyph);
    this.#codes.set(glyph, code);
    return code;
  }

  glyph(code: number): string {
    return this.#glyphs[code - ComposedGlyphs.first]!;
  }
}

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

  drawSimple(unit: number): void {
    this.#out += String.fromCharCode(unit);
    this.#column++;
  }

  drawComposed(glyph: string, isWide: boolean): void {
    // Clear both columns first: a terminal that thinks the glyph narrow would leave the old second half.
    if (isWide) this.#out += `  \u001b[${this.#column + 1}G`;
    this.#out += glyph;
    this.#row = -1;
  }

  /** The codes, with the style put back to normal; empty if nothing was drawn. */
  finish(): string {
    return this.#out === '' || this.#style === plainStyle ? this.#out : `${this.#out}\u001b[0m`;
  }

  moveTo(row: number, column: number): void {
    if (row === this.#row && column === this.#column) return;
    const gap = column - this.#column;
    this.#out += row === this.#row && gap > 0 ? `\u001b[${gap}C` : `\u001b[${row + 1};${column + 1}H`;
    this.#row = row;
    this.#column = column;
  }

  take(style: number): void {
    if (style === this.#style) return;
    this.#style = style;
    const codes = this.#theme.sgr(tones[style % tones.length]!, backgrounds[Math.floor(style / tones.length)]!);
    this.#out += codes === '' ? '\u001b[0m' : `\u001b[0;${codes}m`;
  }
}

/** A tone on a ground as one number; the other way round it is remainder and quotient by the number of tones. */
function styleOf(tone: Tone, ground: Background): number {
  return groundNumbers[ground] * tones.length + toneNumbers[tone];
}

const toneNumbers = numbered(tones);
const groundNumbers = numbered(backgrounds);
const plainStyle = styleOf('plain', 'none');

function numbered<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word, number) => [word, number])) as Record<Word, number>;
}
