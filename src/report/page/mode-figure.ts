import { tickText, palette } from './figure.js';
import { html, Markup } from './markup.js';
import { coloursOf } from './mode-families.js';
import type { ModeOverview, ModeSeries, SeedPoint } from './overview-data.js';

/** Height of a panel in CSS pixels. */
const HEIGHT = 240;
const SMALL = 420;
const WIDE = 860;
const margin = { left: 46, right: 8, top: 22, bottom: 26 };
/** Number of bars that fit into a small panel. */
const MOST_SMALL_BARS = 14;
/** Width of a character in a label. */
const LETTER = 6.4;
/** Least width of a bar with a number. */
const LEAST_NUMBERED = 22;

/** A panel: the bars of one metric at the last step. */
type Panel = { readonly metric: string; readonly svg: Markup; readonly isWide: boolean };

/** The numbers that the script needs to show another step. A bar's list has one entry for each step. */
export type Frames = {
  readonly steps: readonly number[];
  readonly bars: readonly (readonly (readonly [number, number | null, number, number, number] | null)[])[];
};

/**
 * Bars of a family of metrics for each mode and condition, one step at a time. The page shows the last step; the script moves the
 * bars. Arrow keys change the step, Space plays and pauses.
 */
export function modeFigure(overview: ModeOverview): Markup {
  const { prefix, steps, modes, conditions } = overview;
  const colours = coloursOf(modes, palette);
  const names = shortNames(overview);
  const panels = panelsOf(overview, colours, names);
  const legend = modes.map((mode) => html`<li><i style="background:${colours.get(mode)!}"></i>${mode}</li>`);
  const list = names.isShort ? conditions.map((condition, index) => html`<li>${letter(index)}: ${condition}</li>`) : [];
  return html`<figure class="steps" tabindex="0" role="group" aria-label="${prefix} over the steps">
    <h3>${prefix} over the steps</h3>
    <ul class="legend">
      ${legend}${list}
    </ul>
    ${controlsMarkup(steps)}
    <div class="small">
      ${panels.map(
        ({ metric, svg, isWide }) =>
          html`<div ${isWide ? html`class="wide"` : null}>
            <h4>${metric}</h4>
            ${svg}
          </div>`,
      )}
    </div>
    <script type="application/json">
      ${new Markup(JSON.stringify(framesOf(overview)))}
    </script>
    <figcaption>
      Bars: the mean over the seeds; thick lines ±1 standard deviation, thin lines from the least to the most. On paper:
      the last step.
    </figcaption>
  </figure>`;
}

function controlsMarkup(steps: readonly number[]): Markup {
  const last = steps.length - 1;
  const button = (act: string, text: string, says: string) =>
    html`<button type="button" data-act="${act}" aria-label="${says}" title="${says}">${text}</button>`;
  return html`<div class="controls">
    ${button('play', '▶', 'play or stop (Space)')} ${button('back', '‹', 'one step back (left arrow)')}
    <input type="range" min="0" max="${last}" value="${last}" step="1" aria-label="step" />
    ${button('on', '›', 'one step on (right arrow)')}
    <output>step ${steps[last]!}</output>
    <label
      >speed
      <select aria-label="speed">
        <option value="1600">½</option>
        <option value="800" selected>1</option>
        <option value="400">2</option>
        <option value="200">4</option>
      </select></label
    >
  </div>`;
}

/** The panels at the last step as separate files. */
export function modePanels(
  overview: ModeOverview,
): { title: string; svg: string; legend: { colour: string; text: string }[] }[] {
  const colours = coloursOf(overview.modes, palette);
  const legend = overview.modes.map((text) => ({ text, colour: colours.get(text)! }));
  return panelsOf(overview, colours, shortNames(overview)).map(({ metric, svg }) => ({
    ...{ title: `${overview.prefix} ${metric}`, svg: svg.text, legend },
  }));
}

function framesOf({ steps, series }: ModeOverview): Frames {
  return { steps, bars: series.map(({ points }) => points.map((point) => point && numbersOf(point))) };
}

function numbersOf({ mean, sd, least, most, seeds }: SeedPoint) {
  const [a, b, c, d] = [mean, sd, least, most].map((value) => (value === null ? null : Number(value.toPrecision(4))));
  return [a!, b!, c!, d!, seeds] as const;
}

type Names = { readonly isShort: boolean; readonly of: (condition: string) => string };

/** Letters as names if the full names would not fit side by side. */
function shortNames(overview: ModeOverview): Names {
  const { conditions } = overview;
  const room = (widthOf(overview) - margin.left - margin.right) / conditions.length;
  const isShort = conditions.some((condition) => condition.length * LETTER > room);
  return { isShort, of: (condition) => (isShort ? letter(conditions.indexOf(condition)) : condition) };
}

function letter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function widthOf({ conditions, modes }: ModeOverview): number {
  return conditions.length * modes.length > MOST_SMALL_BARS ? WIDE : SMALL;
}

function panelsOf(overview: ModeOverview, colours: ReadonlyMap<string, string>, names: Names): Panel[] {
  const width = widthOf(overview);
  return overview.metrics.flatMap((metric) => {
    const bars = overview.series.flatMap((series, index) => (series.metric === metric ? [{ series, index }] : []));
    if (bars.length === 0) return [];
    return [{ metric, svg: panelSvg({ overview, metric, bars, width, colours, names }), isWide: width === WIDE }];
  });
}

type Drawing = {
  readonly overview: ModeOverview;
  readonly metric: string;
  readonly bars: readonly { readonly series: ModeSeries; readonly index: number }[];
  readonly width: number;
  readonly colours: ReadonlyMap<string, string>;
  readonly names: Names;
};

/** Draws a panel. The axis covers all steps, so that bars of different steps are comparable. */
function panelSvg({ overview, metric, bars, width, colours, names }: Drawing): Markup {
  const { conditions, modes, prefix } = overview;
  const scale = scaleOf(bars.map(({ series }) => series));
  const slot = (width - margin.left - margin.right) / conditions.length;
  const gap = slot * 0.16;
  const barWidth = Math.min(70, (slot - gap) / modes.length);
  const labels = conditions.map((condition, index) => {
    const x = round(margin.left + slot * (index + 0.5));
    return html`<text x="${x}" y="${HEIGHT - 8}" text-anchor="middle">${names.of(condition)}</text>`;
  });
  const marks = bars.map(({ series, index }) => {
    const middle = margin.left + slot * (conditions.indexOf(series.condition) + 0.5);
    const beside = modes.filter((mode) => bars.some(({ series: other }) => isOf(other, series.condition, mode)));
    const x = round(middle + barWidth * (beside.indexOf(series.mode) - beside.length / 2));
    return barMarkup(series, { index, x, barWidth: round(barWidth - 2), colour: colours.get(series.mode)!, scale });
  });
  const svg = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    role="img"
    aria-label="${prefix} ${metric} at one step"
    viewBox="0 0 ${width} ${HEIGHT}"
    width="${width}"
    height="${HEIGHT}"
    fill="currentColor"
    style="font-size:11px"
    data-zero="${round(scale.y(0))}"
    data-unit="${scale.unit}"
  >
    ${ticksMarkup(scale, width)}${labels}${marks}
  </svg>`;
  // Put on one line, as readers of SVG files expect the head on one line.
  return new Markup(svg.text.replace(/\s+/g, ' '));
}

function ticksMarkup({ ticks, y: placeOf }: Scale, width: number): Markup[] {
  return ticks.map((tick) => {
    const y = round(placeOf(tick));
    return html`<path
        d="M${margin.left},${y}H${width - margin.right}"
        stroke="currentColor"
        stroke-opacity="0.12"
      ></path
      ><text x="${margin.left - 6}" y="${y + 4}" text-anchor="end">${tickText(tick)}</text>`;
  });
}

function isOf(series: ModeSeries, condition: string, mode: string): boolean {
  return series.condition === condition && series.mode === mode;
}

type Bar = {
  readonly index: number;
  readonly x: number;
  readonly barWidth: number;
  readonly colour: string;
  readonly scale: Scale;
};

function barMarkup({ points, condition, mode }: ModeSeries, { index, x, barWidth, colour, scale }: Bar): Markup {
  const point = points.at(-1) ?? null;
  const { mean, sd, least, most } = point ?? { mean: 0, sd: null, least: 0, most: 0 };
  const [top, zero] = [scale.y(Math.max(0, mean)), scale.y(Math.min(0, mean))];
  const middle = round(x + barWidth / 2);
  const line = (from: number, to: number) => `M${middle},${round(scale.y(from))}V${round(scale.y(to))}`;
  const number =
    barWidth < LEAST_NUMBERED
      ? null
      : html`<text x="${middle}" y="${round(scale.y(Math.max(0, most, mean + (sd ?? 0))) - 5)}" text-anchor="middle"
          >${tickText(mean)}</text
        >`;
  return html`<g data-bar="${index}" ${point === null ? html` visibility="hidden"` : null}
    ><title>${mode}, ${condition}</title
    ><rect x="${x}" y="${round(top)}" width="${barWidth}" height="${round(zero - top)}" fill="${colour}"></rect
    ><path d="${line(least, most)}" stroke="currentColor" stroke-width="1"></path
    ><path d="${line(mean - (sd ?? 0), mean + (sd ?? 0))}" stroke="currentColor" stroke-width="3"></path>${number}</g
  >`;
}

/** `unit`: pixels of 1; `y`: pixels from the top. */
type Scale = { readonly unit: number; readonly y: (value: number) => number; readonly ticks: readonly number[] };

function scaleOf(series: readonly ModeSeries[]): Scale {
  const points = series.flatMap(({ points: own }) => own.filter((point) => point !== null));
  const ends = points.flatMap(({ mean, sd, least, most }) => [mean - (sd ?? 0), mean + (sd ?? 0), least, most]);
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
