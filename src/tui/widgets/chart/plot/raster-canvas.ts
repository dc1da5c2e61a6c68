import type { Raster, Rgb } from '../../../surface/span.js';

/** Parts of a column of pixels in which a stroke is told from its neighbours: what makes steep lines smooth. */
const parts = 4;
/** Steps of opacity at the edge of a stroke; more are not seen, and make the picture larger to send. */
const shades = 16;

/** A place among the pixels, counted from the top left corner; it may lie between them and outside. */
type Point = { readonly x: number; readonly y: number };

/** How a stroke looks. `width`: in pixels. `isDrawnAt`: which columns of pixels have it, for dashes. */
export type Pencil = {
  readonly colour: Rgb;
  readonly width: number;
  readonly isDrawnAt?: (x: number) => boolean;
  /** Behind what is there already. */
  readonly isBehind?: boolean;
};

/**
 * A drawing of pixels with smooth edges, on nothing. A stroke is kept as what it covers of each part of a column, whatever the
 * number of its points, so that a million of them cost no more than a thousand.
 */
export class RasterCanvas {
  readonly width: number;
  readonly height: number;
  readonly #pixels: Uint8Array;
  /** How much of each pixel of one column is covered. */
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

  /** With fewer colours than could be told apart, so that it has no more of them than a palette. */
  raster(): Raster {
    for (let at = 0; at < this.#pixels.length; at++) {
      const step = (at & 3) === 3 ? 17 : 5;
      this.#pixels[at] = Math.round(this.#pixels[at]! / step) * step;
    }
    return { width: this.width, height: this.height, pixels: this.#pixels };
  }

  /** Joins points that go to the right. NaN is a gap. `pointAt`: asked once for each, in their order. */
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

  /** A disc. */
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

  /** Fills a column of pixels between two heights. `opacity`: 0 to 1. */
  fill(column: number, { top, bottom }: { top: number; bottom: number }, colour: Rgb, opacity: number): void {
    const [from, to] = [Math.max(0, top), Math.min(this.height, bottom)];
    for (let row = Math.floor(from); row < to; row++) {
      const covered = Math.min(row + 1, to) - Math.max(row, from);
      this.#blend(row * this.width + column, colour, covered * opacity);
    }
  }

  /** What a stroke from one point to the next covers of each part of a column it goes through. */
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

  /** The stroke with its width, as if a disc had gone along it. */
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

  /** From where to where a part of a column is covered, within the picture. */
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

  /** One colour over another, or below it. */
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
