import type { Guides } from '../../state/chart-choice.js';
import type { PixelSize, PlotImage, Raster, Rgb, Tone } from '../../surface/span.js';
import type { Frame, PlotPainter } from './plot/plot-painter.js';
import { BrailleCanvas } from './plot/braille-canvas.js';
import { braillePainter } from './plot/braille-painter.js';
import { countsRow } from './chart-counts.js';
import { type Mark, xMarksOf, yMarksOf } from './chart-marks.js';
import { type ChartLook, type Curve, lookKey } from './chart-look.js';
import { drawPlot } from './plot/draw-plot.js';
import { drawRaster } from './plot/raster-painter.js';
import { xScaleOf, type YAxis, yAxisOf } from './axes/chart-range.js';
import type { Scale } from './axes/chart-scale.js';
import { type ChartSeries, chartSeriesOf } from './chart-series.js';
import { factsOf } from './chart-facts.js';
import { Memo } from '../../../base/memo.js';

/** Lines and axes of the curves, independent of the height of the chart. */
type Stranding = {
  readonly x: Scale;
  /** Null: nothing is visible. */
  readonly y: YAxis | null;
  readonly strands: readonly ChartSeries[];
  /** Number of points that a logarithmic axis leaves out. */
  readonly leftOut: { readonly x: number; readonly y: number };
};

/** A drawn chart without its cursor. */
export type Plot = {
  readonly x: Scale;
  readonly y: Scale;
  readonly labelWidth: number;
  readonly xMarks: readonly Mark[];
  readonly yMarks: readonly Mark[];
  readonly picture: BrailleCanvas;
  /** The same picture in pixels, for terminals that show pictures. */
  readonly image: PlotImage;
  /** Row below the x axis with the number of runs, as wide as the picture; null: the number is constant. */
  readonly counts: string | null;
};

/** Lines of a chart of this width; null if no point can be drawn. Cached by the list of curves. */
export function strandingOf(curves: readonly Curve[], width: number, look: ChartLook): Stranding | null {
  return strandings.value(curves, `${width} ${lookKey(look)}`, () => {
    const { choice } = look;
    const x = xScaleOf(curves, choice);
    if (x === null) return null;
    const facts = curves.map(({ series }) => factsOf(series));
    const strands = chartSeriesOf(curves, choice, { x, cells: Math.max(1, width) * 2 });
    return {
      ...{ x, y: yAxisOf(strands, x, choice, look.references), strands },
      leftOut: {
        x: choice.isLogX ? facts.reduce((sum, fact) => sum + fact.xNotPositive, 0) : 0,
        y: choice.isLogY === true ? facts.reduce((sum, fact) => sum + fact.yNotPositive, 0) : 0,
      },
    };
  });
}

/** The picture of exactly this size with its axes; null if there is nothing to draw or no room. Cached as well. */
export function plotOf(curves: readonly Curve[], width: number, height: number, look: ChartLook): Plot | null {
  return plots.value(curves, `${width} ${height} ${lookKey(look)}`, () => {
    const stranding = strandingOf(curves, width, look);
    return stranding === null ? null : draw(stranding, width, height, look);
  });
}

const strandings = new Memo<readonly Curve[], Stranding | null>(2);
const plots = new Memo<readonly Curve[], Plot | null>(2);

/** Minimum height of a chart with a row for the number of runs. */
const leastForCounts = 8;

function draw({ x, y: axis, strands }: Stranding, width: number, height: number, look: ChartLook): Plot | null {
  const counts = height < leastForCounts ? null : countsRow(strands, width);
  const rows = height - (counts === null ? 2 : 3);
  const y = rows < 2 ? null : (axis?.scale ?? null);
  if (y === null) return null;
  const yMarks = yMarksOf(y, rows);
  const labelWidth = Math.max(3, ...yMarks.map(({ label }) => label.length));
  const columns = width - labelWidth - 1;
  if (columns < 8) return null;
  const frame = { x, y, columns, rows, isLeft: axis!.beyond > 0 };
  const xMarks = xMarksOf(x, columns, look.xUnit);
  const paint = (painter: PlotPainter): void => {
    drawPlot(strands, frame, look, painter);
    painter.guides(guidesAt(look.choice.guides, xMarks, yMarks));
  };
  const picture = new BrailleCanvas(columns, rows);
  paint(braillePainter(picture, frame));
  const image = new DrawnPlot(frame, paint);
  const row = counts === null ? null : (countsRow(strands, columns) ?? ' '.repeat(columns));
  return { x, y, labelWidth, yMarks, xMarks, picture, image, counts: row };
}

function guidesAt(guides: Guides, x: readonly Mark[], y: readonly Mark[]): Record<'x' | 'y', number[]> {
  const at = (marks: readonly Mark[]): number[] => marks.map(({ fraction }) => fraction);
  return { x: guides === 'grid' ? at(x) : [], y: guides === 'none' ? [] : at(y) };
}

/** The picture of a plot, drawn when a terminal is about to show it. */
class DrawnPlot implements PlotImage {
  readonly columns: number;
  readonly rows: number;
  readonly #frame: Frame;
  readonly #paint: (painter: PlotPainter) => void;

  constructor(frame: Frame, paint: (painter: PlotPainter) => void) {
    [this.columns, this.rows] = [frame.columns, frame.rows];
    [this.#frame, this.#paint] = [frame, paint];
  }

  draw(cell: PixelSize, ink: (tone: Tone) => Rgb): Raster {
    return drawRaster(this.#frame, cell, ink, this.#paint);
  }
}
