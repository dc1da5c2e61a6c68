import { robustRange, wantsLog } from '../../../analysis/axis-range.js';
import { median } from '../../../analysis/statistics.js';
import { Memo } from '../../../base/memo.js';
import type { Curve, Reference, XUnit } from '../../model/chart-data.js';
import { type ChartChoice, type Guides, initialChartChoice } from '../../state/chart-choice.js';
import type { Series } from '../../state/port.js';
import {
  fit,
  fitRight,
  type Line,
  type PixelSize,
  type PlotImage,
  type Raster,
  type Rgb,
  span,
  type Tone,
} from '../../surface/span.js';
import {
  factsOf,
  fractionOf,
  type Mark,
  partOf,
  Ruler,
  type Scale,
  valueAt,
  xMarksOf,
  yMarksOf,
} from './chart-axis.js';
import { braillePainter, drawPlot, type Frame, type PlotPainter } from './plot-painter.js';
import { BrailleCanvas } from './braille-canvas.js';
import { drawRaster } from './raster-painter.js';
import { type ChartSeries, chartSeriesOf, firstAfter, lowerBound } from './chart-series.js';

/** How a chart is drawn. */
export type ChartLook = {
  /** Text if there is nothing to draw. */
  readonly nothing: string;
  readonly choice: ChartChoice;
  readonly references: readonly Reference[];
  readonly xUnit: XUnit;
};

/** Each run by itself on complete linear axes. */
export function plainLook(nothing: string): ChartLook {
  return { nothing, choice: initialChartChoice, references: [], xUnit: 'number' };
}

/** A key that is equal for looks whose pictures differ at most in the cursor. */
export function lookKey({ choice, references, xUnit, nothing }: ChartLook): string {
  return JSON.stringify([{ ...choice, cursor: null, xKey: null, ownLogY: {} }, references, xUnit, nothing]);
}

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

type Range = { low: number; high: number };

/** The x axis over all points of the curves, or the zoomed part of it; null if there are no points. */
function xScaleOf(curves: readonly Curve[], { isLogX, zoom }: ChartChoice): Scale | null {
  const facts = curves.map(({ series }) => factsOf(series));
  const low = Math.min(...facts.map((fact) => (isLogX ? fact.lowPositive : fact.low)));
  const high = Math.max(...facts.map((fact) => fact.high));
  if (!(low <= high)) return null;
  const whole = { ...apart({ low, high }, isLogX), isLog: isLogX };
  return zoom === null ? whole : partOf(whole, zoom);
}

/** The x at which values are read off; null without a cursor or an x range. */
export function cursorX(curves: readonly Curve[], choice: ChartChoice): number | null {
  const whole = choice.cursor === null ? null : xScaleOf(curves, { ...choice, zoom: null });
  return whole === null ? null : valueAt(whole, choice.cursor!);
}

/** `beyond`: number of lines with values outside the axis; `farthest`: the farthest of these, possibly infinite. */
export type YAxis = { readonly scale: Scale; readonly beyond: number; readonly farthest: number };

/**
 * The y axis for the visible part of the series, with some margin; null if nothing is visible.
 *
 * A few lines that diverged are left out of its range, unless a logarithmic axis was chosen. With outliers excluded, it reaches
 * from the 1st to the 99th percentile and a tenth beyond, but never beyond the values.
 */
function yAxisOf(
  allSeries: readonly ChartSeries[],
  x: Scale,
  choice: ChartChoice,
  references: readonly Reference[],
): YAxis | null {
  const least = choice.isLogY === true ? Number.MIN_VALUE : -Number.MAX_VALUE;
  const seen = allSeries.map((series) => valuesOf(series, x, least));
  const whole = new Values(least);
  for (const { low, high } of seen) if (low <= high) [low, high].forEach((value) => whole.takeOne(value));
  if (whole.low > whole.high) return null;
  const scale = scaleOf(allSeries, { x, seen, whole }, choice, references);
  return { scale, ...outsideOf(allSeries, x, scale) };
}

/** A limit is in the range where it is at most so many times the highest value. */
const NEAR_LIMIT = 10;

type Seen = { readonly x: Scale; readonly seen: readonly Range[]; readonly whole: Values };

function scaleOf(
  allSeries: readonly ChartSeries[],
  { x, seen, whole }: Seen,
  choice: ChartChoice,
  references: readonly Reference[],
): Scale {
  const { isLogY } = choice;
  if (choice.isClipped) return padded(withoutOutliers(allSeries, x, whole), isLogY === true);
  const range = new Values(whole.least);
  const { low, high } = isLogY === true ? whole : robustRange(seen)!;
  [low, high].forEach((value) => range.takeOne(value));
  const isLog = isLogY ?? wantsLog(range, () => middleOf(allSeries, x));
  references
    .filter(({ isPerX, value }) => !isPerX && (value > 0 || !isLog))
    .filter(({ isLimit, value }) => isLimit !== true || value <= NEAR_LIMIT * high)
    .forEach(({ value }) => range.takeOne(value));
  return padded(range, isLog);
}

/** Approximate median of the visible values. */
function middleOf(allSeries: readonly ChartSeries[], x: Scale): number {
  const seen = allSeries.flatMap(({ line, isRising }) => sampled(line, x, isRising));
  return median(seen.filter(Number.isFinite)) ?? 0;
}

function valuesOf({ line, seeds }: ChartSeries, x: Scale, least: number): Values {
  const values = new Values(least);
  values.take(line, x);
  if (seeds === null) return values;
  values.take({ x: line.x, y: seeds.high }, x);
  // The lower edge of a band can be arbitrarily close to zero, which would flatten everything else on a logarithmic axis.
  if (least < 0) values.take({ x: line.x, y: seeds.low }, x);
  return values;
}

/** Number of lines that leave the axis, and how far. */
function outsideOf(allSeries: readonly ChartSeries[], x: Scale, y: Scale): Pick<YAxis, 'beyond' | 'farthest'> {
  const ruler = new Ruler(y, 1);
  const ends = allSeries.flatMap(({ line }) => farthestOutside(line, x, ruler) ?? []);
  const farthest = ends.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return { beyond: ends.length, farthest };
}

/** The farthest value outside the axis; null: there is none. Rounding may put ends slightly beside the axis. */
function farthestOutside(line: Series, x: Scale, y: Ruler): number | null {
  let farthest: number | null = null;
  for (let index = 0; index < line.y.length; index++) {
    const at = line.x[index]!;
    const fraction = y.at(line.y[index]!);
    if (!(fraction < -SLACK || fraction > 1 + SLACK) || at < x.low || at > x.high) continue;
    if (farthest === null || Math.abs(line.y[index]!) > Math.abs(farthest)) farthest = line.y[index]!;
  }
  return farthest;
}

const SLACK = 1e-6;

/** Range of the visible values. */
class Values {
  low = Infinity;
  high = -Infinity;
  readonly least: number;

  constructor(least: number) {
    this.least = least;
  }

  take({ x, y }: Series, { low, high }: Scale): void {
    for (let index = 0; index < y.length; index++) if (x[index]! >= low && x[index]! <= high) this.takeOne(y[index]!);
  }

  takeOne(value: number): void {
    if (!(value >= this.least) || value === Infinity) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
  }
}

/** Number of values examined per series, enough for its percentiles. */
const sample = 500;
/** Minimum number of values for detecting outliers. */
const fewest = 8;

function withoutOutliers(allSeries: readonly ChartSeries[], x: Scale, whole: Values): Range {
  const seen = allSeries.flatMap(({ whole: series, isRising }) => sampled(series, x, isRising));
  const sorted = Float64Array.from(seen.filter((value) => value >= whole.least && Number.isFinite(value))).sort();
  if (sorted.length < fewest) return whole;
  const cut = Math.ceil(sorted.length / 100);
  const [low, high] = [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
  if (!(low < high)) return whole;
  const margin = (high - low) / 10;
  return { low: Math.max(whole.low, low - margin), high: Math.min(whole.high, high + margin) };
}

/** At most `sample` of the values in the range, at even distances. */
function sampled({ x, y }: Series, { low, high }: Scale, isRising: boolean): number[] {
  const from = isRising ? lowerBound(x, low, 0) : 0;
  const end = isRising ? firstAfter(x, high, from) : x.length;
  const count = Math.min(sample, end - from);
  return Array.from({ length: count }, (_, index) => y[from + Math.floor((index * (end - from)) / count)]!);
}

/** Adds a margin above and below; a range that begins near zero begins at zero. */
function padded({ low, high }: Range, isLog: boolean): Scale {
  const range = apart({ low, high }, isLog);
  const air = 0.04;
  const scale = { ...range, isLog };
  const isFromZero = !isLog && low >= 0 && low < (high - low) * 0.2;
  const bottom = isFromZero ? 0 : valueAt(scale, -air);
  const top = valueAt(scale, 1 + air);
  // At the limits of doubles there is no room for a margin.
  return {
    low: Number.isFinite(bottom) && (!isLog || bottom > 0) ? bottom : range.low,
    high: Number.isFinite(top) ? top : range.high,
    isLog,
  };
}

/** Makes the ends differ: a single value is put in the middle. */
function apart({ low, high }: Range, isLog: boolean): Range {
  // A range too small for the arithmetic of an axis is treated as a single value.
  if (low < high && fractionOf({ low, high, isLog }, high) === 1) return { low, high };
  if (isLog) return { low: low / 2, high: high * 2 };
  const half = (Math.abs(low) || 1) * 0.5;
  return { low: low - half, high: high + half };
}
