import * as Plot from '@observablehq/plot';
import type { StudyCurve, StudyFigure } from '../../contract/study.js';
import { counted } from '../../text/numbers.js';
import { namedUnit } from '../studies/study-tables.js';
import type { Figure } from './curve-figures.js';
import { type Bar, barLayout, barsOf, barSvg, sliderPlaces } from './bar-figure.js';
import { figureSvg, palette, tickText } from './figure.js';

/** NaN: there is none; a line has a gap there. */
type Point = Readonly<Record<'curve' | 'x' | 'y' | 'lo' | 'hi' | 'min' | 'max' | 'xlo' | 'xhi', number>>;

/** Size of a figure that stands beside others, CSS pixels. */
const small = { width: 420, height: 280 };

/** The figures of a study in the sets that stand side by side; most stand alone. */
export function figureSets(figures: readonly StudyFigure[]): StudyFigure[][] {
  const sets: StudyFigure[][] = [];
  for (const figure of figures) {
    const last = sets.at(-1);
    if (last !== undefined && figure.set !== null && last[0]!.set === figure.set) last.push(figure);
    else sets.push([figure]);
  }
  return sets;
}

/** Figures side by side. `legend`: of all of them. `bars`: those of each figure at each of the `places` of the slider. */
export type DrawnSet = {
  readonly figures: readonly Figure[];
  readonly legend: Figure['legend'];
  readonly notes: readonly string[];
  readonly places: readonly number[];
  readonly bars: readonly (readonly Bar[])[];
};

/** A set of figures of a study: lines and points with their intervals, bars, cells of colours, and lines across them. */
export function drawnSet(set: readonly StudyFigure[]): DrawnSet {
  const names = [...new Set(set.flatMap(({ series, bars }) => [...series, ...bars].map(({ name }) => name)))];
  const shown = names.filter((name) => name !== '');
  // Series of one name have one colour, those without a name that of the first.
  const colourOf = (name: string) => palette[Math.max(0, shown.indexOf(name)) % palette.length]!;
  const [places, layout] = [sliderPlaces(set), barLayout(set)];
  const bars = set.map((figure) => barsOf(figure, places));
  const figures = set.map((figure, index): Figure => {
    const own = shown.filter((name) => [...figure.series, ...figure.bars].some((each) => each.name === name));
    const isOfBars = figure.bars.length > 0;
    const left = isOfBars ? [] : leftOutNote(figure.series, figure.x.log, figure.y.log);
    return {
      title: figure.title,
      svg: isOfBars ? barSvg(figure, bars[index]!, layout, colourOf) : plotSvg(figure, set.length > 1, colourOf),
      legend: [...own.map((text) => ({ colour: colourOf(text), text })), ...(isOfBars ? layout.legend : [])],
      note: [...(figure.note === null ? [] : [figure.note]), ...left].join(' · '),
      isSmall: isOfBars ? !layout.isWide : set.length > 1,
    };
  });
  const legend = [...shown.map((text) => ({ colour: colourOf(text), text })), ...layout.legend];
  const notes = [...new Set(figures.map(({ note }) => note))].filter((note) => note !== '');
  return { figures, legend, notes, places, bars };
}

function plotSvg(figure: StudyFigure, isSmall: boolean, colourOf: (name: string) => string): string {
  const { title, x, y, series, lines, cells } = figure;
  const isOn = (value: number | null, isLog: boolean) =>
    value !== null && !Number.isNaN(value) && (!isLog || value > 0);
  const points = series.flatMap(pointsOf).filter((point) => isOn(point.x, x.log));
  const none = { y: NaN, lo: NaN, hi: NaN, min: NaN, max: NaN };
  const drawn = points.map((point) => ({ ...point, ...(isOn(point.y, y.log) ? {} : none) }));
  const across = lines.filter((line) => (line.x === null ? isOn(line.y, y.log) : isOn(line.x, x.log)));
  return figureSvg(title, {
    ...(isSmall ? small : {}),
    x: { ...axisOf(x), label: namedUnit(x) },
    y: { ...axisOf(y), label: namedUnit(y), grid: true },
    ...(cells === null ? {} : cellOptions(cells, figure)),
    marks: [
      ...(cells === null ? [] : cellMarks(cells)),
      ...curveMarks(drawn, { series, isLogX: x.log, isLogY: y.log, colourOf }),
      ...acrossMarks(across),
    ],
  });
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

function pointsOf({ x, y, lo, hi, min, max, xlo, xhi }: StudyCurve, curve: number): Point[] {
  return x.map((at, index) => {
    const or = (values: StudyCurve['lo'], otherwise: number) => values?.[index] ?? otherwise;
    const [across, up] = [at ?? NaN, or(y, NaN)];
    return {
      ...{ curve, x: across, y: up, lo: or(lo, up), hi: or(hi, up), min: or(min, up), max: or(max, up) },
      ...{ xlo: or(xlo, across), xhi: or(xhi, across) },
    };
  });
}

type Drawing = {
  readonly series: readonly StudyCurve[];
  readonly isLogX: boolean;
  readonly isLogY: boolean;
  readonly colourOf: (name: string) => string;
};

/** Lines have bands, points have bars. An end below a scale of logarithms is at the point. */
function curveMarks(points: readonly Point[], { series, isLogX, isLogY, colourOf }: Drawing): Plot.Markish[] {
  const of = (kind: StudyCurve['kind']) => points.filter(({ curve }) => series[curve]!.kind === kind);
  const [lines, dashed, dots] = [of('line'), of('dashed'), of('points')];
  const left = ({ xlo, x }: Point) => (isLogX && xlo <= 0 ? x : xlo);
  const stroke = ({ curve }: Point) => {
    const { name, kind } = series[curve]!;
    return name === '' && kind === 'dashed' ? 'currentColor' : colourOf(name);
  };
  const place = { x: 'x', y: 'y', z: 'curve', stroke } as const;
  const ofInterval = (low: 'lo' | 'min', high: 'hi' | 'max', width: number): Plot.Markish[] => {
    const ends = {
      x: 'x',
      y1: (point: Point) => (isLogY && point[low] <= 0 ? point.y : point[low]),
      y2: high,
    } as const;
    const isWide = (point: Point) => point[low] < point[high];
    const curves = new Set(lines.filter(isWide).map(({ curve }) => curve));
    return [
      Plot.areaY(
        lines.filter(({ curve }) => curves.has(curve)),
        { ...ends, z: 'curve', fill: stroke, fillOpacity: width / 10 },
      ),
      Plot.ruleX(dots.filter(isWide), { ...ends, stroke, strokeWidth: width }),
    ];
  };
  return [
    ...ofInterval('min', 'max', 0.75),
    ...ofInterval('lo', 'hi', 1.5),
    Plot.lineY(lines, { ...place, strokeWidth: 2 }),
    Plot.lineY(dashed, { ...place, strokeDasharray: '4 4', strokeOpacity: 0.7 }),
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
