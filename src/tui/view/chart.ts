import { type Series } from '../port.js';
import { BrailleCanvas } from './braille-canvas.js';
import { fit, fitRight, type Line, span, type Tone } from './span.js';
import { tickLabel, ticks } from './ticks.js';

export type Curve = { readonly label: string; readonly tone: Tone; readonly series: Series };

type Range = { low: number; high: number };
type Mark = { value: number; label: string };
type Frame = {
  x: Range;
  y: Range;
  columns: number;
  rows: number;
  labelWidth: number;
  xMarks: readonly Mark[];
  yMarks: readonly Mark[];
};

/**
 * Curves in one picture with both axes, exactly `height` lines of `width` columns.
 *
 * Each column of dots shows the range of the values that fall into it, so no spike is lost however many points there are.
 * A NaN is a gap. Later curves are drawn over earlier ones.
 */
export function chart(curves: readonly Curve[], width: number, height: number, nothing: string): readonly Line[] {
  const size = `${width}×${height} ${nothing}`;
  const known = drawn.get(curves);
  if (known?.size === size) return known.lines;
  const frame = frameOf(curves, width, height);
  const lines = frame === null ? emptyChart(width, height, nothing) : drawChart(curves, frame);
  drawn.set(curves, { size, lines });
  return lines;
}

/** Curves do not change, and most frames change nothing in the chart: the last picture of each list is kept. */
const drawn = new WeakMap<readonly Curve[], { size: string; lines: readonly Line[] }>();

function drawChart(curves: readonly Curve[], frame: Frame): Line[] {
  const canvas = new BrailleCanvas(frame.columns, frame.rows);
  for (const { series, tone } of curves) draw(canvas, frame, series, tone);
  const labels = yLabels(frame);
  const body = Array.from({ length: frame.rows }, (_, row): Line => {
    const label = labels.get(row);
    const edge = fitRight(label ?? '', frame.labelWidth) + (label === undefined ? '│' : '┤');
    return [span(edge, 'faint'), ...canvas.row(row)];
  });
  return [...body, ...xAxis(frame)];
}

function frameOf(curves: readonly Curve[], width: number, height: number): Frame | null {
  const rows = height - 2;
  const bounds = boundsOf(curves);
  if (rows < 2 || bounds === null) return null;
  const y = padded(bounds.y);
  const yMarks = marksOf(y, Math.max(2, Math.floor(rows / 3)));
  const labelWidth = Math.max(3, ...yMarks.map(({ label }) => label.length));
  const columns = width - labelWidth - 1;
  if (columns < 8) return null;
  return { x: bounds.x, y, columns, rows, labelWidth, yMarks, xMarks: marksOf(bounds.x, Math.max(2, columns / 10)) };
}

/** Of the points that can be drawn; null when there is none. */
function boundsOf(curves: readonly Curve[]): { x: Range; y: Range } | null {
  const x = { low: Infinity, high: -Infinity };
  const y = { low: Infinity, high: -Infinity };
  for (const { series } of curves) {
    for (let index = 0; index < series.y.length; index++) {
      const [across, up] = [series.x[index]!, series.y[index]!];
      if (!Number.isFinite(up) || !Number.isFinite(across)) continue;
      stretch(x, across);
      stretch(y, up);
    }
  }
  return x.low > x.high ? null : { x, y };
}

function stretch(range: Range, value: number): void {
  if (value < range.low) range.low = value;
  if (value > range.high) range.high = value;
}

function marksOf({ low, high }: Range, most: number): Mark[] {
  const at = ticks(low, high, Math.floor(most));
  const step = at.length > 1 ? at[1]! - at[0]! : 1;
  return at.map((value) => ({ value, label: tickLabel(value, step) }));
}

/** A little air above and below; a flat line lies in the middle. */
function padded({ low, high }: Range): Range {
  if (low === high) return { low: low - (Math.abs(low) || 1) * 0.5, high: high + (Math.abs(high) || 1) * 0.5 };
  const air = (high - low) * 0.04;
  return { low: low >= 0 && low < (high - low) * 0.2 ? 0 : low - air, high: high + air };
}

function draw(canvas: BrailleCanvas, frame: Frame, { x, y }: Series, tone: Tone): void {
  const across = scale(frame.x, frame.columns * 2 - 1);
  const up = scale(frame.y, frame.rows * 4 - 1);
  const bottom = frame.rows * 4 - 1;
  let previous: { column: number; row: number } | null = null;
  for (let index = 0; index < y.length; index++) {
    if (!Number.isFinite(y[index]) || !Number.isFinite(x[index])) {
      previous = null;
      continue;
    }
    const point = { column: across(x[index]!), row: bottom - up(y[index]!) };
    if (previous === null || previous.column > point.column) canvas.stroke(point.column, point.row, point.row, tone);
    else join(canvas, previous, point, tone);
    previous = point;
  }
}

/** A line between two points, one vertical stroke per column so that it has no holes. */
function join(
  canvas: BrailleCanvas,
  from: { column: number; row: number },
  to: { column: number; row: number },
  tone: Tone,
): void {
  const width = to.column - from.column;
  if (width === 0) {
    canvas.stroke(to.column, from.row, to.row, tone);
    return;
  }
  let row = from.row;
  for (let step = 1; step <= width; step++) {
    const next = Math.round(from.row + ((to.row - from.row) * step) / width);
    const start = next === row ? row : row + Math.sign(next - row);
    canvas.stroke(from.column + step, start, next, tone);
    row = next;
  }
}

/** Maps a range to 0 … last. Stays inside whatever the numbers: a range may be too large or too small for a double. */
function scale({ low, high }: Range, last: number): (value: number) => number {
  return (value) => {
    const share = (value - low) / (high - low);
    return share > 0 ? Math.round(Math.min(1, share) * last) : 0;
  };
}

function yLabels({ y, rows, yMarks }: Frame): Map<number, string> {
  const up = scale(y, rows * 4 - 1);
  return new Map(yMarks.map(({ value, label }) => [(rows * 4 - 1 - up(value)) >> 2, label]));
}

/** The line under the curves and the numbers below it. Numbers that would touch are left out. */
function xAxis(frame: Frame): Line[] {
  const across = scale(frame.x, frame.columns * 2 - 1);
  const rule = new Array<string>(frame.columns).fill('─');
  let numbers = '';
  for (const { value, label } of frame.xMarks) {
    const column = across(value) >> 1;
    rule[column] = '┬';
    const start = Math.min(frame.columns - label.length, Math.max(0, column - (label.length >> 1)));
    if (numbers !== '' && start <= numbers.length) continue;
    numbers = numbers.padEnd(start) + label;
  }
  return [
    [span(`${' '.repeat(frame.labelWidth)}└${rule.join('')}`, 'faint')],
    [span(fit(' '.repeat(frame.labelWidth + 1) + numbers, frame.labelWidth + 1 + frame.columns), 'faint')],
  ];
}

function emptyChart(width: number, height: number, nothing: string): Line[] {
  const middle = Math.floor((height - 1) / 2);
  const words = fit(nothing, Math.min(width, nothing.length));
  return Array.from({ length: height }, (_, row): Line => {
    if (row !== middle) return [span(' '.repeat(width))];
    return [span(fit(' '.repeat((width - words.length) >> 1) + words, width), 'dim')];
  });
}
