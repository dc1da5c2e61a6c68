import { rankCorrelation } from '../../../analysis/statistics.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { countText, counted } from '../../../text/numbers.js';
import { BrailleCanvas } from '../../widgets/chart/braille-canvas.js';
import { type Mark, xMarksOf } from '../../widgets/chart/chart-axis.js';
import { parameterOrder, parameterText } from '../../model/varying-parameters.js';
import { flow } from '../../widgets/parameters.js';
import { sectionRule, shortKey } from '../../widgets/line-parts.js';
import { fit, fitLine, fitRight, type Line, span, type Tone } from '../../surface/span.js';
import { type Axis, axisOf, type Column, marksOf } from './axis.js';

/** Inputs of the plot. Indexes refer to the values of columns. */
export type ScatterRuns = {
  readonly x: Column;
  readonly y: Column;
  /** The column that determines sign and colour of each run; null: all have the same. */
  readonly groups: Column | null;
  readonly best: number | null;
  readonly selected: number | null;
};

type Room = { readonly width: number; readonly height: number };

/** A dot per run over any two parameters or metrics, with their rank correlation. At most `height` lines of `width` columns. */
export function scatter(runs: ScatterRuns, { width, height }: Room): Line[] {
  const [x, y] = [axisOf(runs.x), axisOf(runs.y)];
  const title = `${cleanText(runs.y.name)} over ${cleanText(runs.x.name)}`;
  const head = sectionRule(title, correlationWords(runs), width);
  const legend = legendLines(runs, width, height > 12 ? 2 : 1);
  const rows = height - 3 - legend.length;
  if (rows < 2) return [head].slice(0, height);
  const marks = marksOf(y, rows);
  const labelWidth = Math.min(Math.floor(width / 4), Math.max(3, ...marks.map(({ label }) => textWidth(label))));
  const canvas = new BrailleCanvas(Math.max(1, width - labelWidth - 1), rows);
  drawDots(canvas, runs, x, y);
  drawMarks(canvas, runs, x, y);
  const body = [...yLines(canvas, y, marks, labelWidth), ...xLines(x, canvas.columns, labelWidth)];
  return [head, ...body, ...legend].map((line) => fitLine(line, width));
}

function correlationWords({ x, y }: ScatterRuns): Line {
  const both = [...x.values.keys()].filter((run) => isFinite(x.values[run]) && isFinite(y.values[run]));
  const without = x.values.length - placed(axisOf(x), axisOf(y)).length;
  const beyond = new Set([...axisOf(x).beyond, ...axisOf(y).beyond]).size;
  const rest = [
    beyond > 0 ? ` · ${beyond} beyond the axis` : '',
    without > 0 ? ` · ${without} without a value` : '',
  ].join('');
  const numbers = (column: Column) => both.map((run) => column.values[run] as number);
  const r = axisOf(x).scale === null || axisOf(y).scale === null ? null : rankCorrelation(numbers(x), numbers(y));
  if (r === null) return [span(`${counted(x.values.length, 'run')}${rest}`, 'faint')];
  return [
    span('rank correlation ', 'faint'),
    span(r.toFixed(2), 'value'),
    span(` (n ${countText(both.length)})${rest}`, 'faint'),
  ];
}

function isFinite(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Runs that have a position on both axes. */
function placed(x: Axis, y: Axis): number[] {
  return [...x.places.keys()].filter((run) => !Number.isNaN(x.places[run]! + y.places[run]!));
}

/** Runs with one value. Signs are letters, so that they can be distinguished without colours. */
type Group = { readonly sign: string; readonly tone: Tone; readonly text: string };
const signs = 'ox+#%&=~';
const groupTones: readonly Tone[] = ['curve0', 'curve1', 'curve2', 'curve3', 'curve4', 'curve5', 'curve6', 'curve7'];

/** The sign of each value, in the order of an axis; excess values share the last sign. */
function groupsOf(column: Column): Map<string, Group> {
  const sorted = [...new Map(column.values.map((value) => [parameterText(value), value]))].sort(([, a], [, b]) =>
    parameterOrder(a, b),
  );
  return new Map(
    sorted.map(([text, value], index) => {
      const place = Math.min(index, signs.length - 1);
      return [text, { sign: signs[place]!, tone: groupTones[place]!, text: value === undefined ? 'not set' : text }];
    }),
  );
}

function drawDots(canvas: BrailleCanvas, { groups }: ScatterRuns, x: Axis, y: Axis): void {
  const known = groups === null ? null : groupsOf(groups);
  for (const run of placed(x, y)) {
    const { column, row } = dotOf(canvas, run, x, y);
    const edge = edgeSign(run, x, y);
    const group = known?.get(parameterText(groups!.values[run]));
    if (edge !== null) canvas.write(column >> 1, row >> 2, edge, group?.tone ?? 'bad');
    else if (group === undefined) drawPoint(canvas, column, row);
    else canvas.write(column >> 1, row >> 2, group.sign, group.tone);
  }
}

/** A point of two by two dots: a single one is hardly seen. */
function drawPoint(canvas: BrailleCanvas, column: number, row: number): void {
  for (const [right, below] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const)
    canvas.dot(column + right, row + below, 'curve0');
}

/** The sign of a run whose result is beyond an axis; null: it is within both. */
function edgeSign(run: number, x: Axis, y: Axis): string | null {
  if (y.beyond.has(run)) return y.places[run]! > 0.5 ? '▲' : '▼';
  if (x.beyond.has(run)) return x.places[run]! > 0.5 ? '▶' : '◀';
  return null;
}

/** Position of the run's dot. Runs with equal values of an evenly spaced column are spread a little, always in the same way. */
function dotOf(canvas: BrailleCanvas, run: number, x: Axis, y: Axis): { column: number; row: number } {
  const [across, down] = [canvas.columns * 2 - 1, canvas.rows * 4 - 1];
  const column = inset(x, x.places[run]!) * across + spread(x, across, run);
  const row = (1 - inset(y, y.places[run]!)) * down + spread(y, down, run * 7 + 3);
  return { column: bounded(column, across), row: bounded(row, down) };
}

/** Part of the axis at each end that is kept free for runs with the first or last value. */
const MARGIN = 0.04;

/** Moves a position away from the edges: texts by half of their spacing, numbers shared by many runs by a margin. */
function inset(axis: Axis, place: number): number {
  const { scale, named } = axis;
  const count = Math.max(1, named.length);
  if (scale === null) return (place * (count - 1) + 0.5) / count;
  return isShared(axis) ? MARGIN + place * (1 - 2 * MARGIN) : place;
}

/** Whether the numbers are settings with many runs each, rather than results. */
function isShared({ named, places }: Axis): boolean {
  return named.length > 0 && named.length * 3 <= places.length;
}

/** Offset of a run to either side. Multiples of the golden ratio are evenly distributed for any number of runs. */
function spread(axis: Axis, dots: number, run: number): number {
  return (((run * 0.6180339887) % 1) - 0.5) * 2 * dots * reach(axis);
}

/** Part of the axis over which runs with one value are spread to either side: less than halfway to the next value. */
function reach(axis: Axis): number {
  if (axis.scale === null) return 1 / 3 / Math.max(1, axis.named.length);
  if (!isShared(axis)) return 0;
  const gaps = axis.named.slice(1).map(({ fraction }, index) => fraction - axis.named[index]!.fraction);
  return Math.min(MARGIN, Math.min(...gaps, 1) / 3);
}

function bounded(dot: number, last: number): number {
  return Math.min(last, Math.max(0, Math.round(dot)));
}

function drawMarks(canvas: BrailleCanvas, { best, selected }: ScatterRuns, x: Axis, y: Axis): void {
  const mark = (run: number | null, glyph: string, tone: Tone) => {
    if (run === null || Number.isNaN(x.places[run]! + y.places[run]!)) return;
    const { column, row } = dotOf(canvas, run, x, y);
    canvas.write(column >> 1, row >> 2, glyph, tone);
  };
  mark(best, '●', 'good');
  mark(selected, '◆', 'warn');
}

function yLines(canvas: BrailleCanvas, y: Axis, marks: readonly Mark[], labelWidth: number): Line[] {
  const rowOf = (fraction: number) => ((1 - inset(y, fraction)) * (canvas.rows * 4 - 1)) >> 2;
  const labels = new Map(marks.map(({ fraction, label }) => [rowOf(fraction), label]));
  return Array.from({ length: canvas.rows }, (_, row): Line => {
    const label = labels.get(row);
    const edge = fitRight(cleanText(label ?? ''), labelWidth) + (label === undefined ? '│' : '┤');
    return [span(edge, 'faint'), ...canvas.row(row)];
  });
}

/** The line under the dots and the labels below it. Labels that would touch are left out. */
function xLines(x: Axis, columns: number, labelWidth: number): Line[] {
  const rule = new Array<string>(columns).fill('─');
  let words = '';
  for (const { fraction, label } of xMarks(x, columns)) {
    const column = Math.round(inset(x, fraction) * (columns * 2 - 1)) >> 1;
    const text = fit(cleanText(label), Math.min(textWidth(cleanText(label)), columns));
    rule[column] = '┬';
    const start = Math.min(columns - textWidth(text), Math.max(0, column - (textWidth(text) >> 1)));
    if (words !== '' && start <= textWidth(words)) continue;
    words = fit(words, start) + text;
  }
  return [
    [span(`${' '.repeat(labelWidth)}└${rule.join('')}`, 'faint')],
    [span(' '.repeat(labelWidth + 1)), span(words, 'faint')],
  ];
}

function xMarks(x: Axis, columns: number): readonly Mark[] {
  const room = x.named.reduce((sum, { label }) => sum + textWidth(label) + 2, 0);
  if (x.scale === null || (x.named.length > 0 && room <= columns)) return x.named;
  return xMarksOf(x.scale, columns, 'number');
}

function legendLines({ groups, best, selected }: ScatterRuns, width: number, most: number): Line[] {
  const known = groups === null ? [] : [...groupsOf(groups).values()];
  const named: Line[] = known.map(({ sign, tone, text }, index) => [
    ...(index === 0 ? [span(` ${shortKey(cleanText(groups!.name))}`, 'faint')] : []),
    span(` ${sign} `, tone),
    span(cleanText(text), 'plain'),
  ]);
  const marks: Line[] = [
    ...(best === null ? [] : [[span(' ● ', 'good'), span('best', 'faint')]]),
    ...(selected === null ? [] : [[span(' ◆ ', 'warn'), span('selected', 'faint')]]),
  ];
  return flow([...marks, ...named], width, most);
}
