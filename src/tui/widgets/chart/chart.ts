import type { Guides } from '../../state/chart-choice.js';
import { type ChartLook, lookKey } from './chart-look.js';
import type { Curve } from '../../model/curves/chart-data.js';
import { factsOf, fractionOf, type Scale } from './axes/chart-scale.js';
import { cursorX } from './chart-cursor.js';
import {
  fit,
  fitRight,
  type Line,
  span,
  type PixelSize,
  type PlotImage,
  type Raster,
  type Rgb,
  type Tone,
} from '../../surface/span.js';
import { type Frame, type PlotPainter, drawPlot } from './plot/plot-painter.js';
import { BrailleCanvas } from './plot/braille-canvas.js';
import { braillePainter } from './plot/braille-painter.js';
import { type Mark, xMarksOf, yMarksOf } from './axes/ticks.js';
import { drawRaster } from './plot/raster-painter.js';
import { xScaleOf, type YAxis, yAxisOf } from './axes/chart-range.js';
import { type ChartSeries, chartSeriesOf } from './chart-series.js';
import { Memo } from '../../../base/memo.js';

/**
 * Curves in one picture with both axes, exactly `height` lines of `width` columns.
 *
 * Each column of dots shows the range of values in it, so no spike is lost however many points there are. NaN is a gap. Later
 * curves are drawn over earlier ones. Results are cached with the curves and each series, so a frame in which only the cursor has
 * moved costs no more than its characters.
 */
export function chart(curves: readonly Curve[], width: number, height: number, look: ChartLook): readonly Line[] {
  const plot = plotOf(curves, width, height, look);
  if (plot === null) return emptyChart(width, height, whyEmpty(curves, width, look));
  const cursor = cursorColumn(curves, plot, look);
  const rule = cursor === null ? null : ({ column: cursor, glyph: '│', tone: 'faint' } as const);
  const labels = yLabels(plot);
  const body = Array.from({ length: plot.picture.rows }, (_, row): Line => {
    const label = labels.get(row);
    const edge = fitRight(label ?? '', plot.labelWidth) + (label === undefined ? '│' : '┤');
    const [first, ...others] = plot.picture.row(row, rule);
    return [span(edge, 'faint'), { ...first!, plot: { of: plot.image, row } }, ...others];
  });
  return [...body, ...xAxis(plot, cursor), ...countsLine(plot)];
}

function cursorColumn(curves: readonly Curve[], { x, picture }: Plot, { choice }: ChartLook): number | null {
  const at = cursorX(curves, choice);
  if (at === null) return null;
  const column = Math.floor(fractionOf(x, at) * picture.columns);
  return column >= 0 && column <= picture.columns ? Math.min(picture.columns - 1, column) : null;
}

function whyEmpty(curves: readonly Curve[], width: number, look: ChartLook): string {
  const { choice, nothing } = look;
  const plain = { ...look, choice: { ...choice, isLogX: false, isLogY: false, zoom: null } };
  if (seriesContextOf(curves, width, plain) === null) return nothing;
  if (choice.zoom !== null) return 'no data in this range; Z zooms out';
  if (choice.isLogX || choice.isLogY) return 'no positive values for a logarithmic axis';
  return 'no room for a chart';
}

function yLabels({ yMarks, picture: { rows } }: Plot): Map<number, string> {
  const bottom = rows * 4 - 1;
  return new Map(yMarks.map(({ fraction, label }) => [(bottom - Math.round(fraction * bottom)) >> 2, label]));
}

/** The line under the curves and the numbers below it. Numbers that would touch are left out. */
function xAxis({ xMarks, labelWidth, picture: { columns } }: Plot, cursor: number | null): Line[] {
  const rule = new Array<string>(columns).fill('─');
  let numbers = '';
  for (const { fraction, label } of xMarks) {
    const column = Math.round(fraction * (columns * 2 - 1)) >> 1;
    rule[column] = '┬';
    const start = Math.min(columns - label.length, Math.max(0, column - (label.length >> 1)));
    if (numbers !== '' && start <= numbers.length) continue;
    numbers = numbers.padEnd(start) + label;
  }
  if (cursor !== null) rule[cursor] = '┼';
  return [
    [span(`${' '.repeat(labelWidth)}└${rule.join('')}`, 'faint')],
    [span(fit(' '.repeat(labelWidth + 1) + numbers, labelWidth + 1 + columns), 'faint')],
  ];
}

/** The row with the number of runs, with its symbol below the labels of the y axis. */
function countsLine({ counts, labelWidth }: Plot): Line[] {
  return counts === null ? [] : [[span(`${fitRight('n', labelWidth)} ${counts}`, 'faint')]];
}

function emptyChart(width: number, height: number, why: string): Line[] {
  const middle = Math.floor((height - 1) / 2);
  const words = fit(why, Math.min(width, why.length));
  return Array.from({ length: height }, (_, row): Line => {
    if (row !== middle) return [span(' '.repeat(width))];
    return [span(fit(' '.repeat((width - words.length) >> 1) + words, width), 'dim')];
  });
}

/** Lines and axes of the curves, independent of the height of the chart. */
type SeriesContext = {
  readonly x: Scale;
  /** Null: nothing is visible. */
  readonly y: YAxis | null;
  readonly allSeries: readonly ChartSeries[];
  /** Number of points that a logarithmic axis leaves out. */
  readonly leftOut: { readonly x: number; readonly y: number };
};

/** A drawn chart without its cursor. */
type Plot = {
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
export function seriesContextOf(curves: readonly Curve[], width: number, look: ChartLook): SeriesContext | null {
  return seriesContexts.value(curves, `${width} ${lookKey(look)}`, () => {
    const { choice } = look;
    const x = xScaleOf(curves, choice);
    if (x === null) return null;
    const facts = curves.map(({ series }) => factsOf(series));
    const allSeries = chartSeriesOf(curves, choice, { x, cells: Math.max(1, width) * 2 });
    return {
      ...{ x, y: yAxisOf(allSeries, x, choice, look.references), allSeries },
      leftOut: {
        x: choice.isLogX ? facts.reduce((sum, fact) => sum + fact.xNotPositive, 0) : 0,
        y: choice.isLogY === true ? facts.reduce((sum, fact) => sum + fact.yNotPositive, 0) : 0,
      },
    };
  });
}

/** The picture of exactly this size with its axes; null if there is nothing to draw or no room. Cached as well. */
function plotOf(curves: readonly Curve[], width: number, height: number, look: ChartLook): Plot | null {
  return plots.value(curves, `${width} ${height} ${lookKey(look)}`, () => {
    const stranding = seriesContextOf(curves, width, look);
    return stranding === null ? null : draw(stranding, width, height, look);
  });
}

const seriesContexts = new Memo<readonly Curve[], SeriesContext | null>(2);
const plots = new Memo<readonly Curve[], Plot | null>(2);

/** Minimum height of a chart with a row for the number of runs. */
const leastForCounts = 8;

function draw({ x, y: axis, allSeries }: SeriesContext, width: number, height: number, look: ChartLook): Plot | null {
  const counts = height < leastForCounts ? null : countsRow(allSeries, width);
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
    drawPlot(allSeries, frame, look, painter);
    painter.guides(guidesAt(look.choice.guides, xMarks, yMarks));
  };
  const picture = new BrailleCanvas(columns, rows);
  paint(braillePainter(picture, frame));
  const image = new DrawnPlot(frame, paint);
  const row = counts === null ? null : (countsRow(allSeries, columns) ?? ' '.repeat(columns));
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

/**
 * The number of runs behind the lines, as a row below the x axis. Each number is where it begins to apply: `15          12   3`.
 * Carried runs are not counted. Null if the number is constant or no line represents several runs.
 *
 * @param columns Width of the chart's picture and of the row.
 */
function countsRow(allSeries: readonly ChartSeries[], columns: number): string | null {
  const counts = countsAt(allSeries, columns);
  if (counts === null || counts.every((count) => count === counts[0])) return null;
  let row = '';
  let shown: number | null = null;
  counts.forEach((count, column) => {
    const isFree = row === '' || column > row.length;
    const text = String(count);
    if (count === shown || !isFree || column + text.length > columns) return;
    row = row.padEnd(column) + text;
    shown = count;
  });
  return row.padEnd(columns);
}

function countsAt(allSeries: readonly ChartSeries[], columns: number): number[] | null {
  const all = allSeries.flatMap(({ seeds }) => (seeds === null ? [] : [seeds.counts]));
  if (all.length === 0) return null;
  return Array.from({ length: columns }, (_, column) =>
    all.reduce((sum, counts) => sum + counts[Math.floor(((column + 0.5) / columns) * counts.length)]!, 0),
  );
}
