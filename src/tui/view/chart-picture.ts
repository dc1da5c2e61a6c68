import type { Series } from '../port.js';
import { BrailleCanvas } from './braille-canvas.js';
import type { ChartLook } from './chart-look.js';
import { drawReferences } from './chart-references.js';
import { positionOn, type Scale } from './chart-scale.js';
import type { Seeds, Strand } from './chart-strands.js';
import type { Tone } from './span.js';

/** Both axes, and the size of the picture in characters. */
export type Frame = { readonly x: Scale; readonly y: Scale; readonly columns: number; readonly rows: number };

/** The strands in a frame: bands and theory at the back, then what was smoothed, then faint lines, the others in front. */
export function drawPicture(
  strands: readonly Strand[],
  frame: Frame,
  { references, choice }: ChartLook,
): BrailleCanvas {
  const canvas = new BrailleCanvas(frame.columns, frame.rows);
  for (const { seeds, tone } of strands) if (seeds !== null) drawBand(canvas, frame, seeds, tone);
  canvas.raise();
  for (const { raw, isRising } of strands) {
    if (raw !== null) drawSeries(canvas, frame, { series: raw, isRising }, 'faint');
  }
  const inFront = strands.filter(({ tone }) => tone !== 'faint');
  for (const layer of [strands.filter(({ tone }) => tone === 'faint'), inFront]) {
    canvas.raise();
    for (const { line, isRising, tone } of layer) drawSeries(canvas, frame, { series: line, isRising }, tone);
  }
  if (choice.isClipped) for (const { line, tone } of strands) markOutside(canvas, frame, line, tone);
  drawReferences(canvas, frame, references);
  return canvas;
}

/** Where a point lies among the dots. */
function dotsOf({ x, y, columns, rows }: Frame): { column: (x: number) => number; row: (y: number) => number } {
  const across = positionOn(x, columns * 2 - 1);
  const bottom = rows * 4 - 1;
  const up = positionOn(y, bottom);
  return { column: (value) => Math.round(across(value)), row: (value) => bottom - up(value) };
}

/** Joins the points that follow each other; those of a series without order are dots. NaN is a gap. */
function drawSeries(
  canvas: BrailleCanvas,
  frame: Frame,
  { series: { x, y }, isRising }: { series: Series; isRising: boolean },
  tone: Tone,
): void {
  const { column: columnOf, row: rowOf } = dotsOf(frame);
  const pencil = new Pencil(canvas, tone);
  for (let index = 0; index < y.length; index++) {
    const column = columnOf(x[index]!);
    const row = rowOf(y[index]!);
    if (Number.isNaN(column) || Number.isNaN(row)) pencil.lift();
    else pencil.drawTo(column, row, isRising);
  }
  pencil.lift();
}

/** Draws one line. There are many points to a column of dots: they come to one stroke, from the highest to the lowest. */
class Pencil {
  readonly #canvas: BrailleCanvas;
  readonly #tone: Tone;
  /** The last point; no column: the pencil is lifted. */
  #column = Number.NaN;
  #row = 0;
  /** Of the points in that column. */
  #top = 0;
  #bottom = 0;

  constructor(canvas: BrailleCanvas, tone: Tone) {
    this.#canvas = canvas;
    this.#tone = tone;
  }

  /** `joins`: with a line from the last point. */
  drawTo(column: number, row: number, joins: boolean): void {
    if (joins && column === this.#column) {
      this.#top = Math.min(this.#top, row);
      this.#bottom = Math.max(this.#bottom, row);
    } else {
      const last = { column: this.#column, row: this.#row };
      this.lift();
      if (joins && !Number.isNaN(last.column)) this.#canvas.line(last, { column, row }, this.#tone);
      this.#column = column;
      this.#top = row;
      this.#bottom = row;
    }
    this.#row = row;
  }

  lift(): void {
    if (Number.isNaN(this.#column)) return;
    this.#canvas.stroke(this.#column, Math.round(this.#top), Math.round(this.#bottom), this.#tone);
    this.#column = Number.NaN;
  }
}

/** Every second dot of every second column between the edges: a shade of the line's own tone that leaves other lines to be seen. */
function drawBand(canvas: BrailleCanvas, frame: Frame, { line, low, high }: Seeds, tone: Tone): void {
  const { column: columnOf, row: rowOf } = dotsOf(frame);
  const bottom = frame.rows * 4 - 1;
  for (let index = 0; index < line.x.length; index++) {
    const top = rowOf(high[index]!);
    // A lower edge that a logarithmic axis has no place for lies below the picture.
    const base = frame.y.isLog && low[index]! <= 0 ? bottom : rowOf(low[index]!);
    if (Number.isNaN(top) || Number.isNaN(base)) continue;
    const column = columnOf(line.x[index]!);
    for (let row = Math.max(0, Math.ceil(top)); row <= Math.min(bottom, Math.floor(base)); row++) {
      if ((column + 2 * (row & 1)) % 4 === 0) canvas.dot(column, row, tone);
    }
  }
}

/** An arrow at the edge where a line has left the picture. */
function markOutside(canvas: BrailleCanvas, { x, y, columns, rows }: Frame, line: Series, tone: Tone): void {
  const columnOf = positionOn(x, columns * 2 - 1);
  for (let index = 0; index < line.y.length; index++) {
    const column = Math.round(columnOf(line.x[index]!)) >> 1;
    if (!(column >= 0 && column < columns)) continue;
    if (line.y[index]! > y.high) canvas.write(column, 0, '↑', tone);
    else if (line.y[index]! < y.low) canvas.write(column, rows - 1, '↓', tone);
  }
}
