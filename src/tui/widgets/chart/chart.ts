import type { ChartLook, Curve } from './chart-look.js';
import { type Plot, plotOf, strandingOf } from './chart-plot.js';
import { fractionOf } from './axes/chart-scale.js';
import { cursorX } from './chart-cursor.js';
import { fit, fitRight, type Line, span } from '../../surface/span.js';

export type { ChartLook, Curve } from './chart-look.js';

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
  if (strandingOf(curves, width, plain) === null) return nothing;
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
