import type { Series } from '../../../state/port.js';
import type { Tone } from '../../../surface/span.js';
import { type Scale, Ruler } from '../axes/chart-scale.js';
import type { Reference } from '../../../model/curves/chart-data.js';
import { type Seeds, type ChartSeries, stretchesOf } from '../chart-series.js';
import type { ChartLook } from '../chart-look.js';
import { dotted, solid } from './braille-canvas.js';
import { dashesOf } from './curve-dashes.js';

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
  /** Draws theoretical lines behind everything. */
  readonly references: (references: readonly Reference[]) => void;
};

/** Draws the series in a frame, from back to front: bands and theory, unsmoothed series, faint lines, other lines. */
export function drawPlot(
  allSeries: readonly ChartSeries[],
  frame: Frame,
  { references, choice }: ChartLook,
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
