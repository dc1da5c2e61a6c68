import { cleanText } from '../../../text/display-text.js';
import { counted, narrowNumber } from '../../../text/numbers.js';
import { BrailleCanvas, dotted, solid } from '../../widgets/chart/braille-canvas.js';
import { flow } from '../../widgets/parameters.js';
import { sectionRule, shortKey } from '../../widgets/line-parts.js';
import { fit, fitLine, type Line, span, type Tone } from '../../surface/span.js';
import { type Axis, axisOf, type Column, marksOf } from './axis.js';

/** Inputs of the plot. Indexes refer to the values of columns. */
export type ParallelRuns = {
  /** Most important parameters first. */
  readonly parameters: readonly Column[];
  readonly objective: Column;
  /** Which end is best; null: unknown, so high values are highlighted. */
  readonly goal: 'minimize' | 'maximize' | null;
  readonly best: Highlight | null;
  readonly selected: Highlight | null;
  /** Index of the parameter under the cursor; null: none. */
  readonly at: number | null;
  /** Number of parameters that vary but have no axis here. */
  readonly leftOut: number;
};
type Highlight = { readonly index: number; readonly name: string };

type Room = { readonly width: number; readonly height: number };

const TITLE = 'parallel coordinates';
/** Columns between two axes. The next constant is for the labels right of the last one. */
const GAP = 12;
const LABELS = 9;

/** Number of parameters that fit beside the objective; at least one. */
export function parallelCapacity(width: number): number {
  return Math.max(1, Math.floor((width - LABELS - 1) / GAP));
}

/**
 * Parallel coordinates (Inselberg 1985): a vertical axis per parameter and one for the objective at the right end, with each run as
 * a line through its values. Lines of better runs are solid and in front of those of worse runs, which are dashed. Runs without a
 * value pass below the axis. If there are very many different lines, some are left out; if not all parameters fit, those around the
 * cursor are shown.
 *
 * @returns At most `height` lines of `width` columns.
 */
export function parallelCoordinates(runs: ParallelRuns, { width, height }: Room): Line[] {
  const fitting = parallelCapacity(width);
  const first = Math.max(0, Math.min((runs.at ?? 0) - fitting + 1, runs.parameters.length - fitting));
  const shown = runs.parameters.slice(first, first + fitting);
  const columns = [...shown, runs.objective];
  const head = [sectionRule(TITLE, headingWords(runs, { first, shown: shown.length }, width), width)];
  const legend = legendLines(runs, width, height > 16 ? 2 : 1);
  const rows = height - 2 - legend.length;
  if (shown.length === 0 || rows < 3) {
    const why = shown.length === 0 ? ' No parameter varies.' : ' There is no room for the picture.';
    return [...head, [span(why, 'dim')]].slice(0, height).map((line) => fitLine(line, width));
  }
  const at = columns.map((_, index) => Math.round((index * (width - 1 - LABELS)) / (columns.length - 1)));
  const frame: Frame = { axes: columns.map(axisOf), at, canvas: new BrailleCanvas(width, rows), hasOff: false };
  const picture = drawn({ ...frame, hasOff: frame.axes.some(({ off }) => off > 0) }, runs);
  const body = Array.from({ length: rows }, (_, row) => picture.row(row));
  const names = namesLine(columns, { at, chosen: runs.at === null ? -1 : runs.at - first }, width);
  return [...head, names, ...body, ...legend].map((line) => fitLine(line, width));
}

type Frame = {
  readonly axes: readonly Axis[];
  /** Column of characters of each axis. */
  readonly at: readonly number[];
  readonly canvas: BrailleCanvas;
  /** Whether there is a row below the axes for runs without a value. */
  readonly hasOff: boolean;
};

/** Names of parameters on either side that are out of view, and the number of runs, as far as they fit. */
function headingWords(
  { parameters, objective, leftOut }: ParallelRuns,
  { first, shown }: { readonly first: number; readonly shown: number },
  width: number,
): Line {
  const after = parameters.length - first - shown;
  const sides = [first > 0 ? `← ${first} ` : '', after > 0 ? `${after} → ` : ''].join('');
  const { off } = axisOf(objective);
  const without = off > 0 ? `, ${off} without a value` : '';
  const runs = counted(objective.values.length, 'run');
  const others = leftOut > 0 ? ` · ${leftOut} more without an axis` : '';
  const room = width - TITLE.length - sides.length - 6;
  const words = [`${runs}${without}${others}`, `${runs}${without}`, runs, ''].find((text) => text.length <= room) ?? '';
  return [span(sides, 'accent'), span(words, 'faint')];
}

/** Each name above its axis, cut where the next one begins. */
function namesLine(
  columns: readonly Column[],
  { at, chosen }: { readonly at: readonly number[]; readonly chosen: number },
  width: number,
): Line {
  return columns.map(({ name }, index) => {
    const isLast = index + 1 === columns.length;
    const room = (at[index + 1] ?? width) - at[index]! - (isLast ? 0 : 1);
    const sign = index === chosen ? '▸' : '';
    const text = fit(`${sign}${shortKey(cleanText(name))}`, room) + (isLast ? '' : ' ');
    return span(text, index === chosen ? 'accent' : isLast ? 'title' : 'strong');
  });
}

/** `most`: maximum number of lines between two axes per row of characters; more cannot be distinguished. */
type Pen = { readonly tone: Tone; readonly most: number };

/** Layers from back to front. Dashes distinguish them as well: bits for eight columns of dots, as in `BrailleCanvas.dash`. */
const layers: readonly (Pen & { readonly dashes: number; readonly sign: string })[] = [
  { tone: 'faint', most: 2, dashes: dotted, sign: ':' },
  { tone: 'bad', most: 2, dashes: 0b01001111, sign: '╌' },
  { tone: 'dim', most: 2, dashes: 0b00011111, sign: '─' },
  { tone: 'accent', most: 4, dashes: solid, sign: '━' },
];

function drawn(frame: Frame, runs: ParallelRuns): BrailleCanvas {
  const { canvas } = frame;
  const classes = layerOf(runs);
  for (const [layer, pen] of layers.entries()) {
    canvas.raise();
    canvas.dash(pen.dashes);
    const members = [...classes.keys()].filter((run) => classes[run] === layer);
    for (let gap = 0; gap + 1 < frame.axes.length; gap++) drawGap(frame, gap, members, pen);
  }
  for (const [highlight, tone] of highlightsOf(runs)) {
    canvas.raise();
    for (let gap = 0; gap + 1 < frame.axes.length; gap++) drawGap(frame, gap, [highlight.index], { tone, most: 1 });
  }
  frame.axes.forEach((_, index) => drawAxis(frame, index, runs));
  return canvas;
}

/** The highlighted runs. The selected one is drawn last, above the best one, because it moves and must be visible. */
function highlightsOf({ best, selected }: ParallelRuns): (readonly [Highlight, Tone, string])[] {
  return [
    ...(best === null ? [] : [[best, 'good', '●'] as const]),
    ...(selected === null ? [] : [[selected, 'warn', '◆'] as const]),
  ];
}

/** Layer index by run: the quarter by objective, with the lower two combined, or a layer for runs without a value. */
function layerOf({ objective, goal }: ParallelRuns): Uint8Array {
  const { places } = axisOf(objective);
  const layer = new Uint8Array(places.length).fill(1);
  const known = [...places.keys()].filter((run) => !Number.isNaN(places[run]!));
  const sign = goal === 'minimize' ? -1 : 1;
  const valueOf = (run: number) => objective.values[run] as number;
  known.sort((a, b) => sign * (Number(valueOf(a) > valueOf(b)) - Number(valueOf(a) < valueOf(b))));
  known.forEach((run, rank) => {
    const share = (rank + 1) / known.length;
    layer[run] = share <= 0.5 ? 0 : share <= 0.75 ? 2 : 3;
  });
  return layer;
}

/** Lines of some runs between two axes; runs with equal values share one. If there are very many, only every n-th is drawn. */
function drawGap({ axes, at, canvas, hasOff }: Frame, gap: number, runs: readonly number[], pen: Pen): void {
  const size = canvas.rows * 4;
  const [left, right] = [axes[gap]!.places, axes[gap + 1]!.places];
  const lines = [
    ...new Set(
      runs.map((run) => dotRow(left[run]!, canvas.rows, hasOff) * size + dotRow(right[run]!, canvas.rows, hasOff)),
    ),
  ];
  const every = Math.ceil(lines.length / (pen.most * canvas.rows));
  const [start, end] = [at[gap]! * 2 + 1, at[gap + 1]! * 2];
  for (let index = 0; index < lines.length; index += every) {
    const [from, to] = [Math.floor(lines[index]! / size), lines[index]! % size];
    canvas.line({ column: start, row: from }, { column: end, row: to }, pen.tone);
  }
}

/** Row of dots for a position on an axis; runs without a position are below, apart from the axis. */
function dotRow(place: number, rows: number, hasOff: boolean): number {
  if (Number.isNaN(place)) return rows * 4 - 2;
  return Math.round((1 - place) * ((hasOff ? rows - 2 : rows) * 4 - 1));
}

function drawAxis({ axes, at, canvas, hasOff }: Frame, index: number, runs: ParallelRuns): void {
  const axis = axes[index]!;
  const column = at[index]!;
  const rows = hasOff ? canvas.rows - 2 : canvas.rows;
  for (let row = 0; row < rows; row++) canvas.write(column, row, '│', 'faint');
  const room = Math.max(3, (at[index + 1] ?? canvas.columns) - column - (index + 1 < at.length ? 4 : 1));
  for (const { fraction, label } of marksOf(axis, rows)) {
    const row = dotRow(fraction, canvas.rows, hasOff) >> 2;
    const text = cleanText(label);
    canvas.write(column, row, `├${fit(text, Math.min(text.length, room))}`, 'dim');
  }
  markBeyond(canvas, axis, column, rows);
  if (axis.off > 0) canvas.write(column, canvas.rows - 1, index + 1 < at.length ? '╌not set' : '╌no value', 'dim');
  for (const [highlight, tone, glyph] of highlightsOf(runs)) {
    canvas.write(column, dotRow(axis.places[highlight.index]!, canvas.rows, hasOff) >> 2, glyph, tone);
  }
}

/** Marks the end of an axis if results are beyond it. */
function markBeyond(canvas: BrailleCanvas, { beyond, places }: Axis, column: number, rows: number): void {
  for (const run of beyond) {
    const isAbove = places[run]! > 0.5;
    canvas.write(column, isAbove ? 0 : rows - 1, isAbove ? '▲' : '▼', 'bad');
  }
}

function legendLines(runs: ParallelRuns, width: number, most: number): Line[] {
  const { objective, goal } = runs;
  const named = highlightsOf(runs).map(([{ index, name }, tone, glyph]): Line => {
    const value = objective.values[index];
    const number = typeof value === 'number' ? ` ${narrowNumber(value)}` : '';
    return [span(` ${glyph} `, tone), span(cleanText(name), 'plain'), span(number, 'value')];
  });
  const [half, lost, next, top] = layers.map(({ tone, sign }) => span(` ${sign} `, tone));
  const pieces: Line[] = [
    ...named,
    [top!, span(`${goal === null ? 'highest' : 'best'} quarter`, 'faint')],
    [next!, span('next quarter', 'faint')],
    [half!, span('other half', 'faint')],
    ...(axisOf(objective).off > 0 ? [[lost!, span('no value', 'faint')]] : []),
  ];
  return flow(pieces, width, most);
}
