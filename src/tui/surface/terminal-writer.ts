import type { Theme } from './theme.js';
import type { Cells } from './cells.js';
import { composedGlyph, continuation, firstComposed, isPlotGlyph, isWide, space, unknown } from './glyphs.js';
import type { Drawing, PictureLayer, PlacedPlot, ShownPicture } from './graphics/picture-layer.js';
import { type Look, pathOf, plainLook, sgrOf, styleOf, withoutGround } from './look.js';

/** Where frames go: a terminal, or in tests anything that takes text. */
export type WriteTarget = {
  write(text: string): unknown;
  /** Bytes not yet taken by the terminal. */
  readonly writableLength: number;
  once(event: 'drain', listener: () => void): unknown;
};

/** Makes the pictures of a terminal that has them; its code is loaded only for one that does. */
export type MakePictures = ((theme: Theme) => PictureLayer) | null;

const begin = '\u001b[?2026h';
const end = '\u001b[?2026l';
/** A terminal that became larger or smaller keeps old text where no cell is written. */
const erase = '\u001b[0m\u001b[2J';
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
  /** null: plots are seen in characters. */
  #pictures: PictureLayer | null = null;
  #makePictures: MakePictures = null;
  /** For each cell one more than the place of the picture that lies there; null: there are none. */
  #covered: Uint8Array | null = null;
  #later: NodeJS.Timeout | null = null;
  /** What to do once the terminal has caught up; null: it has. */
  #again: (() => void) | null = null;

  constructor(target: WriteTarget, theme: Theme) {
    this.#target = target;
    this.#theme = theme;
  }

  /**
   * Where the terminal must catch up first, nothing is written, and `again` is called when it has.
   *
   * @param plots Those that may be seen as pictures.
   */
  show(cells: Cells, again: () => void, plots: readonly PlacedPlot[] = []): void {
    if (this.#isResting) return;
    if (this.#target.writableLength > mostPending) return this.#wait(again);
    const isFresh = cells.width !== this.#width || cells.height !== this.#height;
    const gone = isFresh ? this.#reset(cells) : '';
    const lost = gone + this.#arrange(plots, again);
    const changes = lost + this.#changes(this.#covered === null ? cells : onPictures(cells, this.#covered));
    if (isFresh || changes !== '') this.#target.write(begin + (isFresh ? erase : '') + changes + end);
  }

  get showsPictures(): boolean {
    return this.#pictures !== null;
  }

  /** Plots are shown as pictures from now on; null: in characters. */
  usePictures(make: MakePictures): void {
    const gone = this.#pictures?.forget() ?? '';
    if (gone !== '' && !this.#isResting) this.#target.write(gone);
    this.#makePictures = make;
    this.#pictures = make?.(this.#theme) ?? null;
    this.#covered = null;
    this.forget();
  }

  /** What the terminal shows is no longer known: the next frame is written whole. */
  forget(): void {
    this.#width = 0;
  }

  /** The terminal is somebody else's: nothing is written until `wake`. */
  rest(): void {
    this.#isResting = true;
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }

  /** The terminal is ours again; what it shows is not known. */
  wake(): void {
    this.#isResting = false;
    this.forget();
  }

  restyle(theme: Theme): void {
    this.#theme = theme;
    this.usePictures(this.#makePictures);
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

  /** @returns The codes that take away what pictures there may be. */
  #reset({ width, height }: Cells): string {
    [this.#width, this.#height] = [width, height];
    this.#glyphs = new Uint32Array(width * height).fill(unknown);
    this.#looks = new Uint32Array(width * height);
    return this.#pictures?.forget() ?? '';
  }

  /** Settles which plots are pictures in this frame. @returns The codes that take others away. */
  #arrange(plots: readonly PlacedPlot[], again: () => void): string {
    if (this.#pictures === null) return '';
    const { spoilt, codes, waitMs } = this.#pictures.arrange(plots);
    for (const { left, top, right, bottom } of spoilt) {
      for (let row = top; row < bottom; row++)
        this.#glyphs.fill(unknown, row * this.#width + left, row * this.#width + right);
    }
    this.#covered = coverOf(this.#pictures.shown, this.#width, this.#height);
    if (waitMs !== null && this.#later === null) {
      this.#later = setTimeout(() => {
        this.#later = null;
        again();
      }, waitMs);
    }
    return codes;
  }

  #changes(cells: Cells): string {
    const pen = new Pen(this.#theme);
    for (let row = 0; row < this.#height; row++) this.#changeRow(row, cells, pen);
    for (const drawing of this.#pictures?.drawings() ?? []) pen.drawPicture(drawing);
    if (this.#pictures?.liesInCells) for (const picture of this.#pictures.shown) this.#rewrite(picture, cells, pen);
    return pen.finish();
  }

  /** A picture that lies in the cells lies over their letters as well. */
  #rewrite({ box, changed, touched }: ShownPicture, cells: Cells, pen: Pen): void {
    if (changed === null && touched === null) return;
    for (let row = box.top; row < box.bottom; row++) {
      for (let column = box.left; column < box.right; column++) {
        if (isPlotGlyph(cells.code(row, column))) continue;
        this.#glyphs[row * this.#width + column] = unknown;
      }
      this.#changeRow(row, cells, pen);
    }
  }

  /** `picture`: one more than its place; 0: none lies there. */
  #touch(picture: number, row: number, column: number): void {
    this.#pictures!.shown[picture - 1]?.touch(row, column);
  }

  #changeRow(row: number, next: Cells, pen: Pen): void {
    const [width, glyphs, looks, covered] = [this.#width, this.#glyphs, this.#looks, this.#covered];
    const base = row * width;
    let disturbed = -1;
    for (let at = base; at < base + width; at++) {
      const code = next.code(row, at - base);
      const look = next.looks[at]!;
      if (glyphs[at] === code && looks[at] === look && at !== disturbed) continue;
      if (covered !== null) this.#touch(covered[at]!, row, at - base);
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

/** The cells as they are over pictures: dots and bands are in those, letters and arrows lie on them. */
function onPictures(cells: Cells, covered: Uint8Array): Cells {
  const shown = cells.copy();
  for (let at = 0; at < covered.length; at++) {
    if (covered[at] === 0) continue;
    const isPlot = isPlotGlyph(shown.glyphs[at]!);
    if (isPlot) shown.glyphs[at] = space;
    shown.looks[at] = isPlot ? plainLook : withoutGround(shown.looks[at]!);
  }
  return shown;
}

function coverOf(pictures: readonly ShownPicture[], width: number, height: number): Uint8Array | null {
  if (pictures.length === 0) return null;
  const covered = new Uint8Array(width * height);
  for (const [place, { box }] of pictures.entries()) {
    for (let row = box.top; row < box.bottom; row++)
      covered.fill(place + 1, row * width + box.left, row * width + box.right);
  }
  return covered;
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

  /** Its codes leave the cursor somewhere else. */
  drawPicture({ row, column, codes }: Drawing): void {
    this.#out += `\u001b[${row + 1};${column + 1}H${codes}`;
    this.#row = -1;
  }

  /** The codes, with the look put back to normal; empty if nothing was drawn. */
  finish(): string {
    if (this.#path !== '') this.#out += this.#theme.link('');
    return this.#out === '' || this.#style === plainLook ? this.#out : `${this.#out}\u001b[0m`;
  }
}
