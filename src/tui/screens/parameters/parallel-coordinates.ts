import { cleanText } from '../../../text/display-text.js';
import { counted, narrowNumber } from '../../../text/numbers.js';
import { BrailleCanvas } from '../../widgets/chart/braille-canvas.js';
import { sectionRule } from '../../widgets/section.js';
import { shortKey } from '../../widgets/short-key.js';
import { fit, fitLine, type Line, span, type Tone } from '../../surface/span.js';
import { type Axis, axisOf, type Column, marksOf } from './axis.js';

/** Runs as lines through their parameters. Indexes are those of the columns' values. */
export type ParallelRuns = {
  /** Those that matter most first. */
  readonly parameters: readonly Column[];
  readonly objective: Column;
  /** Which end is best; null: nobody says, and high values stand out. */
  readonly goal: 'minimize' | 'maximize' | null;
  readonly best: Highlight | null;
  readonly selected: Highlight | null;
};
export type Highlight = { readonly index: number; readonly name: string };

type Room = { readonly width: number; readonly height: number };

const TITLE = 'parallel coordinates';
/** Columns between two axes, and for the labels right of the last one. */
const GAP = 12;
const LABELS = 9;

/** How many parameters there is room for beside the objective; at least one. */
export function parallelCapacity(width: number): number {
  return Math.max(1, Math.floor((width - LABELS - 1) / GAP));
}

/**
 * Parallel coordinates (Inselberg 1985): an upright axis per parameter and one for the objective at the right end, and each run
 * a line through its values. Lines of better runs lie before those of worse ones. Runs without a value pass below the axis.
 * Of thousands of different lines some are left out.
 *
 * @param from The first parameter that is shown, where there is no room for all of them.
 * @returns At most `height` lines of `width` columns.
 */
export function parallelCoordinates(runs: ParallelRuns, from: number, { width, height }: Room): Line[] {
  const fitting = parallelCapacity(width);
  const first = Math.max(0, Math.min(from, runs.parameters.length - fitting));
  const shown = runs.parameters.slice(first, first + fitting);
  const columns = [...shown, runs.objective];
  const head = [sectionRule(TITLE, headingWords(runs, { first, shown: shown.length }, width), width)];
  const rows = height - 3;
  if (shown.length === 0 || rows < 3) {
    const why = shown.length === 0 ? ' No parameter varies.' : ' There is no room for the picture.';
    return [...head, [span(why, 'dim')]].slice(0, height).map((line) => fitLine(line, width));
  }
  const at = columns.map((_, index) => Math.round((index * (width - 1 - LABELS)) / (columns.length - 1)));
  const frame: Frame = { axes: columns.map(axisOf), at, canvas: new BrailleCanvas(width, rows), hasOff: false };
  const picture = drawn({ ...frame, hasOff: frame.axes.some(({ off }) => off > 0) }, runs);
  const body = Array.from({ length: rows }, (_, row) => picture.row(row));
  return [...head, namesLine(columns, at, width), ...body, legend(runs, width)].map((line) => fitLine(line, width));
}

type Frame = {
  readonly axes: readonly Axis[];
  /** Column of characters of each axis. */
  readonly at: readonly number[];
  readonly canvas: BrailleCanvas;
  /** Whether there is a place below the axes, for runs without a value. */
  readonly hasOff: boolean;
};

/** Which parameters lie to either side, and of how many runs this is, as far as there is room. */
function headingWords(
  { parameters, objective }: ParallelRuns,
  { first, shown }: { readonly first: number; readonly shown: number },
  width: number,
): Line {
  const after = parameters.length - first - shown;
  const sides = [first > 0 ? `← ${first} ` : '', after > 0 ? `${after} → ` : ''].join('');
  const { off } = axisOf(objective);
  const without = off > 0 ? `, ${off} without a value` : '';
  const runs = counted(objective.values.length, 'run');
  const room = width - TITLE.length - sides.length - 6;
  const words = [`${runs}${without}`, runs, ''].find((text) => text.length <= room) ?? '';
  return [span(sides, 'accent'), span(words, 'faint')];
}

/** Each name above its axis, cut where the next begins. */
function namesLine(columns: readonly Column[], at: readonly number[], width: number): Line {
  const names = columns.map(({ name }, index) => {
    const room = (at[index + 1] ?? width) - at[index]! - (index + 1 < columns.length ? 1 : 0);
    const text = fit(shortKey(cleanText(name)), room) + (index + 1 < columns.length ? ' ' : '');
    return span(text, index + 1 < columns.length ? 'strong' : 'title');
  });
  return names;
}

/** From the back to the front. */
const layers: readonly Tone[] = ['faint', 'bad', 'dim', 'accent'];

function drawn(frame: Frame, runs: ParallelRuns): BrailleCanvas {
  const { canvas } = frame;
  const classes = layerOf(runs);
  for (const [layer, tone] of layers.entries()) {
    canvas.raise();
    const members = [...classes.keys()].filter((run) => classes[run] === layer);
    for (let gap = 0; gap + 1 < frame.axes.length; gap++) drawGap(frame, gap, members, tone);
  }
  for (const [highlight, tone] of highlightsOf(runs)) {
    canvas.raise();
    for (let gap = 0; gap + 1 < frame.axes.length; gap++) drawGap(frame, gap, [highlight.index], tone);
  }
  frame.axes.forEach((_, index) => drawAxis(frame, index, runs));
  return canvas;
}

/** The selected run before the best one: it moves, and must be seen. */
function highlightsOf({ best, selected }: ParallelRuns): (readonly [Highlight, Tone, string])[] {
  return [
    ...(best === null ? [] : [[best, 'good', '●'] as const]),
    ...(selected === null ? [] : [[selected, 'warn', '◆'] as const]),
  ];
}

/** By run the index of its layer: its quarter by the objective, the lower two as one; or that it has no value. */
function layerOf({ objective, goal }: ParallelRuns): Uint8Array {
  const { places } = axisOf(objective);
  const layer = new Uint8Array(places.length).fill(1);
  const known = [...places.keys()].filter((run) => !Number.isNaN(places[run]!));
  const sign = goal === 'minimize' ? -1 : 1;
  known.sort((a, b) => sign * (places[a]! - places[b]!));
  known.forEach((run, rank) => {
    const share = (rank + 1) / known.length;
    layer[run] = share <= 0.5 ? 0 : share <= 0.75 ? 2 : 3;
  });
  return layer;
}

/** Lines drawn in one picture. More are too dense to be told apart, and take longer than a frame may. */
const MOST_LINES = 9000;

/** The lines of some runs from one axis to the next. Runs of equal values have one line; of very many, every second or third is drawn. */
function drawGap({ axes, at, canvas, hasOff }: Frame, gap: number, runs: readonly number[], tone: Tone): void {
  const size = canvas.rows * 4;
  const seen = new Uint8Array(size * size);
  const [left, right] = [axes[gap]!.places, axes[gap + 1]!.places];
  const lines: number[] = [];
  for (const run of runs) {
    const line = dotRow(left[run]!, canvas.rows, hasOff) * size + dotRow(right[run]!, canvas.rows, hasOff);
    if (seen[line] === 1) continue;
    seen[line] = 1;
    lines.push(line);
  }
  const every = Math.ceil((lines.length * layers.length * (axes.length - 1)) / MOST_LINES);
  const [start, end] = [at[gap]! * 2 + 1, at[gap + 1]! * 2];
  for (let index = 0; index < lines.length; index += every) {
    const [from, to] = [Math.floor(lines[index]! / size), lines[index]! % size];
    canvas.line({ column: start, row: from }, { column: end, row: to }, tone);
  }
}

/** The row of dots at a place of an axis; what has no place lies below, apart. */
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
  if (axis.off > 0) canvas.write(column, canvas.rows - 1, index + 1 < at.length ? '╌not set' : '╌no value', 'dim');
  for (const [highlight, tone, glyph] of highlightsOf(runs)) {
    canvas.write(column, dotRow(axis.places[highlight.index]!, canvas.rows, hasOff) >> 2, glyph, tone);
  }
}

function legend(runs: ParallelRuns, width: number): Line {
  const { objective, goal } = runs;
  const word = goal === null ? 'highest' : 'best';
  const lost = axisOf(objective).off > 0 ? [span('━ ', 'bad'), span('no value  ', 'faint')] : [];
  const named = highlightsOf(runs).flatMap(([{ index, name }, tone, glyph]): Line => {
    const value = objective.values[index];
    const number = typeof value === 'number' ? ` ${narrowNumber(value)}` : '';
    return [span(`${glyph} `, tone), span(cleanText(name), 'plain'), span(`${number}  `, 'value')];
  });
  const ramp: Line = [
    span('━ ', 'accent'),
    span(`${word} quarter  `, 'faint'),
    span('━ ', 'dim'),
    span('next quarter  ', 'faint'),
    span('━ ', 'faint'),
    span('other half  ', 'faint'),
  ];
  return fitLine([span(' '), ...named, ...ramp, ...lost], width);
}
