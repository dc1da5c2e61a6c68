import type { Series } from '../port.js';
import { BrailleCanvas } from './braille-canvas.js';
import type { ChartLook } from './chart-look.js';
import { drawReferences } from './chart-references.js';
import { Ruler, type Scale } from './chart-scale.js';
import type { Seeds, ChartSeries } from './chart-series.js';
import type { Tone } from './span.js';

/** Both axes, and the size of the picture in characters. */
export type Frame = { readonly x: Scale; readonly y: Scale; readonly columns: number; readonly rows: number };

/** The strands in a frame: bands and theory at the back, then what was smoothed, then faint lines, the others in front. */
export function drawPicture(
  strands: readonly ChartSeries[],
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

/** Where points lie among the dots. */
class Place {
  readonly bottom: number;
  readonly #across: Ruler;
  readonly #up: Ruler;

  constructor({ x, y, columns, rows }: Frame) {
    this.bottom = rows * 4 - 1;
    this.#across = new Ruler(x, columns * 2 - 1);
    this.#up = new Ruler(y, this.bottom);
  }

  column(x: number): number {
    return Math.round(this.#across.at(x));
  }

  /** Not rounded. */
  row(y: number): number {
    return this.bottom - this.#up.at(y);
  }
}

/**
 * Joins the points that follow each other; those of a series without order are dots. NaN is a gap. There are many points to
 * a column of dots: they come to one stroke, from the highest to the lowest.
 */
function drawSeries(
  canvas: BrailleCanvas,
  frame: Frame,
  { series: { x, y }, isRising }: { series: Series; isRising: boolean },
  tone: Tone,
): void {
  const place = new Place(frame);
  // The column that is being drawn, or NaN; the rows of its points.
  let [at, top, bottom, last] = [Number.NaN, 0, 0, 0];
  for (let index = 0; index < y.length; index++) {
    const row = place.row(y[index]!);
    const column = Number.isNaN(row) ? row : place.column(x[index]!);
    if (isRising && column === at) {
      top = Math.min(top, row);
      bottom = Math.max(bottom, row);
    } else {
      if (!Number.isNaN(at)) canvas.stroke(at, Math.round(top), Math.round(bottom), tone);
      if (isRising && !Number.isNaN(at + column)) canvas.line({ column: at, row: last }, { column, row }, tone);
      [at, top, bottom] = [column, row, row];
    }
    last = row;
  }
  if (!Number.isNaN(at)) canvas.stroke(at, Math.round(top), Math.round(bottom), tone);
}

/** Every second dot of every second column between the edges: a shade of the line's own tone that leaves other lines to be seen. */
function drawBand(canvas: BrailleCanvas, frame: Frame, { line, low, high }: Seeds, tone: Tone): void {
  const place = new Place(frame);
  const { bottom } = place;
  for (let index = 0; index < line.x.length; index++) {
    const top = place.row(high[index]!);
    // A lower edge that a logarithmic axis has no place for lies below the picture.
    const base = frame.y.isLog && low[index]! <= 0 ? bottom : place.row(low[index]!);
    if (Number.isNaN(top) || Number.isNaN(base)) continue;
    const column = place.column(line.x[index]!);
    for (let row = Math.max(0, Math.ceil(top)); row <= Math.min(bottom, Math.floor(base)); row++) {
      if ((column + 2 * (row & 1)) % 4 === 0) canvas.dot(column, row, tone);
    }
  }
}

/** An arrow at the edge where a line has left the picture. */
function markOutside(canvas: BrailleCanvas, { x, y, columns, rows }: Frame, line: Series, tone: Tone): void {
  const across = new Ruler(x, columns * 2 - 1);
  for (let index = 0; index < line.y.length; index++) {
    const column = Math.round(across.at(line.x[index]!)) >> 1;
    if (!(column >= 0 && column < columns)) continue;
    if (line.y[index]! > y.high) canvas.write(column, 0, '↑', tone);
    else if (line.y[index]! < y.low) canvas.write(column, rows - 1, '↓', tone);
  }
}
