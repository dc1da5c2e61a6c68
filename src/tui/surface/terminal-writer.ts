import type { Theme } from './theme.js';
import {
  type Cells,
  composedGlyph,
  continuation,
  firstComposed,
  isPlotGlyph,
  isWide,
  type Look,
  pathOf,
  plainLook,
  sgrOf,
  space,
  styleOf,
  unknown,
  withoutGround,
} from './cells.js';
import type { Drawing, PictureLayer, PlacedPlot, ShownPicture } from './graphics/picture-layer.js';

/** The destination of frames: a terminal, or in tests anything that accepts text. */
export type WriteTarget = {
  write(text: string): unknown;
  /** Number of bytes not yet accepted by the terminal. */
  readonly writableLength: number;
  once(event: 'drain', listener: () => void): unknown;
};

/** Creates the pictures of a terminal that supports them. The code is loaded only for such terminals; null: characters only. */
export type MakePictures = ((theme: Theme) => PictureLayer) | null;

const begin = '\u001b[?2026h';
const end = '\u001b[?2026l';
/** Clears the screen, because a resized terminal keeps old text where no cell is written. */
const erase = '\u001b[0m\u001b[2J';
/**
 * Maximum number of pending bytes. Beyond it a slow line is behind by more than a frame; the next frame makes up for skipped ones.
 */
const mostPending = 64 * 1024;

/**
 * Knows the contents of the terminal and writes only cells that differ, within one synchronized update.
 *
 * This requires that nobody else writes to the terminal. After anything that might have (a resize, suspending), call `forget`, and
 * the next frame is written completely.
 */
export class TerminalWriter {
  readonly #target: WriteTarget;
  #theme: Theme;
  #width = 0;
  #height = 0;
  #glyphs = new Uint32Array();
  #looks = new Uint32Array();
  #isResting = false;
  /** null: plots are shown as characters. */
  #pictures: PictureLayer | null = null;
  #makePictures: MakePictures = null;
  /** For each cell, the index of the picture there plus one, or 0; null: there are no pictures. */
  #covered: Uint8Array | null = null;
  #later: NodeJS.Timeout | null = null;
  /** Called when the terminal has caught up; null: it is not behind. */
  #again: (() => void) | null = null;

  constructor(target: WriteTarget, theme: Theme) {
    this.#target = target;
    this.#theme = theme;
  }

  /**
   * Writes a frame. If the terminal is behind, writes nothing, and calls `again` when it has caught up.
   *
   * @param plots Plots that may be shown as pictures.
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

  /** Shows plots as pictures; null: as characters. */
  usePictures(make: MakePictures): void {
    const gone = this.#pictures?.forget() ?? '';
    if (gone !== '' && !this.#isResting) this.#target.write(gone);
    this.#makePictures = make;
    this.#pictures = make?.(this.#theme) ?? null;
    this.#covered = null;
    this.forget();
  }

  /** Forgets the contents of the terminal, so that the next frame is written completely. */
  forget(): void {
    this.#width = 0;
  }

  /** Stops writing until `wake`, while another program uses the terminal. */
  rest(): void {
    this.#isResting = true;
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }

  /** Resumes writing, with the contents of the terminal unknown. */
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

  /** @returns The codes that delete all pictures. */
  #reset({ width, height }: Cells): string {
    [this.#width, this.#height] = [width, height];
    this.#glyphs = new Uint32Array(width * height).fill(unknown);
    this.#looks = new Uint32Array(width * height);
    return this.#pictures?.forget() ?? '';
  }

  /** Decides which plots are pictures in this frame. @returns The codes that delete the others. */
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

  /** Rewrites the letters in a picture's cells, which a protocol that draws into cells overwrites. */
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

  /** Notes that a cell was written. `picture`: index of the picture there plus one; 0: none. */
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
      // If terminals disagree on a glyph's width, it may have covered its neighbour.
      disturbed = at + (spreads ? 2 : 1);
    }
  }
}

/** The cells as they are over pictures: without dots and bands, which the pictures contain, but with letters and arrows. */
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

/** Collects the escape codes of one frame, tracking the cursor and the current look. */
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
    // Clears both columns first, because a terminal that considers the glyph narrow would leave the old second half.
    if (isWide) this.#out += `  \u001b[${this.#column + 1}G`;
    this.#out += glyph;
    this.#row = -1;
  }

  /** Adds a picture; its codes change the position of the cursor. */
  drawPicture({ row, column, codes }: Drawing): void {
    this.#out += `\u001b[${row + 1};${column + 1}H${codes}`;
    this.#row = -1;
  }

  /** Returns the codes with the look reset; empty if nothing was drawn. */
  finish(): string {
    if (this.#path !== '') this.#out += this.#theme.link('');
    return this.#out === '' || this.#style === plainLook ? this.#out : `${this.#out}\u001b[0m`;
  }
}
