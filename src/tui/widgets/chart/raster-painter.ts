import type { Reference } from '../../model/chart-data.js';
import type { Series } from '../../state/port.js';
import type { PixelSize, Raster, Rgb, Tone } from '../../surface/span.js';
import { Ruler, valueAt } from './chart-axis.js';
import type { Seeds } from './chart-series.js';
import { type Frame, type PlotPainter, seenReferences, type Stroke } from './plot-painter.js';

/** Opacity of a band behind the lines. */
const bandOpacity = 0.22;
const guideOpacity = 0.35;
/** Widths of strokes relative to the height of a character. */
const widths = { line: 0.11, faint: 0.07, reference: 0.06 };
/** Dashes of reference lines: the drawn columns of dots out of eight. */
const referenceDashes = 0x33;

/** Draws a plot for characters of the given pixel size, at the positions of the dots of characters. */
export function drawRaster(
  frame: Frame,
  cell: PixelSize,
  ink: (tone: Tone) => Rgb,
  draw: (painter: PlotPainter) => void,
): Raster {
  const canvas = new RasterCanvas(Math.round(frame.columns * cell.width), Math.round(frame.rows * cell.height));
  draw(new RasterPainter(canvas, frame, cell, ink));
  return canvas.raster();
}

/** Paints with pixels. Marks and names are left to characters, which are drawn over the picture. */
class RasterPainter implements PlotPainter {
  readonly #canvas: RasterCanvas;
  readonly #frame: Frame;
  readonly #cell: PixelSize;
  readonly #ink: (tone: Tone) => Rgb;
  readonly #across: Ruler;
  readonly #up: Ruler;

  constructor(canvas: RasterCanvas, frame: Frame, cell: PixelSize, ink: (tone: Tone) => Rgb) {
    [this.#canvas, this.#frame, this.#cell, this.#ink] = [canvas, frame, cell, ink];
    // The range is from the middle of the first dot of a character to that of the last, where the axes have their marks.
    this.#across = new Ruler(frame.x, canvas.width - cell.width / 2);
    this.#up = new Ruler(frame.y, canvas.height - cell.height / 4);
  }

  band({ line, low, high }: Seeds, tone: Tone): void {
    const colour = this.#ink(tone);
    const { height } = this.#canvas;
    const baseOf = (index: number): number =>
      this.#frame.y.isLog && low[index]! <= 0 ? height : this.#row(low[index]!);
    for (let index = 0; index < line.x.length; index++) {
      const next = Math.min(index + 1, line.x.length - 1);
      const [from, to] = [this.#column(line.x[index]!), this.#column(line.x[next]!)];
      for (
        let column = Math.ceil(from - 0.5);
        column + 0.5 < to || (column === Math.ceil(from - 0.5) && next === index);
        column++
      ) {
        const share = to > from ? (column + 0.5 - from) / (to - from) : 0;
        const top = mix(this.#row(high[index]!), this.#row(high[next]!), share);
        const base = mix(baseOf(index), baseOf(next), share);
        if (column < 0 || column >= this.#canvas.width || Number.isNaN(top + base)) continue;
        this.#canvas.fill(column, { top, bottom: base }, { colour, opacity: bandOpacity });
      }
    }
  }

  raise(): void {
    // Later operations draw over earlier ones anyway.
  }

  line({ x, y }: Series, { tone, isRising, dashes }: Stroke): void {
    const pencil = this.#pencil(tone, tone === 'faint' ? widths.faint : widths.line, dashes);
    const pointAt = (index: number): { x: number; y: number } => ({
      x: this.#column(x[index]!),
      y: this.#row(y[index]!),
    });
    if (isRising) return this.#canvas.stroke(y.length, pointAt, pencil);
    for (let index = 0; index < y.length; index++)
      this.#canvas.dot(pointAt(index), { ...pencil, width: pencil.width + 1 });
  }

  outside(): void {
    // The arrows are characters.
  }

  references(references: readonly Reference[]): void {
    const { x } = this.#frame;
    const steps = this.#frame.columns;
    for (const { value, isPerX } of seenReferences(references, this.#frame)) {
      const pencil = { ...this.#pencil('faint', widths.reference, referenceDashes), isBehind: true };
      const pointAt = (step: number): { x: number; y: number } => {
        const across = valueAt(x, step / steps);
        return { x: this.#column(across), y: this.#row(isPerX ? value * across : value) };
      };
      this.#canvas.stroke(steps + 1, pointAt, pencil);
    }
  }

  guides({ x, y }: { readonly x: readonly number[]; readonly y: readonly number[] }): void {
    const { width, height } = this.#canvas;
    const [first, across] = [this.#cell.width / 4, width - this.#cell.width / 2];
    const [base, up] = [height - this.#cell.height / 8, height - this.#cell.height / 4];
    const ink = { colour: this.#ink('faint'), opacity: guideOpacity, isBehind: true };
    for (const at of y) {
      const row = Math.round(base - at * up);
      for (let column = 0; column < width; column++) this.#canvas.fill(column, { top: row, bottom: row + 1 }, ink);
    }
    for (const at of x) this.#canvas.fill(Math.round(first + at * across), { top: 0, bottom: height }, ink);
  }

  #column(x: number): number {
    return this.#cell.width / 4 + this.#across.at(x);
  }

  #row(y: number): number {
    return this.#canvas.height - this.#cell.height / 8 - this.#up.at(y);
  }

  #pencil(tone: Tone, width: number, dashes: number): Pencil {
    const dot = this.#cell.width / 2;
    return {
      colour: this.#ink(tone),
      width: Math.max(1.2, width * this.#cell.height),
      ...(dashes === 0xff ? {} : { isDrawnAt: (x: number) => ((dashes >> (Math.floor(x / dot) & 7)) & 1) === 1 }),
    };
  }
}

function mix(from: number, to: number, share: number): number {
  return share === 0 ? from : from + (to - from) * share;
}

/** Subdivisions of a pixel column for the coverage of a stroke, which make steep lines smooth. */
const parts = 4;
/** Number of opacity steps at the edge of a stroke; more are not visible and make the picture larger to send. */
const shades = 16;

/** A position among the pixels, from the top left corner; it may be between pixels or outside. */
type Point = { readonly x: number; readonly y: number };

/** How a stroke looks. `width`: in pixels. `isDrawnAt`: which columns of pixels have it, for dashes. */
type Pencil = {
  readonly colour: Rgb;
  readonly width: number;
  readonly isDrawnAt?: (x: number) => boolean;
  /** Whether to draw behind the existing picture. */
  readonly isBehind?: boolean;
};

/**
 * An antialiased drawing in pixels on a transparent background. A stroke is stored as its coverage of each part of a column,
 * whatever the number of points, so a million points cost no more than a thousand.
 */
export class RasterCanvas {
  readonly width: number;
  readonly height: number;
  readonly #pixels: Uint8Array;
  /** Coverage of each pixel in one column. */
  readonly #cover: Float32Array;
  readonly #tops: Float32Array;
  readonly #bottoms: Float32Array;

  constructor(width: number, height: number) {
    [this.width, this.height] = [width, height];
    this.#pixels = new Uint8Array(width * height * 4);
    this.#cover = new Float32Array(height);
    this.#tops = new Float32Array(width * parts);
    this.#bottoms = new Float32Array(width * parts);
  }

  /** Returns the picture, with few enough colours for a palette. */
  raster(): Raster {
    for (let at = 0; at < this.#pixels.length; at++) {
      const step = (at & 3) === 3 ? 17 : 5;
      this.#pixels[at] = Math.round(this.#pixels[at]! / step) * step;
    }
    return { width: this.width, height: this.height, pixels: this.#pixels };
  }

  /** Joins points from left to right. NaN is a gap. `pointAt`: called once for each, in order. */
  stroke(count: number, pointAt: (index: number) => Point, pencil: Pencil): void {
    this.#tops.fill(Infinity);
    this.#bottoms.fill(-Infinity);
    let last: Point | null = null;
    for (let index = 0; index < count; index++) {
      const point = pointAt(index);
      const isThere = !Number.isNaN(point.x + point.y);
      if (isThere) this.#join(last ?? point, point, pencil);
      last = isThere ? point : null;
    }
    this.#ink(pencil);
  }

  /** Draws a disc. */
  dot({ x, y }: Point, { colour, width }: Pencil): void {
    const radius = width / 2;
    const rows = [Math.floor(y - radius - 1), Math.ceil(y + radius + 1)] as const;
    for (let row = Math.max(0, rows[0]); row < Math.min(this.height, rows[1]); row++) {
      for (
        let column = Math.max(0, Math.floor(x - radius - 1));
        column <= x + radius + 1 && column < this.width;
        column++
      ) {
        const distance = Math.hypot(column + 0.5 - x, row + 0.5 - y);
        this.#blend(row * this.width + column, colour, Math.min(1, radius + 0.5 - distance));
      }
    }
  }

  /** Fills a column of pixels between two heights, in front of the existing picture or behind it. */
  fill(
    column: number,
    { top, bottom }: { top: number; bottom: number },
    { colour, opacity, isBehind = false }: { colour: Rgb; opacity: number; isBehind?: boolean },
  ): void {
    const [from, to] = [Math.max(0, top), Math.min(this.height, bottom)];
    for (let row = Math.floor(from); row < to; row++) {
      const covered = Math.min(row + 1, to) - Math.max(row, from);
      this.#blend(row * this.width + column, colour, covered * opacity, isBehind);
    }
  }

  /** Adds the coverage of a stroke between two points to each part of the columns it crosses. */
  #join(from: Point, to: Point, { isDrawnAt }: Pencil): void {
    const first = Math.max(0, Math.floor(from.x * parts));
    const last = Math.min(this.width * parts - 1, Math.floor(to.x * parts));
    const slope = to.x > from.x ? (to.y - from.y) / (to.x - from.x) : 0;
    for (let part = first; part <= last; part++) {
      if (isDrawnAt !== undefined && !isDrawnAt(part / parts)) continue;
      const begin = part / parts <= from.x ? from.y : from.y + slope * (part / parts - from.x);
      const end = (part + 1) / parts >= to.x ? to.y : from.y + slope * ((part + 1) / parts - from.x);
      const [low, high] = begin < end ? [begin, end] : [end, begin];
      if (low < this.#tops[part]!) this.#tops[part] = low;
      if (high > this.#bottoms[part]!) this.#bottoms[part] = high;
    }
  }

  /** Draws the covered parts with the width of the stroke, as if a disc had moved along it. */
  #ink(pencil: Pencil): void {
    const radius = pencil.width / 2;
    const reach = Math.floor(radius * parts);
    const heights = Array.from({ length: reach + 1 }, (_, part) => Math.sqrt(radius ** 2 - (part / parts) ** 2));
    for (let column = 0; column < this.width; column++) {
      let [top, bottom] = [this.height, 0];
      for (let part = column * parts; part < (column + 1) * parts; part++) {
        const [from, to] = this.#covered(part, heights);
        if (!(from < to)) continue;
        for (let row = Math.floor(from); row < to; row++) {
          this.#cover[row]! += (Math.min(row + 1, to) - Math.max(row, from)) / parts;
        }
        [top, bottom] = [Math.min(top, Math.floor(from)), Math.max(bottom, Math.ceil(to))];
      }
      for (let row = top; row < bottom; row++) {
        this.#blend(row * this.width + column, pencil.colour, this.#cover[row]!, pencil.isBehind);
        this.#cover[row] = 0;
      }
    }
  }

  /** Covered range of a part of a column, within the picture. */
  #covered(part: number, heights: readonly number[]): [from: number, to: number] {
    let [from, to] = [Infinity, -Infinity];
    const reach = heights.length - 1;
    const last = Math.min(this.width * parts - 1, part + reach);
    for (let other = Math.max(0, part - reach); other <= last; other++) {
      const height = heights[Math.abs(other - part)]!;
      from = Math.min(from, this.#tops[other]! - height);
      to = Math.max(to, this.#bottoms[other]! + height);
    }
    return [Math.max(0, from), Math.min(this.height, to)];
  }

  /** Blends a colour over or behind that of a pixel. */
  #blend(pixel: number, colour: Rgb, opacity: number, isBehind = false): void {
    const own = Math.round(opacity * shades) / shades;
    if (!(own > 0)) return;
    const at = pixel * 4;
    const there = this.#pixels[at + 3]! / 255;
    const share = isBehind ? own * (1 - there) : own;
    const opaque = isBehind ? there + share : own + there * (1 - own);
    if (share === 0) return;
    for (let part = 0; part < 3; part++) {
      const old = this.#pixels[at + part]!;
      this.#pixels[at + part] = Math.round(old + ((colour[part]! - old) * share) / opaque);
    }
    this.#pixels[at + 3] = Math.round(opaque * 255);
  }
}
