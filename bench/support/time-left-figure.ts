import * as Plot from '@observablehq/plot';
import { figureSvg, palette } from '../../src/report/page/figure.js';
import { standalone } from '../../src/report/page/page.js';
import type { Look } from '../../test/analysis/forecast/recorded-sweep.js';

/** A recorded sweep, and what was foretold of it by this forecast and by an older one. */
type Replayed = { readonly name: string; readonly now: readonly Look[]; readonly before: readonly Look[] };

type Point = { readonly column: number; readonly row: number; readonly part: number } & Readonly<
  Record<string, number>
>;

const TRUE = '#1b1f24';
const legend = [
  { text: 'what was left', colour: TRUE },
  { text: 'what is told: the middle, and the range that holds the truth in eight cases of ten', colour: palette[0]! },
  { text: 'what 2592e47 told', colour: palette[2]! },
];
const COLUMNS = 4;
/** What is told or left is drawn from here on, seconds: the scale is logarithmic. */
const LEAST = 1;

/** Seconds left over the share of the time of each sweep: what came, what this forecast told with its range, and what the older one told. */
export function timeLeftFigure(replayed: readonly Replayed[]): string {
  const places = replayed.map(({ name }, index) => ({
    name,
    column: index % COLUMNS,
    row: Math.floor(index / COLUMNS),
  }));
  const pointsOf = (which: 'now' | 'before') => replayed.flatMap((each, index) => points(each[which], places[index]!));
  const [now, before] = [pointsOf('now'), pointsOf('before')];
  const facet = { fx: 'column', fy: 'row', x: 'part' };
  const svg = figureSvg('Seconds left, told and true, of recorded sweeps', {
    ...{ width: 1100, height: 190 * (1 + places.at(-1)!.row), marginTop: 40 },
    x: { label: 'share of the time of the sweep', tickFormat: '.0%', ticks: 4 },
    y: {
      label: 'seconds left',
      type: 'log',
      domain: [LEAST, 3000],
      clamp: true,
      grid: true,
      ticks: 4,
      tickFormat: ',',
    },
    fx: { axis: null, padding: 0.06 },
    fy: { axis: null, padding: 0.14 },
    marks: [
      Plot.text(places, { fx: 'column', fy: 'row', text: 'name', frameAnchor: 'top', dy: -14, fontWeight: 'bold' }),
      Plot.areaY(now, { ...facet, y1: 'low', y2: 'high', fill: palette[0]!, fillOpacity: 0.2 }),
      Plot.lineY(before, { ...facet, y: 'middle', stroke: palette[2]!, strokeWidth: 1 }),
      Plot.lineY(now, { ...facet, y: 'middle', stroke: palette[0]!, strokeWidth: 2 }),
      Plot.lineY(now, { ...facet, y: 'actual', stroke: TRUE, strokeDasharray: '4 3' }),
    ],
  });
  return standalone({ svg, legend });
}

/** Where nothing was told, the line is broken. */
function points(looks: readonly Look[], { column, row }: { column: number; row: number }): Point[] {
  const total = looks[0]!.at + looks[0]!.actual;
  return looks.map(({ at, told, actual }) => ({
    ...{ column, row, part: at / total, actual: Math.max(LEAST, actual) },
    ...{ low: drawn(told?.low), middle: drawn(told?.middle), high: drawn(told?.high) },
  }));
}

function drawn(seconds: number | undefined): number {
  return seconds === undefined ? Number.NaN : Math.max(LEAST, seconds);
}
