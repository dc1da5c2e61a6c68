import type { ChartLook } from '../chart-look.js';
import { Ruler } from '../axes/chart-scale.js';
import { dotted, solid } from './braille-canvas.js';
import { type ChartSeries, stretchesOf } from '../chart-series.js';
import { dashesOf } from './curve-dashes.js';
import type { Frame, PlotPainter } from './plot-painter.js';
import type { Series } from '../../../state/port.js';

/** Draws the strands in a frame, from back to front: bands and theory, unsmoothed series, faint lines, other lines. */
export function drawPlot(
  strands: readonly ChartSeries[],
  frame: Frame,
  { references, choice }: ChartLook,
  painter: PlotPainter,
): void {
  drawBehind(strands, painter);
  const inFront = strands.filter(({ tone }) => tone !== 'faint');
  for (const layer of [strands.filter(({ tone }) => tone === 'faint'), inFront]) {
    painter.raise();
    for (const strand of layer) {
      const dashes = choice.hasDashes && isLong(strand.line, frame) ? dashesOf(strand.tone) : solid;
      drawStrand(strand, dashes, painter);
    }
  }
  if (frame.isLeft) for (const { line, tone } of strands) painter.outside(line, tone);
  painter.references(references);
}

function drawBehind(strands: readonly ChartSeries[], painter: PlotPainter): void {
  for (const { seeds, tone } of strands) if (seeds !== null) painter.band(seeds, tone);
  painter.raise();
  for (const { raw, isRising } of strands) {
    if (raw !== null) painter.line(raw, { tone: 'faint', isRising, dashes: solid });
  }
}

/** Draws a strand, dotted where it does not represent all of its runs. */
function drawStrand({ line, isRising, tone, seeds }: ChartSeries, dashes: number, painter: PlotPainter): void {
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
