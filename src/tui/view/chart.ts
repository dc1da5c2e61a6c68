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

/** Of the points that can be drawn; null when there is none. A tight loop: this and `draw` see every point of every curve. */
function boundsOf(curves: readonly Curve[]): { x: Range; y: Range } | null {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { series } of curves) {
    const { x, y } = series;
    for (let index = 0; index < y.length; index++) {
      const up = y[index]!;
      const across = x[index]!;
      if (!Number.isFinite(up) || !Number.isFinite(across)) continue;
      if (across < left) left = across;
      if (across > right) right = across;
      if (up < bottom) bottom = up;
      if (up > top) top = up;
    }
  }
  return left > right ? null : { x: { low: left, high: right }, y: { low: bottom, high: top } };
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
  const bottom = frame.rows * 4 - 1;
  const up = scale(frame.y, bottom);
  // Column -1: there is no point before this one to join to.
  let lastColumn = -1;
  let lastRow = 0;
  for (let index = 0; index < y.length; index++) {
    if (!Number.isFinite(y[index]) || !Number.isFinite(x[index])) {
      lastColumn = -1;
      continue;
    }
    const column = across(x[index]!);
    const row = bottom - up(y[index]!);
    if (column === lastColumn && row === lastRow) continue;
    if (column === lastColumn || lastColumn < 0 || column < lastColumn) {
      canvas.stroke(column, column === lastColumn ? lastRow : row, row, tone);
    } else {
      canvas.line({ column: lastColumn, row: lastRow }, { column, row }, tone);
    }
    lastColumn = column;
    lastRow = row;
  }
}

/** Maps a range to 0 … last. Stays inside whatever the numbers: a range may be too large or too small for a double. */
function scale({ low, high }: Range, last: number): (value: number) => number {
  const perUnit = last / (high - low);
  if (!Number.isFinite(perUnit)) return () => 0;
  return (value) => Math.min(last, Math.max(0, Math.round((value - low) * perUnit)));
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
