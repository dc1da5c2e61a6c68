import * as Plot from '@observablehq/plot';
import { placesOf, seedBand } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import type { ChartLine } from '../../contract/study.js';
import type { CurveColours, LegendEntry } from './curve-colours.js';
import { figureSvg, runTitle } from './figure.js';
import type { PageCurve, PageFigure, PageGroup } from './page-data.js';
import { ticksOf, valueAxis, type ValueAxis } from './value-axis.js';

/** Number of places at which the seeds of a setting are averaged. */
const PLACES = 120;
/** Least number of seeds for an interval: that of two is nine times as wide as their distance. */
const LEAST_SEEDS = 5;
/** Ratio of the last x to the first above which most of a curve would be at the left edge. */
const LOG_RATIO = 100;

/** A figure and its legend. `isSmall`: it is shown beside others. */
export type Figure = {
  readonly title: string;
  readonly svg: string;
  readonly legend: readonly LegendEntry[];
  readonly note: string;
  readonly isSmall?: boolean;
};

/**
 * The curves of a metric: a thin line for each run, and for settings with several seeds the mean with its 95 % interval; and the
 * lines to compare them with.
 */
export function curveFigure(group: PageGroup, { metric, curves, lines }: PageFigure): Figure {
  const { xKey, settings, colours } = group;
  const isLog = wantsLogX(curves);
  const seen = curves.map((curve) => pointsOf(curve, isLog));
  // The interval of three seeds may be many times as wide as the measured range.
  const axis = valueAxis(
    seen.map((points) => points.map(({ y }) => y)),
    'run',
    lines.flatMap(({ y, per }) => (per === null ? y : [])),
  );
  const bands = colours.isOfSettings ? bandsOf(curves, isLog, axis) : [];
  const across = seen.flat().map(({ x }) => x);
  const svg = figureSvg(`${metric} over ${xKey} of ${curves.length} runs`, {
    x: { type: isLog ? 'log' : 'linear', label: xKey, nice: !isLog, tickFormat: ticksOf(across, isLog) },
    y: { label: metric, ...axis.scale },
    marks: [
      ...lineMarks(lines, across, axis),
      ...curveMarks(seen, bands, axis, colours.of),
      ...leavingMarks(seen, axis, colours.of),
    ],
  });
  const most = Math.max(0, ...settings.map((setting) => curves.filter((curve) => curve.setting === setting).length));
  const note = [noteOf(bands.length > 0, colours, most), axis.note].filter((text) => text !== '').join(' ');
  return { title: metric, svg, legend: colours.legend, note };
}

type Point = { readonly run: number; readonly setting: string; readonly x: number; readonly y: number };

function pointsOf({ run, setting, x, y }: PageCurve, isLog: boolean): Point[] {
  const points = Array.from(x, (at, index) => ({ run, setting, x: at, y: y[index]! }));
  return isLog ? points.filter((point) => point.x > 0) : points;
}

function curveMarks(
  seen: readonly (readonly Point[])[],
  bands: readonly Band[],
  { drawn }: ValueAxis,
  colourOf: (setting: string) => string,
): Plot.Markish[] {
  const stroke = ({ setting }: { setting: string }) => colourOf(setting);
  const ofSetting = { x: 'x', z: 'setting', clip: true } as const;
  const hasBands = bands.length > 0;
  return [
    Plot.areaY(bands, { ...ofSetting, y1: 'low', y2: 'high', fill: stroke, fillOpacity: 0.15 }),
    Plot.lineY(seen.flat(), {
      ...{ x: 'x', y: ({ y }: Point) => drawn(y), z: 'run', stroke, clip: true },
      ...{ strokeWidth: hasBands ? 1 : 1.6, strokeOpacity: hasBands ? 0.35 : 0.8 },
      title: ({ run }: Point) => runTitle(run),
    }),
    Plot.lineY(bands, { ...ofSetting, y: 'middle', stroke, strokeWidth: 2.4 }),
  ];
}

/** Dashed lines from the first x to the last, with their texts at the right, as far as the axis reaches. */
function lineMarks(
  lines: readonly ChartLine[],
  across: readonly number[],
  { domain, drawn }: ValueAxis,
): Plot.Markish[] {
  const [first, last] = across.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
  if (first > last) return [];
  const points = lines.flatMap(({ y, per, text }, line) => {
    const xs = Array.from({ length: PLACES + 1 }, (_, at) => first + ((last - first) * at) / PLACES);
    const all = xs.map((x) => ({ line, text, x, y: per === null ? y : y * x }));
    return all.filter((point) => point.y >= domain[0] && point.y <= domain[1]);
  });
  const ends = lines.flatMap((_, line) => points.findLast((point) => point.line === line) ?? []);
  const place = { x: 'x', y: ({ y }: { y: number }) => drawn(y) };
  return [
    Plot.lineY(points, { ...place, z: 'line', stroke: 'currentColor', strokeDasharray: '4 4', strokeOpacity: 0.6 }),
    Plot.text(ends, { ...place, text: 'text', textAnchor: 'end', dy: -7 }),
  ];
}

/** Triangles where curves leave the figure for the first time. */
function leavingMarks(
  seen: readonly (readonly Point[])[],
  { side, domain: [low, high] }: ValueAxis,
  colourOf: (setting: string) => string,
): Plot.Markish[] {
  return ([1, -1] as const).map((way) => {
    const leaving = seen.flatMap((points) => points.find(({ y }) => side(y) === way) ?? []);
    return Plot.text(leaving, {
      ...{ x: 'x', y: () => (way > 0 ? high : low), dy: 6 * way, text: () => (way > 0 ? '▲' : '▼') },
      fill: ({ setting }: Point) => colourOf(setting),
    });
  });
}

type Band = { setting: string; x: number; middle: number; low: number; high: number };

/** Bands of settings with several runs. Where only one run has come so far there is no interval. */
function bandsOf(curves: readonly PageCurve[], isLog: boolean, { drawn, domain }: ValueAxis): Band[] {
  return [...groupBy(curves, ({ setting }) => setting)].flatMap(([setting, ofSetting]) => {
    if (ofSetting.length < 2) return [];
    const summary = ofSetting.length < LEAST_SEEDS ? 'range' : 'band';
    const least = (value: number) => (Number.isNaN(drawn(value)) ? domain[0] : drawn(value));
    return seedBand(ofSetting, placesOf(ofSetting, PLACES, isLog), summary).map(({ x, middle, low, high }) => {
      const [from, to] = [Number.isNaN(low) ? middle : low, Number.isNaN(high) ? middle : high];
      return { setting, x, middle: drawn(middle), low: least(from), high: least(to) };
    });
  });
}

/** Whether the shortest curve ends long before the longest. */
function wantsLogX(curves: readonly PageCurve[]): boolean {
  const ends = curves.map(({ x }) => x[x.length - 1]!).filter((x) => x > 0);
  return ends.length > 1 && Math.max(...ends) / Math.min(...ends) >= LOG_RATIO;
}

function noteOf(hasBands: boolean, { isOfSettings, parameter }: CurveColours, seeds: number): string {
  const coloured = parameter === null ? '' : `, coloured by ${parameter}`;
  if (!isOfSettings) return `A line for each run${coloured}. Point at one to see which it is.`;
  if (!hasBands) return '';
  const around = seeds < LEAST_SEEDS ? 'between the lowest and the highest' : 'with its 95 % interval (Student’s t)';
  return `Thin: single runs. Thick: the mean over the seeds of a setting, ${around}; runs that have ended count with their last value.`;
}
