import * as Plot from '@observablehq/plot';
import type { StudyCurve, StudyFigure } from '../../contract/study.js';
import { counted } from '../../text/numbers.js';
import { namedUnit } from '../studies/study-tables.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette, tickText } from './figure.js';

/** NaN: there is none; a line has a gap there. */
type Point = Readonly<Record<'curve' | 'x' | 'y' | 'lo' | 'hi' | 'xlo' | 'xhi', number>>;

/** A figure of a study: lines and points with their intervals, cells of colours, and lines across it. */
export function studyFigure(figure: StudyFigure): Figure {
  const { title, note, x, y, series, lines, cells } = figure;
  const isOn = (value: number | null, isLog: boolean) =>
    value !== null && !Number.isNaN(value) && (!isLog || value > 0);
  const points = series.flatMap(pointsOf).filter((point) => isOn(point.x, x.log));
  const drawn = points.map((point) => ({ ...point, ...(isOn(point.y, y.log) ? {} : { y: NaN, lo: NaN, hi: NaN }) }));
  const across = lines.filter((line) => (line.x === null ? isOn(line.y, y.log) : isOn(line.x, x.log)));
  const svg = figureSvg(title, {
    x: { ...axisOf(x), label: namedUnit(x) },
    y: { ...axisOf(y), label: namedUnit(y), grid: true },
    ...(cells === null ? {} : cellOptions(cells, figure)),
    marks: [
      ...(cells === null ? [] : cellMarks(cells)),
      ...curveMarks(drawn, { series, isLogX: x.log, isLogY: y.log }),
      ...acrossMarks(across),
    ],
  });
  const legend = namesOf(series).map((text) => ({ colour: colourOf(text, series), text }));
  const left = leftOutNote(series, x.log, y.log);
  return { title, svg, legend, note: [...(note === null ? [] : [note]), ...left].join(' · ') };
}

function axisOf({ log }: StudyFigure['x']): Plot.ScaleOptions {
  // As many ticks as have room for their numbers.
  return log ? { type: 'log', tickFormat: tickText, ticks: 6 } : { type: 'linear', tickFormat: tickText, nice: true };
}

function leftOutNote(series: StudyFigure['series'], isLogX: boolean, isLogY: boolean): string[] {
  const isOff = (value: number | null, isLog: boolean) => isLog && value !== null && value <= 0;
  const off = series.flatMap(({ x, y }) => x.filter((at, index) => isOff(at, isLogX) || isOff(y[index]!, isLogY)));
  return off.length === 0 ? [] : [`Left out on a scale of logarithms: ${counted(off.length, 'point')} at or below 0.`];
}

function namesOf(series: StudyFigure['series']): string[] {
  return [...new Set(series.map(({ name }) => name))].filter((name) => name !== '');
}

/** Series of one name have one colour, those without a name that of the first. */
function colourOf(name: string, series: StudyFigure['series']): string {
  return palette[Math.max(0, namesOf(series).indexOf(name)) % palette.length]!;
}

function pointsOf({ x, y, lo, hi, xlo, xhi }: StudyCurve, curve: number): Point[] {
  return x.map((at, index) => {
    const or = (values: StudyCurve['lo'], otherwise: number) => values?.[index] ?? otherwise;
    const [across, up] = [at ?? NaN, or(y, NaN)];
    return { curve, x: across, y: up, lo: or(lo, up), hi: or(hi, up), xlo: or(xlo, across), xhi: or(xhi, across) };
  });
}

type Drawing = { readonly series: readonly StudyCurve[]; readonly isLogX: boolean; readonly isLogY: boolean };

/** Lines have bands, points have bars. An end below a scale of logarithms is at the point. */
function curveMarks(points: readonly Point[], { series, isLogX, isLogY }: Drawing): Plot.Markish[] {
  const of = (kind: StudyCurve['kind']) => points.filter(({ curve }) => series[curve]!.kind === kind);
  const [lines, dashed, dots] = [of('line'), of('dashed'), of('points')];
  const low = ({ lo, y }: Point) => (isLogY && lo <= 0 ? y : lo);
  const left = ({ xlo, x }: Point) => (isLogX && xlo <= 0 ? x : xlo);
  const banded = new Set(lines.filter(({ lo, hi }) => lo < hi).map(({ curve }) => curve));
  const stroke = ({ curve }: Point) => {
    const { name, kind } = series[curve]!;
    return name === '' && kind === 'dashed' ? 'currentColor' : colourOf(name, series);
  };
  const place = { x: 'x', y: 'y', z: 'curve', stroke } as const;
  return [
    Plot.areaY(
      lines.filter(({ curve }) => banded.has(curve)),
      { x: 'x', y1: low, y2: 'hi', z: 'curve', fill: stroke, fillOpacity: 0.15 },
    ),
    Plot.lineY(lines, { ...place, strokeWidth: 2 }),
    Plot.lineY(dashed, { ...place, strokeDasharray: '4 4', strokeOpacity: 0.7 }),
    Plot.ruleX(
      dots.filter(({ lo, hi }) => lo < hi),
      { x: 'x', y1: low, y2: 'hi', stroke, strokeWidth: 1.5 },
    ),
    Plot.ruleY(
      dots.filter(({ xlo, xhi }) => xlo < xhi),
      { y: 'y', x1: left, x2: 'xhi', stroke, strokeWidth: 1.5 },
    ),
    Plot.dot(dots, { x: 'x', y: 'y', r: 4, fill: stroke, fillOpacity: 0.8 }),
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

type Cells = NonNullable<StudyFigure['cells']>;

/** The scale of cells: around 0 in two colours, else in one. */
function cellOptions(cells: Cells, { x, y, range }: StudyFigure): Plot.PlotOptions {
  const values = cells.flat().filter((value) => value !== null);
  const [low, high] = range ?? [Math.min(0, ...values), Math.max(0, ...values)];
  const most = Math.max(Math.abs(low), Math.abs(high));
  return {
    ...{ width: 480, height: 480 },
    x: { label: namedUnit(x), domain: [0, Math.max(0, ...cells.map(({ length }) => length))], ticks: [] },
    y: { label: namedUnit(y), domain: [cells.length, 0], ticks: [] },
    color: low < 0 ? { scheme: 'RdBu', domain: [most, -most] } : { scheme: 'Blues', domain: [low, high] },
  };
}

function cellMarks(cells: Cells): Plot.Markish[] {
  const all = cells.flatMap((row, i) => row.map((value, j) => ({ i, j, value })));
  type Cell = (typeof all)[number];
  return [
    Plot.rect(all, {
      ...{ x1: 'j', x2: ({ j }: Cell) => j + 1, y1: 'i', y2: ({ i }: Cell) => i + 1, fill: 'value', inset: 0 },
    }),
  ];
}
