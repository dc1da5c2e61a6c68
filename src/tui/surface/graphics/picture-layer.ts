import { crc32, deflateSync } from 'node:zlib';
import type { PlotImage, Tone } from '../span.js';
import type { Theme } from '../theme.js';
import { cropOf, differenceOf, indexed, partsOf, type PixelSize, type Raster, type Rgb, wordsOf } from './raster.js';
import { sixelPicture } from './sixel.js';

/** A picture in the terminal: its number, and the cells it fills from the cursor on. */
type Placement = { readonly id: number; readonly columns: number; readonly rows: number };

/** Maximum number of base64 characters in one sequence according to the protocol. */
const mostInChunk = 4096;
/** Options: below the text, so that letters stay readable; without moving the cursor; without answers. */
const below = 'p=1,z=-1,C=1,q=2';

/**
 * The codes that show a picture from the cursor on, scaled to its cells, in kitty's graphics protocol
 * (https://sw.kovidgoyal.net/kitty/graphics-protocol/). Replaces an earlier picture with the same number.
 */
export function kittyPicture(raster: Raster, { id, columns, rows }: Placement): string {
  const data = pngOf(raster).toString('base64');
  const head = `a=T,f=100,i=${id},c=${columns},r=${rows},${below}`;
  const chunks = Math.max(1, Math.ceil(data.length / mostInChunk));
  return Array.from({ length: chunks }, (_, index) => {
    const more = index < chunks - 1 ? 1 : 0;
    const control = index === 0 ? `${head},m=${more}` : `q=2,m=${more}`;
    return command(control, data.slice(index * mostInChunk, (index + 1) * mostInChunk));
  }).join('');
}

/** Shows a transmitted picture again, because some terminals remove it from cells that are written. */
function kittyPlacement({ id, columns, rows }: Placement): string {
  return command(`a=p,i=${id},c=${columns},r=${rows},${below}`);
}

/** Deletes a picture wherever it is shown. */
function kittyRemoval(id: number): string {
  return command(`a=d,d=I,i=${id},q=2`);
}

function command(control: string, data = ''): string {
  return `\u001b_G${control}${data === '' ? '' : `;${data}`}\u001b\\`;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Bits per pixel, palette as colour type, and the only methods of compression, filtering and interlacing. */
const format = [8, 3, 0, 0, 0];

/** A picture as PNG with a palette of at most 256 colours, a third of the size of compressed raw pixels. */
function pngOf(raster: Raster): Buffer {
  const { width, height } = raster;
  const { places, palette } = indexed(wordsOf(raster), 256);
  const colours = palette.map(partsOf);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Each row begins with filter type 0, since filters do not help for palette indexes.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    rows.set(places.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  return Buffer.concat([
    signature,
    chunk('IHDR', Buffer.concat([head, Buffer.from(format)])),
    chunk('PLTE', Buffer.from(colours.flatMap(([red, green, blue]) => [red, green, blue]))),
    chunk('tRNS', Buffer.from(colours.map(([, , , opacity]) => opacity))),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** The sixteen colours of xterm. If a terminal uses others, lines in pictures differ slightly from their labels. */
const sixteen: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];
/** Brightness steps of the colour cube. */
const steps = [0, 95, 135, 175, 215, 255];

/**
 * The colour of text with a tone. `isLight`: whether the terminal's background is light, for tones without a colour of their own.
 */
function inkOf(theme: Theme, tone: Tone, isLight: boolean): Rgb {
  const codes = theme.sgr(tone, 'none');
  const [, index] = /(?:^|;)38;5;(\d+)/.exec(codes) ?? [];
  if (index !== undefined) return indexedColour(Number(index));
  const [, bright, number] = /(?:^|;)([39])([0-7])(?:;|$)/.exec(codes) ?? [];
  if (number !== undefined) return sixteen[Number(number) + (bright === '9' ? 8 : 0)]!;
  if (codes === '2') return [128, 128, 128];
  return isLight ? [40, 40, 40] : [220, 220, 220];
}

/** A colour of the table of 256. */
function indexedColour(index: number): Rgb {
  if (index < 16) return sixteen[index]!;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = index - 16;
  return [steps[Math.floor(cube / 36)]!, steps[Math.floor(cube / 6) % 6]!, steps[cube % 6]!];
}

/** Whether dark text is readable on a colour. */
function isLightColour([red, green, blue]: Rgb): boolean {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 128;
}

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
