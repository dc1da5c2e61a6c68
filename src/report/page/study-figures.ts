import * as Plot from '@observablehq/plot';
import { evenly } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import type { StudyBars, StudyCurve, StudyFigure } from '../../contract/study.js';
import { counted } from '../../text/numbers.js';
import { namedUnit } from '../studies/study-tables.js';
import type { Figure } from './curve-figures.js';
import { figureSvg, palette, tickText } from './figure.js';
import type { LegendEntry } from './curve-colours.js';
import { html, type Markup } from './markup.js';

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

/** Height of a figure of bars in CSS pixels. */
const HEIGHT = 260;
const margin = { left: 46, right: 8, top: 30, bottom: 40 };
/** Widths of a figure, and the number of bars that fit into the smaller one. */
const widths = { small: 420, wide: 860 } as const;
const MOST_SMALL_BARS = 14;
/** Width of a character in a label. */
const LETTER = 6.4;
/** Least width of a bar with a number. */
const LEAST_NUMBERED = 22;

/** A bar at one place of the slider: its value, the ends of its intervals, and of how many it is, as far as they are known. */
type BarReading = readonly [value: number, lo: Known, hi: Known, min: Known, max: Known, n: Known];
type Known = number | null;
/** A bar with what it is at each place of the slider; null: it is not there. */
type Bar = { readonly name: string; readonly x: string; readonly readings: readonly (BarReading | null)[] };

/** Limit on the numbers of a slider, bars times places. */
const MOST_READINGS = 200_000;

/** The places of the slider of figures side by side, in order, an even selection where they are too many; none: they have no slider. */
function sliderPlaces(set: readonly StudyFigure[]): number[] {
  const all = set.flatMap(({ bars }) => bars);
  const count = all.reduce((sum, { x }) => sum + new Set(x).size, 0);
  const places = [...new Set(all.flatMap(({ at }) => at ?? []))].sort((a, b) => a - b);
  return evenly(places, Math.max(2, Math.floor(MOST_READINGS / Math.max(1, count))));
}

/** The bars of a figure. @param places Places of the slider of its set; empty: it has none. */
function barsOf({ bars }: StudyFigure, places: readonly number[]): Bar[] {
  return bars.flatMap((series) =>
    [...groupBy([...series.x.keys()], (index) => series.x[index]!)].map(([x, indices]) => {
      const byPlace = new Map(indices.map((index) => [series.at?.[index], index]));
      const shown = places.length === 0 ? [undefined] : places;
      const readings = shown.map((place) => readingAt(series, byPlace.get(series.at === null ? undefined : place)));
      return { name: series.name, x, readings };
    }),
  );
}

function readingAt({ y, lo, hi, min, max, n }: StudyBars, index = -1): BarReading | null {
  // Five digits: more cannot be seen.
  const at = (list: readonly Known[] | null) => (list?.[index] == null ? null : Number(list[index].toPrecision(5)));
  const value = at(y);
  return value === null ? null : [value, at(lo), at(hi), at(min), at(max), at(n)];
}

/** What is known of a bar at one place: `both, filter: 0.42 [0.41, 0.43] in [0.4, 0.44] n=3`. The slider's script writes the same. */
function readingText(name: string, [value, lo, hi, min, max, n]: BarReading): string {
  const interval = (low: Known, high: Known, word: string) =>
    low === null || high === null ? '' : `${word}[${tickText(low)}, ${tickText(high)}]`;
  return `${name}: ${tickText(value)}${interval(lo, hi, ' ')}${interval(min, max, ' in ')}${n === null ? '' : ` n=${n}`}`;
}

/**
 * `names`: all that bars stand at; `labels`: how each is written below them: as a letter where whole names have no room; `legend`:
 * what the letters stand for. `width`: of the figure in CSS pixels.
 */
type Layout = {
  readonly names: readonly string[];
  readonly width: number;
  readonly isWide: boolean;
  readonly labels: readonly string[];
  readonly legend: readonly LegendEntry[];
};

/** Figures side by side have their bars at the same names. */
function barLayout(set: readonly StudyFigure[]): Layout {
  const all = set.flatMap(({ bars }) => bars);
  const names = [...new Set(all.flatMap(({ x }) => x))];
  const isWide = names.length * new Set(all.map(({ name }) => name)).size > MOST_SMALL_BARS;
  const width = isWide ? widths.wide : widths.small;
  const room = (width - margin.left - margin.right) / names.length;
  const isShort = names.some((name) => name.length * LETTER > room);
  const letters = names.map((_, index) => letterOf(index));
  const legend = isShort ? names.map((name, index) => ({ colour: 'none', text: `${letters[index]!}: ${name}` })) : [];
  return { names, width, isWide, labels: isShort ? letters : names, legend };
}

function letterOf(index: number): string {
  return `${String.fromCharCode('A'.charCodeAt(0) + (index % 26))}${index < 26 ? '' : Math.floor(index / 26)}`;
}

/** Bars side by side at each name, as they are at the last place. The axis covers all places, so that they are comparable. */
function barSvg(
  figure: StudyFigure,
  bars: readonly Bar[],
  { names, width, labels }: Layout,
  colourOf: (name: string) => string,
): string {
  const across = figure.lines.flatMap(({ y, text }) => (y === null ? [] : [{ y, text }]));
  const scale = scaleOf([...bars.flatMap(endsOf), ...across.map(({ y }) => y)]);
  const slot = (width - margin.left - margin.right) / names.length;
  const most = new Set(figure.bars.map(({ name }) => name)).size;
  const barWidth = Math.min(70, (slot * 0.84) / most);
  const middleOf = (name: string) => margin.left + slot * (names.indexOf(name) + 0.5);
  const beside = groupBy(bars, ({ x }) => x);
  const marks = bars.map((bar, index) => {
    const own = beside.get(bar.x)!;
    const x = round(middleOf(bar.x) + barWidth * (own.indexOf(bar) - own.length / 2));
    return barMarkup(bar, { index, x, width: round(barWidth - 2), colour: colourOf(bar.name), scale });
  });
  const svg = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    role="img"
    aria-label="${figure.title}"
    viewBox="0 0 ${width} ${HEIGHT}"
    width="${width}"
    height="${HEIGHT}"
    fill="currentColor"
    style="font-size:11px"
    data-zero="${round(scale.y(0))}"
    data-unit="${scale.unit}"
  >
    <text y="12">↑ ${namedUnit(figure.y)}</text>
    <text x="${width - margin.right}" y="${HEIGHT - 6}" text-anchor="end">${namedUnit(figure.x)}</text>
    ${scale.ticks.map((tick) => levelMarkup(scale.y(tick), width, tickText(tick)))}
    ${names.map((name, index) => html`<text x="${round(middleOf(name))}" y="${HEIGHT - 24}" text-anchor="middle">${labels[index]!}</text>`)}
    ${marks} ${across.map(({ y, text }) => acrossMarkup(scale.y(y), width, text))}
  </svg>`;
  // Put on one line, as readers of SVG files expect the head on one line.
  return svg.text.replace(/\s+/g, ' ');
}

function levelMarkup(at: number, width: number, text: string): Markup {
  const y = round(at);
  return html`<path d="M${margin.left},${y}H${width - margin.right}" stroke="currentColor" stroke-opacity="0.12"></path
    ><text x="${margin.left - 6}" y="${y + 4}" text-anchor="end">${text}</text>`;
}

function acrossMarkup(at: number, width: number, text: string): Markup {
  const [y, end] = [round(at), width - margin.right];
  return html`<path d="M${margin.left},${y}H${end}" stroke="currentColor" stroke-dasharray="4 4"></path
    ><text x="${end}" y="${y - 5}" text-anchor="end">${text}</text>`;
}

/** `index`: of the bar in its figure. */
type Drawn = {
  readonly index: number;
  readonly x: number;
  readonly width: number;
  readonly colour: string;
  readonly scale: Scale;
};

/** A bar with its number and both intervals, the inner one thick. The slider's script sets the same attributes. */
function barMarkup({ name, x: at, readings }: Bar, { index, x, width, colour, scale }: Drawn): Markup {
  const reading = readings.at(-1) ?? null;
  const [value, lo, hi, min, max] = reading ?? ([0, null, null, null, null] as const);
  const [top, zero, middle] = [scale.y(Math.max(0, value)), scale.y(Math.min(0, value)), round(x + width / 2)];
  const line = (from: Known, to: Known) => `M${middle},${round(scale.y(from ?? value))}V${round(scale.y(to ?? value))}`;
  const number =
    width < LEAST_NUMBERED
      ? null
      : html`<text x="${middle}" y="${round(scale.y(Math.max(0, ...endsAt(reading))) - 5)}" text-anchor="middle"
          >${tickText(value)}</text
        >`;
  const said = [name, at].filter((part) => part !== '').join(', ');
  return html`<g data-bar="${index}" aria-label="${said}" ${reading === null ? html` visibility="hidden"` : null}
    ><title>${reading === null ? said : readingText(said, reading)}</title
    ><rect x="${x}" y="${round(top)}" width="${width}" height="${round(zero - top)}" fill="${colour}"></rect
    ><path d="${line(min, max)}" stroke="currentColor" stroke-width="1"></path
    ><path d="${line(lo, hi)}" stroke="currentColor" stroke-width="3"></path>${number}</g
  >`;
}

function endsOf({ readings }: Bar): number[] {
  return readings.flatMap(endsAt);
}

/** The value and the ends of its intervals. */
function endsAt(reading: BarReading | null): number[] {
  return (reading ?? []).slice(0, 5).filter((end) => end !== null);
}

/** `unit`: pixels of 1; `y`: pixels from the top. */
type Scale = { readonly unit: number; readonly y: (value: number) => number; readonly ticks: readonly number[] };

function scaleOf(ends: readonly number[]): Scale {
  const low = ends.reduce((least, end) => Math.min(least, end), 0);
  const high = ends.reduce((most, end) => Math.max(most, end), 0);
  const step = tickStep(high - low);
  const [first, last] = [Math.floor(low / step), Math.max(1, Math.ceil(high / step))];
  const unit = (HEIGHT - margin.top - margin.bottom) / ((last - first) * step);
  return {
    unit: Number(unit.toPrecision(6)),
    y: (value) => HEIGHT - margin.bottom - (value - first * step) * unit,
    ticks: Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(6))),
  };
}

/** A tick distance of 1, 2 or 5 times a power of ten, which gives about four ticks. */
function tickStep(range: number): number {
  if (!(range > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(range / 4));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => range / step <= 5)!;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}
