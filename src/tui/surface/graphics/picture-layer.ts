import type { PlotImage } from '../span.js';
import type { Theme } from '../theme.js';
import { inkOf, isLightColour } from './ink.js';
import { kittyPicture, kittyPlacement, kittyRemoval } from './kitty.js';
import { cropOf, differenceOf, type PixelSize, type Raster, type Rgb } from './raster.js';
import { sixelPicture } from './sixel.js';

/** Columns and rows of cells; `right` and `bottom` are exclusive. */
type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

/** A completely visible plot, and the screen cell at its top left. */
export type PlacedPlot = { readonly of: PlotImage; readonly left: number; readonly top: number };

/** Codes to write with the cursor at a cell. */
export type Drawing = { readonly column: number; readonly row: number; readonly codes: string };

/** Average number of bytes of pictures per second, and maximum at once, so that a slow line has room for the answers to keys. */
const perSecond = 128 * 1024;
const atOnce = 64 * 1024;
/** Maximum number of pixels of a picture; terminals that can scale show larger plots from fewer pixels. */
const mostPixels = 1_000_000;
/** Number of our first picture, chosen to leave those of other programs alone. */
const firstId = 0x6d_72_00;
const mostIds = 256;

/**
 * The pictures that the terminal shows in place of plots made of characters.
 *
 * Keeps track of what has been sent, and sends only changes, within its share of bytes; until then the plot is shown as characters.
 * A picture is never written before the frame it belongs to.
 */
export class PictureLayer {
  readonly #graphics: Graphics;
  readonly #theme: Theme;
  readonly #now: () => number;
  #shown: ShownPicture[] = [];
  #bytes = atOnce;
  #count = 0;
  #filledAt: number;

  /** `now`: current time in ms. */
  constructor(graphics: Graphics, theme: Theme, now: () => number) {
    [this.#graphics, this.#theme, this.#now] = [graphics, theme, now];
    this.#filledAt = now();
  }

  /** Whether cells must be rewritten where a picture was or is to change. */
  get liesInCells(): boolean {
    return this.#graphics.protocol === 'sixel';
  }

  get shown(): readonly ShownPicture[] {
    return this.#shown;
  }

  /**
   * Decides which plots are shown as pictures in the next frame.
   *
   * @returns The places whose cells must be rewritten, the codes that delete pictures, and the time until waiting pictures can be
   * sent, in ms; null: none is waiting.
   */
  arrange(wanted: readonly PlacedPlot[]): { spoilt: Box[]; codes: string; waitMs: number | null } {
    this.#refill();
    const before = this.#shown;
    let waits = false;
    this.#shown = wanted.flatMap((plot) => {
      const picture = before.find((each) => each.isAt(plot)) ?? new ShownPicture(this.#nextId(), plot);
      if (picture.of === plot.of && picture.raster !== null) return picture.keep();
      waits ||= this.#bytes <= 0;
      return this.#bytes <= 0 ? [] : picture.show(plot.of, this.#draw(plot.of), this.#graphics.cell);
    });
    const gone = before.filter((picture) => !this.#shown.includes(picture));
    const spoilt = [...gone.map(({ box }) => box), ...this.#shown.flatMap(({ changed }) => changed ?? [])];
    return {
      spoilt: this.liesInCells ? spoilt : [],
      codes: this.liesInCells ? '' : gone.map(({ id }) => kittyRemoval(id)).join(''),
      waitMs: waits ? Math.ceil(((1 - this.#bytes) / perSecond) * 1000) : null,
    };
  }

  /** The codes for pictures that have changed or were overwritten; call after the cells have been written. */
  drawings(): Drawing[] {
    return this.#shown.flatMap((picture): Drawing[] => {
      const codes = this.#codesOf(picture);
      if (codes === null) return [];
      this.#bytes -= codes.codes.length;
      return [codes];
    });
  }

  /** Forgets the contents of the terminal. @returns The codes that delete all pictures of ours. */
  forget(): string {
    const codes = this.liesInCells ? '' : this.#shown.map(({ id }) => kittyRemoval(id)).join('');
    this.#shown = [];
    return codes;
  }

  #codesOf(picture: ShownPicture): Drawing | null {
    const { id, of, box, changed, touched } = picture;
    const { columns, rows } = of;
    if (!this.liesInCells) {
      if (changed === null && touched === null) return null;
      const codes =
        changed === null ? kittyPlacement({ id, columns, rows }) : kittyPicture(picture.raster!, { id, columns, rows });
      return { column: box.left, row: box.top, codes };
    }
    const stale = around(changed, touched);
    if (stale === null) return null;
    const { cell, colours, background } = this.#graphics;
    const part = {
      left: (stale.left - box.left) * cell.width,
      top: (stale.top - box.top) * cell.height,
      right: (stale.right - box.left) * cell.width,
      bottom: (stale.bottom - box.top) * cell.height,
    };
    const codes = sixelPicture(cropOf(picture.raster!, part), { colours, background });
    return { column: stale.left, row: stale.top, codes };
  }

  #draw(plot: PlotImage): Raster {
    const { cell, background } = this.#graphics;
    const isLight = isLightColour(background);
    const pixels = plot.columns * cell.width * plot.rows * cell.height;
    const scale = this.liesInCells || pixels <= mostPixels ? 1 : Math.sqrt(mostPixels / pixels);
    return plot.draw({ width: cell.width * scale, height: cell.height * scale }, (tone) =>
      inkOf(this.#theme, tone, isLight),
    );
  }

  #refill(): void {
    const now = this.#now();
    this.#bytes = Math.min(atOnce, this.#bytes + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
  }

  /** A number for a picture, distinct among those shown together. */
  #nextId(): number {
    this.#count = (this.#count + 1) % mostIds;
    return firstId + this.#count;
  }
}

/** One picture on the terminal. */
export class ShownPicture {
  readonly id: number;
  readonly box: Box;
  of: PlotImage;
  raster: Raster | null = null;
  /** Cells in which it differs from what the terminal shows; null: none. */
  changed: Box | null = null;
  /** Cells of it that were written in this frame; null: none. */
  touched: Box | null = null;

  constructor(id: number, { of, left, top }: PlacedPlot) {
    this.id = id;
    this.of = of;
    this.box = { left, top, right: left + of.columns, bottom: top + of.rows };
  }

  isAt({ of, left, top }: PlacedPlot): boolean {
    const { box } = this;
    return box.left === left && box.top === top && box.right === left + of.columns && box.bottom === top + of.rows;
  }

  keep(): this {
    [this.changed, this.touched] = [null, null];
    return this;
  }

  show(of: PlotImage, raster: Raster, { width, height }: PixelSize): this {
    const { left, top } = this.box;
    const difference = this.raster === null ? this.box : differenceOf(this.raster, raster);
    this.touched = null;
    this.changed =
      this.raster === null || difference === null
        ? difference
        : {
            left: left + Math.floor(difference.left / width),
            top: top + Math.floor(difference.top / height),
            right: Math.min(this.box.right, left + Math.ceil(difference.right / width)),
            bottom: Math.min(this.box.bottom, top + Math.ceil(difference.bottom / height)),
          };
    [this.of, this.raster] = [of, raster];
    return this;
  }

  /** Notes that a cell of its place was written. */
  touch(row: number, column: number): void {
    this.touched = around(this.touched, { left: column, top: row, right: column + 1, bottom: row + 1 });
  }
}

function around(a: Box | null, b: Box | null): Box | null {
  if (a === null || b === null) return a ?? b;
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

/** Protocol for showing pictures in a terminal. */
export type GraphicsProtocol = 'kitty' | 'sixel';

/** Properties of a terminal that shows pictures. */
export type Graphics = {
  readonly protocol: GraphicsProtocol;
  /** Size of a character in pixels. */
  readonly cell: PixelSize;
  /** Maximum number of colours in one picture, for protocols with a palette. */
  readonly colours: number;
  /** Background colour of the terminal. */
  readonly background: Rgb;
};
