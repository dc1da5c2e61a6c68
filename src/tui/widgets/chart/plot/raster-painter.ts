import type { Series } from '../../../state/port.js';
import type { PixelSize, Raster, Rgb, Tone } from '../../../surface/span.js';
import { Ruler, valueAt } from '../axes/chart-scale.js';
import { seenReferences } from './braille-painter.js';
import type { Reference } from '../../../model/curves/chart-data.js';
import type { Seeds } from '../chart-series.js';
import type { Frame, PlotPainter, Stroke } from './plot-painter.js';
import { type Pencil, RasterCanvas } from './raster-canvas.js';

/** Opacity of a band behind the lines. */
const bandOpacity = 0.22;
const guideOpacity = 0.35;
/** Widths of strokes relative to the height of a character. */
const widths = { line: 0.11, faint: 0.07, reference: 0.06 };
/** Dashes of theoretical lines: the drawn columns of dots out of eight. */
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
