import type { Reference } from '../../model/chart-data.js';
import type { ChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import type { Tone } from '../../surface/span.js';
import { Ruler, type Scale, valueAt } from './chart-axis.js';
import { type ChartSeries, type Seeds, stretchesOf } from './chart-series.js';
import { type BrailleCanvas, dashesOf, dotted, solid } from './braille-canvas.js';

/** Both axes, and the size of the plot in characters. `isLeft`: whether lines leave the y axis. */
export type Frame = {
  readonly x: Scale;
  readonly y: Scale;
  readonly columns: number;
  readonly rows: number;
  readonly isLeft: boolean;
};

/** How one line is drawn. `dashes`: which of eight columns of dots it has, two dots to a character. */
export type Stroke = { readonly tone: Tone; readonly isRising: boolean; readonly dashes: number };

/** How a plot is drawn: the reference lines in it, and whether curves differ in their dashes. */
type PlotLook = { readonly references: readonly Reference[]; readonly choice: Pick<ChartChoice, 'hasDashes'> };

/** Operations for drawing a plot with dots of characters or with pixels. Later operations draw over earlier ones. */
export type PlotPainter = {
  /** Fills the area between the edges where there are at least two runs. */
  readonly band: (seeds: Seeds, tone: Tone) => void;
  /** Starts a new layer in front of everything drawn so far. */
  readonly raise: () => void;
  /** Joins successive points; points of an unordered series are drawn as dots. NaN is a gap. */
  readonly line: (series: Series, stroke: Stroke) => void;
  /** Marks where a line leaves the plot. */
  readonly outside: (line: Series, tone: Tone) => void;
  /** Draws guides behind everything. `x` and `y`: their positions from 0 to 1. */
  readonly guides: (guides: { readonly x: readonly number[]; readonly y: readonly number[] }) => void;
  /** Draws reference lines behind everything. */
  readonly references: (references: readonly Reference[]) => void;
};

/** Draws the series in a frame, from back to front: bands and reference lines, unsmoothed series, faint lines, other lines. */
export function drawPlot(
  allSeries: readonly ChartSeries[],
  frame: Frame,
  { references, choice }: PlotLook,
  painter: PlotPainter,
): void {
  drawBehind(allSeries, painter);
  const inFront = allSeries.filter(({ tone }) => tone !== 'faint');
  for (const layer of [allSeries.filter(({ tone }) => tone === 'faint'), inFront]) {
    painter.raise();
    for (const series of layer) {
      const dashes = choice.hasDashes && isLong(series.line, frame) ? dashesOf(series.tone) : solid;
      drawSeries(series, dashes, painter);
    }
  }
  if (frame.isLeft) for (const { line, tone } of allSeries) painter.outside(line, tone);
  painter.references(references);
}

function drawBehind(allSeries: readonly ChartSeries[], painter: PlotPainter): void {
  for (const { seeds, tone } of allSeries) if (seeds !== null) painter.band(seeds, tone);
  painter.raise();
  for (const { raw, isRising } of allSeries) {
    if (raw !== null) painter.line(raw, { tone: 'faint', isRising, dashes: solid });
  }
}

/** Draws a series, dotted where it does not represent all of its runs. */
function drawSeries({ line, isRising, tone, seeds }: ChartSeries, dashes: number, painter: PlotPainter): void {
  const { whole, part } = seeds === null ? { whole: line, part: null } : stretchesOf(seeds);
  painter.line(whole, { tone, isRising, dashes });
  if (part !== null) painter.line(part, { tone, isRising, dashes: dotted });
}

/** Minimum number of dot columns for dashes; a shorter line could fall into a gap completely. */
const leastDashed = 16;

function isLong({ x }: Series, frame: Frame): boolean {
  const across = new Ruler(frame.x, frame.columns * 2 - 1);
  return x.length > 1 && Math.round(across.at(x.at(-1)!)) - Math.round(across.at(x[0]!)) >= leastDashed;
}

/** Paints with dots of braille characters. */
export function braillePainter(canvas: BrailleCanvas, frame: Frame): PlotPainter {
  return {
    band: (seeds, tone) => drawBand(canvas, frame, seeds, tone),
    raise: () => canvas.raise(),
    line: (series, stroke) => {
      canvas.dash(stroke.dashes);
      joinPoints(canvas, frame, series, stroke);
      canvas.dash(solid);
    },
    outside: (line, tone) => markOutside(canvas, frame, line, tone),
    references: (references) => drawReferences(canvas, frame, references),
    guides: (guides) => drawGuides(canvas, guides),
  };
}

/** Positions of points among the dots. */
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

  /** The row, unrounded. */
  row(y: number): number {
    return this.bottom - this.#up.at(y);
  }
}

/**
 * Joins successive points; points of an unordered series are drawn as dots. NaN is a gap. The many points in one column of dots are
 * drawn as one stroke from the highest to the lowest.
 */
function joinPoints(canvas: BrailleCanvas, frame: Frame, { x, y }: Series, { isRising, tone }: Stroke): void {
  const place = new Place(frame);
  // The current column, or NaN; the rows of its points.
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

/** Fills the area between the edges where there are at least two runs. */
function drawBand(canvas: BrailleCanvas, frame: Frame, { line, low, high }: Seeds, tone: Tone): void {
  const place = new Place(frame);
  const { bottom } = place;
  for (let index = 0; index < line.x.length; index++) {
    const top = place.row(high[index]!);
    // A lower edge that a logarithmic axis leaves out is below the picture.
    const base = frame.y.isLog && low[index]! <= 0 ? bottom : place.row(low[index]!);
    if (Number.isNaN(top) || Number.isNaN(base)) continue;
    canvas.fill(place.column(line.x[index]!), Math.ceil(top), Math.floor(base), tone);
  }
}

/** Marks the edge where a line leaves the picture, and where it ends outside. */
function markOutside(canvas: BrailleCanvas, { x, y, columns, rows }: Frame, line: Series, tone: Tone): void {
  const across = new Ruler(x, columns * 2 - 1);
  const last = line.y.length - 1;
  let before = 0;
  for (let index = 0; index <= last; index++) {
    const side = sideOf(line.y[index]!, y);
    const column = Math.round(across.at(line.x[index]!)) >> 1;
    const isMarked = side !== 0 && (side !== before || index === last) && column >= 0 && column < columns;
    if (isMarked) canvas.write(column, side > 0 ? 0 : rows - 1, side > 0 ? '▲' : '▼', tone);
    // The line is still outside after a gap.
    if (!Number.isNaN(line.y[index])) before = side;
  }
}

/** 1 above the axis, -1 below it, 0 on it or if a logarithmic axis has no position for the value. */
function sideOf(value: number, { low, high, isLog }: Scale): -1 | 0 | 1 {
  if (value > high) return 1;
  return value < low && !(isLog && value <= 0) ? -1 : 0;
}

/** Draws a dot per character along horizontal guides, and two along vertical ones, which look equally dense. */
function drawGuides(
  canvas: BrailleCanvas,
  { x, y }: { readonly x: readonly number[]; readonly y: readonly number[] },
): void {
  const [right, bottom] = [canvas.columns * 2 - 1, canvas.rows * 4 - 1];
  for (const at of y)
    for (let column = 0; column <= right; column += 2)
      canvas.dotBehind(column, bottom - Math.round(at * bottom), 'faint');
  for (const at of x) for (let row = 0; row <= bottom; row += 2) canvas.dotBehind(Math.round(at * right), row, 'faint');
}

/** Minimum number of visible dot columns of a reference line; a shorter one would look like a tick. */
const leastDots = 16;

/**
 * Draws reference lines behind the curves: dashed, with a name near the right end if there is room. Lines outside the picture are
 * left out. Called last, so that names avoid curves.
 */
function drawReferences(canvas: BrailleCanvas, frame: Frame, references: readonly Reference[]): void {
  const lines = seenReferences(references, frame).map((reference) => ({
    text: reference.label,
    rows: rowsOf(reference, frame),
  }));
  for (const { rows } of lines) {
    rows.forEach((row, column) => {
      if (row !== null && column % 4 < 2) canvas.dotBehind(column, row, 'faint');
    });
  }
  // Names are drawn after all lines, so that none covers dashes of another line.
  for (const { text, rows } of lines) label(canvas, text, rows);
}

/** Reference lines whose visible part is long enough. */
export function seenReferences(references: readonly Reference[], frame: Frame): Reference[] {
  return references.filter((reference) => rowsOf(reference, frame).filter((row) => row !== null).length >= leastDots);
}

/** The row of dots in each column of dots; null where the line is outside. */
function rowsOf({ value, isPerX }: Reference, { x, y, columns, rows }: Frame): (number | null)[] {
  const bottom = rows * 4 - 1;
  const up = new Ruler(y, bottom);
  const width = columns * 2;
  return Array.from({ length: width }, (_, column) => {
    const row = bottom - Math.round(up.at(isPerX ? value * valueAt(x, column / (width - 1)) : value));
    return row >= 0 && row <= bottom ? row : null;
  });
}

/** Writes a name above or below the line, as far right as no curve is in the way. */
function label(canvas: BrailleCanvas, text: string, rows: readonly (number | null)[]): void {
  for (let column = canvas.columns - text.length; column >= 0; column--) {
    const dots = rows.slice(column * 2, (column + text.length) * 2).filter((row) => row !== null);
    if (dots.length === 0) continue;
    const [top, bottom] = [Math.min(...dots) >> 2, Math.max(...dots) >> 2];
    // Includes a space before and after it, within the picture.
    const start = Math.max(0, column - 1);
    const length = Math.min(canvas.columns, column + text.length + 1) - start;
    const row = [top - 1, bottom + 1].find((free) => canvas.isFree(start, free, length));
    if (row === undefined) continue;
    canvas.write(column, row, text, 'faint');
    return;
  }
}
