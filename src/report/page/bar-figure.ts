import { evenly } from '../../analysis/seed-band.js';
import { groupBy } from '../../base/group-by.js';
import type { StudyBars, StudyFigure } from '../../contract/study.js';
import { namedUnit } from '../studies/study-tables.js';
import type { LegendEntry } from './curve-colours.js';
import { tickText } from './figure.js';
import { html, type Markup } from './markup.js';

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
export type Bar = { readonly name: string; readonly x: string; readonly readings: readonly (BarReading | null)[] };

/** Limit on the numbers of a slider, bars times places. */
const MOST_READINGS = 200_000;

/** The places of the slider of figures side by side, in order, an even selection where they are too many; none: they have no slider. */
export function sliderPlaces(set: readonly StudyFigure[]): number[] {
  const all = set.flatMap(({ bars }) => bars);
  const count = all.reduce((sum, { x }) => sum + new Set(x).size, 0);
  const places = [...new Set(all.flatMap(({ at }) => at ?? []))].sort((a, b) => a - b);
  return evenly(places, Math.max(2, Math.floor(MOST_READINGS / Math.max(1, count))));
}

/** The bars of a figure. @param places Places of the slider of its set; empty: it has none. */
export function barsOf({ bars }: StudyFigure, places: readonly number[]): Bar[] {
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
  // As many digits as can be seen.
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
export function barLayout(set: readonly StudyFigure[]): Layout {
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
export function barSvg(
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

/** A bar with its number and both intervals, the inner one thick. What moves it sets the same attributes. */
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
