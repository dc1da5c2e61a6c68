import * as Plot from '@observablehq/plot';
import { placesOf, seedBand } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import { figureSvg, palette, runTitle, tickText } from './figure.js';
import type { PageCurve, PageGroup } from './page-data.js';

/** Settings that have a colour each; of more, the curves are told apart by pointing at them. */
const MOST_COLOURS = palette.length;
/** Places at which the seeds of a setting are averaged. */
const PLACES = 120;
/** Of fewer seeds an interval says little: of two it is nine times as wide as they lie apart. */
const LEAST_SEEDS = 5;
/** From this ratio of the last x to the first on, most of a curve would lie at the left edge. */
const LOG_RATIO = 100;

/** A figure and what its colours mean. `isSmall`: it stands beside others. */
export type Figure = {
  readonly title: string;
  readonly svg: string;
  readonly legend: readonly LegendEntry[];
  readonly note: string;
  readonly isSmall?: boolean;
};
export type LegendEntry = { readonly colour: string; readonly text: string };

/** The curves of a metric: a thin line a run, and of settings with several seeds the mean with its 95 % interval. */
export function curveFigure({ xKey, settings, kind }: PageGroup, metric: string, curves: readonly PageCurve[]): Figure {
  const isColoured = settings.length <= MOST_COLOURS;
  const colourOf = (setting: string) => (isColoured ? palette[settings.indexOf(setting)]! : 'currentColor');
  const isLog = kind === 'memory' || wantsLog(curves);
  const bands = isColoured ? bandsOf(curves, isLog) : [];
  const points = curves.flatMap(({ run, setting, x, y }) =>
    Array.from(x, (at, index) => ({ run, setting, x: at, y: y[index]! })).filter((point) => !isLog || point.x > 0),
  );
  const hasBands = bands.length > 0;
  const svg = figureSvg(`${metric} over ${xKey} of ${curves.length} runs`, {
    x: { type: isLog ? 'log' : 'linear', label: xKey, nice: !isLog, tickFormat: tickText },
    // Of three seeds the interval may be many times as wide as all that was measured.
    y: { label: metric, grid: true, nice: true, tickFormat: tickText, domain: rangeOf(points.map(({ y }) => y)) },
    clip: true,
    marks: [
      Plot.areaY(bands, {
        x: 'x',
        y1: 'low',
        y2: 'high',
        z: 'setting',
        fill: ({ setting }: Band) => colourOf(setting),
        fillOpacity: 0.15,
      }),
      Plot.lineY(points, {
        ...{ x: 'x', y: 'y', z: 'run', stroke: ({ setting }: { setting: string }) => colourOf(setting) },
        ...{ strokeWidth: hasBands ? 1 : 1.6, strokeOpacity: hasBands ? 0.35 : 0.8 },
        title: ({ run }: { run: number }) => runTitle(run),
      }),
      Plot.lineY(bands, {
        x: 'x',
        y: 'middle',
        z: 'setting',
        stroke: ({ setting }: Band) => colourOf(setting),
        strokeWidth: 2.4,
      }),
    ],
  });
  const legend = isColoured && settings.length > 1 ? settings.map((text) => ({ colour: colourOf(text), text })) : [];
  const most = Math.max(0, ...settings.map((setting) => curves.filter((curve) => curve.setting === setting).length));
  return { title: metric, svg, legend, note: noteOf(hasBands, isColoured, most) };
}

type Band = { setting: string; x: number; middle: number; low: number; high: number };

/** Of settings with several runs. Where only one has come so far there is no interval. */
function bandsOf(curves: readonly PageCurve[], isLog: boolean): Band[] {
  return [...groupBy(curves, ({ setting }) => setting)].flatMap(([setting, ofSetting]) => {
    if (ofSetting.length < 2) return [];
    const summary = ofSetting.length < LEAST_SEEDS ? 'range' : 'band';
    return seedBand(ofSetting, placesOf(ofSetting, PLACES, isLog), summary).map(({ x, middle, low, high }) => {
      return { setting, x, middle, low: Number.isNaN(low) ? middle : low, high: Number.isNaN(high) ? middle : high };
    });
  });
}

function rangeOf(values: readonly number[]): [number, number] {
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  // Nothing is below nothing: a loss is not drawn as if it could be.
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}

/** Where the shortest curve ends long before the longest. */
function wantsLog(curves: readonly PageCurve[]): boolean {
  const ends = curves.map(({ x }) => x[x.length - 1]!).filter((x) => x > 0);
  return ends.length > 1 && Math.max(...ends) / Math.min(...ends) >= LOG_RATIO;
}

function noteOf(hasBands: boolean, isColoured: boolean, seeds: number): string {
  if (!isColoured) return 'A line for each run. Point at one to see which it is.';
  if (!hasBands) return '';
  const around = seeds < LEAST_SEEDS ? 'between the lowest and the highest' : 'with its 95 % interval (Student’s t)';
  return `Thin: single runs. Thick: the mean over the seeds of a setting, ${around}; runs that have ended count with their last value.`;
}
