import type { Theme } from './theme.js';
import type { Cells } from './cells.js';
import { composedGlyph, continuation, firstComposed, isWide, unknown } from './glyphs.js';
import { type Look, pathOf, plainLook, sgrOf, styleOf } from './look.js';

/** Where frames go: a terminal, or in tests anything that takes text. */
export type WriteTarget = {
  write(text: string): unknown;
  /** Bytes not yet taken by the terminal. */
  readonly writableLength: number;
  once(event: 'drain', listener: () => void): unknown;
};

const begin = '\u001b[?2026h';
const end = '\u001b[?2026l';
/** Beyond this a slow line is behind by more than a frame; what is then skipped is made up by the next one. */
const mostPending = 64 * 1024;

/**
 * Knows what the terminal shows, and writes only the cells that differ from it, inside one synchronized update.
 *
 * That is true only as long as nobody else writes to it: after anything that might have (a resize, a stop and continue), call
 * `forget`, and the next frame is written whole.
 */
export class TerminalWriter {
  readonly #target: WriteTarget;
  #theme: Theme;
  #width = 0;
  #height = 0;
  #glyphs = new Uint32Array();
  #looks = new Uint32Array();
  #isResting = false;
  /** What to do once the terminal has caught up; null: it has. */
  #again: (() => void) | null = null;

  constructor(target: WriteTarget, theme: Theme) {
    this.#target = target;
    this.#theme = theme;
  }

  /** Where the terminal must catch up first, nothing is written, and `again` is called when it has. */
  show(cells: Cells, again: () => void): void {
    if (this.#isResting) return;
    if (this.#target.writableLength > mostPending) return this.#wait(again);
    const isFresh = cells.width !== this.#width || cells.height !== this.#height;
    if (isFresh) this.#reset(cells.width, cells.height);
    const changes = this.#changes(cells);
    // A terminal that became larger or smaller keeps old text where no cell is written: erase first.
    if (isFresh || changes !== '') this.#target.write(`${begin}${isFresh ? '\u001b[0m\u001b[2J' : ''}${changes}${end}`);
  }

  /** What the terminal shows is no longer known: the next frame is written whole. */
  forget(): void {
    this.#width = 0;
  }

  /** The terminal is somebody else's: nothing is written until `wake`. */
  rest(): void {
    this.#isResting = true;
  }

  /** The terminal is ours again; what it shows is not known. */
  wake(): void {
    this.#isResting = false;
    this.forget();
  }

  restyle(theme: Theme): void {
    this.#theme = theme;
    this.forget();
  }

  #wait(again: () => void): void {
    const isWaiting = this.#again !== null;
    this.#again = again;
    if (isWaiting) return;
    this.#target.once('drain', () => {
      const act = this.#again;
      this.#again = null;
      act?.();
    });
  }

  #reset(width: number, height: number): void {
    [this.#width, this.#height] = [width, height];
    this.#glyphs = new Uint32Array(width * height).fill(unknown);
    this.#looks = new Uint32Array(width * height);
  }

  #changes(cells: Cells): string {
    const pen = new Pen(this.#theme);
    for (let row = 0; row < this.#height; row++) this.#changeRow(row, cells, pen);
    return pen.finish();
  }

  #changeRow(row: number, next: Cells, pen: Pen): void {
    const [width, glyphs, looks] = [this.#width, this.#glyphs, this.#looks];
    const base = row * width;
    let disturbed = -1;
    for (let at = base; at < base + width; at++) {
      const code = next.code(row, at - base);
      const look = next.looks[at]!;
      if (glyphs[at] === code && looks[at] === look && at !== disturbed) continue;
      glyphs[at] = code;
      looks[at] = look;
      if (code === continuation) continue;
      pen.moveTo(row, at - base);
      pen.take(look);
      if (code < firstComposed) {
        pen.drawSimple(code);
        continue;
      }
      const spreads = isWide(code);
      pen.drawComposed(composedGlyph(code), spreads);
      // Where terminals disagree on a glyph's width, it may have spilled into its neighbour.
      disturbed = at + (spreads ? 2 : 1);
    }
  }
}

/** Collects the escape codes of one frame; knows where the cursor is and which look is on. */
class Pen {
  readonly #theme: Theme;
  #out = '';
  #row = -1;
  #column = -1;
  #style: Look = -1;
  #path = '';

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  moveTo(row: number, column: number): void {
    if (row === this.#row && column === this.#column) return;
    const gap = column - this.#column;
    this.#out += row === this.#row && gap > 0 ? `\u001b[${gap}C` : `\u001b[${row + 1};${column + 1}H`;
    this.#row = row;
    this.#column = column;
  }

  take(look: Look): void {
    const style = styleOf(look);
    if (style !== this.#style) {
      this.#style = style;
      const codes = sgrOf(style, this.#theme);
      this.#out += codes === '' ? '\u001b[0m' : `\u001b[0;${codes}m`;
    }
    const path = pathOf(look);
    if (path === this.#path) return;
    this.#path = path;
    this.#out += this.#theme.link(path);
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

  /** The codes, with the look put back to normal; empty if nothing was drawn. */
  finish(): string {
    if (this.#path !== '') this.#out += this.#theme.link('');
    return this.#out === '' || this.#style === plainLook ? this.#out : `${this.#out}\u001b[0m`;
  }
}
