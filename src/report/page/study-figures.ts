import * as Plot from '@observablehq/plot';
import type { StudyCurve, StudyFigure } from '../../contract/study.js';
import { counted } from '../../text/numbers.js';
import { namedUnit } from '../studies/study-tables.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette, tickText } from './figure.js';

/** `y` NaN: there is none, and its line has a gap. */
type Point = {
  readonly curve: number;
  readonly x: number;
  readonly y: number;
  readonly lo: number;
  readonly hi: number;
};

/** A figure of a study: lines and points with their intervals, and lines across it. */
export function studyFigure({ title, note, x, y, series, lines }: StudyFigure): Figure {
  const isOn = (value: number | null, isLog: boolean): value is number => value !== null && (!isLog || value > 0);
  const points = series
    .flatMap((curve, index) => pointsOf(curve, index))
    .filter((point) => isOn(point.x, x.log) && !Number.isNaN(point.x));
  const drawn = points.map((point) => ({ ...point, ...(isOn(point.y, y.log) ? {} : { y: NaN, lo: NaN, hi: NaN }) }));
  const across = lines.filter((line) => (line.x === null ? isOn(line.y, y.log) : isOn(line.x, x.log)));
  const svg = figureSvg(title, {
    x: { type: x.log ? 'log' : 'linear', label: namedUnit(x), nice: !x.log, tickFormat: tickText },
    y: { type: y.log ? 'log' : 'linear', label: namedUnit(y), nice: !y.log, grid: true, tickFormat: tickText },
    marks: [...curveMarks(drawn, series, y.log), ...acrossMarks(across)],
  });
  const legend = series.flatMap(({ name }, index) => (name === '' ? [] : [{ colour: colourOf(index), text: name }]));
  return {
    title,
    svg,
    legend,
    note: [...(note === null ? [] : [note]), ...leftOutNote(series, x.log, y.log)].join(' · '),
  };
}

function leftOutNote(series: StudyFigure['series'], isLogX: boolean, isLogY: boolean): string[] {
  const isOff = (value: number | null, isLog: boolean) => isLog && value !== null && value <= 0;
  const off = series.flatMap(({ x, y }) => x.filter((at, index) => isOff(at, isLogX) || isOff(y[index]!, isLogY)));
  return off.length === 0 ? [] : [`Left out on a scale of logarithms: ${counted(off.length, 'point')} at or below 0.`];
}

function colourOf(curve: number): string {
  return palette[curve % palette.length]!;
}

function pointsOf({ x, y, lo, hi }: StudyCurve, curve: number): Point[] {
  return x.map((at, index) => {
    const middle = y[index] ?? NaN;
    return { curve, x: at ?? NaN, y: middle, lo: lo?.[index] ?? middle, hi: hi?.[index] ?? middle };
  });
}

/** Lines have bands, points have lines up and down. Ends below a scale of logarithms end at the point. */
function curveMarks(points: readonly Point[], series: readonly StudyCurve[], isLog: boolean): Plot.Markish[] {
  const isLine = ({ curve }: Point) => series[curve]!.kind === 'line';
  const low = ({ lo, y }: Point) => (isLog && lo <= 0 ? y : lo);
  const isWide = ({ lo, hi }: Point) => lo < hi;
  const [lines, dots] = [points.filter(isLine), points.filter((point) => !isLine(point))];
  const banded = new Set(lines.filter(isWide).map(({ curve }) => curve));
  const colour = ({ curve }: Point) => colourOf(curve);
  return [
    Plot.areaY(
      lines.filter(({ curve }) => banded.has(curve)),
      { x: 'x', y1: low, y2: 'hi', z: 'curve', fill: colour, fillOpacity: 0.15 },
    ),
    Plot.lineY(lines, { x: 'x', y: 'y', z: 'curve', stroke: colour, strokeWidth: 2 }),
    Plot.ruleX(dots.filter(isWide), { x: 'x', y1: low, y2: 'hi', stroke: colour, strokeWidth: 1.5 }),
    Plot.dot(dots, { x: 'x', y: 'y', r: 5, fill: colour, fillOpacity: 0.8 }),
  ];
}

function acrossMarks(lines: StudyFigure['lines']): Plot.Markish[] {
  const dashed = { strokeDasharray: '4 4', strokeOpacity: 0.6 };
  const [up, level] = [lines.filter(({ x }) => x !== null), lines.filter(({ y }) => y !== null)];
  return [
    Plot.ruleX(up, { x: 'x', ...dashed }),
    Plot.ruleY(level, { y: 'y', ...dashed }),
    Plot.text(up, { x: 'x', text: 'text', frameAnchor: 'top', textAnchor: 'start', dx: 4, dy: 6 }),
    Plot.text(level, { y: 'y', text: 'text', frameAnchor: 'right', textAnchor: 'end', dy: -7 }),
  ];
}
