import { cleanText } from '../../text/display-text.js';
import { type ChartChoice, guideChoices, type Spread, spreads } from '../state/chart-choice.js';
import type { ChartCommand } from '../state/command.js';
import type { KeyRow } from './key-row.js';
import { type Handler, opens, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { UiState } from '../state/ui-state.js';
import { spreadNames } from '../widgets/chart/chart-legend.js';

/** Weights of the exponential mean, in the order in which the key cycles through them. */
const smoothings = [0, 0.6, 0.9, 0.97];

/** One setting of the charts. `key`: its letter in the menu of charts; `now`: its present value in a word or two. */
export type ChartOption = {
  readonly name: string;
  readonly key: string;
  readonly label: string;
  readonly help: string;
  readonly now: (ui: UiState) => string;
  readonly act: Handler;
};

/** Settings that have no key besides their letter in the menu. */
export const chartOptions: readonly ChartOption[] = [
  {
    ...{ name: 'spread', key: 'a', label: 'seeds', act: nextSpread },
    help: 'seeds: each one, mean ± std, 95 % band or min–max, median, IQM',
    now: (ui) => spreadNames[spreadOf(ui)],
  },
  {
    ...{ name: 'carry', key: 'A', label: 'runs that ended early', act: carry },
    help: 'seeds: carry the last value of runs that ended early, or leave them out',
    now: ({ chart }) => (chart.carriesEnded ? 'count on' : 'left out'),
  },
  {
    ...{ name: 'log-x', key: 'L', label: 'scale of x', help: 'logarithmic x axis', act: toggleLogX },
    now: ({ chart }) => scaleWord(chart.isLogX),
  },
  {
    ...{ name: 'clip', key: 'u', label: 'outliers of y', help: 'ignore outliers in the y range', act: clip },
    now: ({ chart }) => (chart.isClipped ? 'cut off' : 'shown'),
  },
  {
    ...{ name: 'guides', key: 'g', label: 'guides', help: 'faint lines behind curves', act: nextGuides },
    now: ({ chart }) => chart.guides,
  },
  {
    ...{ name: 'zoom-in', key: 'z', label: 'zoom in', help: 'zoom into the chart around its cursor', act: zoomIn },
    now: ({ chart: { zoom } }) => (zoom === null ? 'all of x' : `${percent(zoom.from)}–${percent(zoom.to)} % of x`),
  },
  { ...{ name: 'zoom-out', key: 'Z', label: 'zoom out', help: 'zoom out', act: zoomOut }, now: () => '' },
];

function scaleWord(isLog: boolean): string {
  return isLog ? 'logarithmic' : 'linear';
}

function percent(part: number): number {
  return Math.round(part * 100);
}

/** The keys of every chart. `own`: their words in a screen's footer, and what a screen does otherwise. */
export function chartRows(
  own: Partial<Record<ChartCommand, Pick<KeyRow, 'short' | 'worth'> & Partial<Pick<KeyRow, 'help' | 'act'>>>>,
): KeyRow[] {
  const row = (command: ChartCommand, key: string, help: string, act: Handler): KeyRow => ({
    ...{ command, keys: [key], help, group: 'charts', act },
    ...own[command],
  });
  return [
    row('metric', 'm', 'choose the metric of the list and the chart', opens('metrics')),
    row('x-axis', 'x', 'x axis: step, time, relative time, or any metric', opens('x-axis')),
    row('log-y', 'l', 'y axis: logarithmic, linear, or as the values need it', nextYAxis),
    row('smooth', '~', 'smoothing: more, then off', smooth),
    row('chart', 'a', 'how charts are drawn: seeds, scale of x, outliers, zoom', opens('chart')),
  ];
}

/** Values that the key cycles through, with their descriptions. */
const yAxes: readonly (readonly [ChartChoice['isLogY'], string])[] = [
  [null, 'logarithmic where values span a factor of 10,000, else linear'],
  [true, 'logarithmic'],
  [false, 'linear'],
];

function axisAfter(isLogY: ChartChoice['isLogY']): (typeof yAxes)[number] {
  return yAxes[(yAxes.findIndex(([known]) => known === isLogY) + 1) % yAxes.length]!;
}

/** Changes the y axis of all charts, also of those that had one of their own. */
export const nextYAxis: Handler = (ui) => {
  const [isLogY, text] = axisAfter(ui.chart.isLogY);
  return chooseChart(ui, { isLogY, ownLogY: {} }, `y axis: ${text}.`);
};

/** Changes the y axis of one chart. */
export function nextYAxisOf(ui: UiState, metric: string): Pressed {
  const { isLogY: ofAll, ownLogY } = ui.chart;
  const [isLogY, text] = axisAfter(metric in ownLogY ? ownLogY[metric]! : ofAll);
  return chooseChart(ui, { ownLogY: { ...ownLogY, [metric]: isLogY } }, `y axis of ${cleanText(metric)}: ${text}.`);
}

/** The next guides, which are remembered. */
function nextGuides(ui: UiState): Pressed {
  const guides = next(guideChoices, ui.chart.guides);
  const { ui: chosen } = chooseChart(ui, { guides }, `Guides: ${guides}.`);
  return { ui: chosen, order: { type: 'prefer', change: { guides } } };
}

function toggleLogX(ui: UiState): Pressed {
  return chooseChart(ui, { isLogX: !ui.chart.isLogX }, `x axis: ${scaleWord(!ui.chart.isLogX)}.`);
}

const smooth: Handler = (ui) => {
  const smoothing = next(smoothings, ui.chart.smoothing);
  const text = smoothing === 0 ? 'Smoothing off.' : `Exponential moving average, weight ${smoothing}.`;
  return chooseChart(ui, { smoothing }, text);
};

/** How seeds are drawn; the comparison has its own setting. */
function spreadOf({ screen, chart, compare }: UiState): Spread {
  return screen.kind === 'compare' ? compare.spread : chart.spread;
}

function nextSpread(ui: UiState): Pressed {
  const spread = next(spreads, spreadOf(ui));
  if (ui.screen.kind !== 'compare') return chooseChart(ui, { spread }, `Seeds of one setting: ${spreadNames[spread]}.`);
  const note = { text: `Runs of one group: ${spreadNames[spread]}.`, tone: 'dim' } as const;
  return { ui: { ...ui, compare: { ...ui.compare, spread }, note } };
}

function carry(ui: UiState): Pressed {
  const carriesEnded = !ui.chart.carriesEnded;
  const how = carriesEnded ? 'count on with their last value' : 'are left out from their end on';
  return chooseChart(ui, { carriesEnded }, `Seeds of one setting: runs that ended early ${how}.`);
}

function clip(ui: UiState): Pressed {
  const text = ui.chart.isClipped
    ? 'y axis: all values.'
    : 'y axis: the outermost 1 % of values are cut off; arrows show where.';
  return chooseChart(ui, { isClipped: !ui.chart.isClipped }, text);
}

function next<T>(all: readonly T[], current: T): T {
  return all[(all.indexOf(current) + 1) % all.length]!;
}

/** Changes chart settings and shows the change in words. */
function chooseChart(ui: UiState, change: Partial<ChartChoice>, text: string): Pressed {
  return { ui: { ...ui, chart: { ...ui.chart, ...change }, note: { text, tone: 'dim' } } };
}

/** Smallest part of the x range that can be shown. */
const leastPart = 1 / 4096;
const whole = { from: 0, to: 1 };

/** Halves the visible range around the cursor or its middle. */
function zoomIn(ui: UiState, at: KeyContext): Pressed {
  if (at.charts === 0) return refuse(ui, 'There is no chart to zoom into; select a run that has started.');
  const { from, to } = ui.chart.zoom ?? whole;
  if (to - from <= leastPart) return refuse(ui, 'Cannot zoom in any further; Z zooms out.');
  const middle = ui.chart.cursor ?? (from + to) / 2;
  return { ui: { ...ui, chart: { ...ui.chart, zoom: partAround(middle, (to - from) / 2) } } };
}

function zoomOut(ui: UiState): Pressed {
  const { zoom, cursor } = ui.chart;
  if (zoom === null) return unzoomed(ui) ?? refuse(ui, 'All of it is shown; z zooms in.');
  const size = (zoom.to - zoom.from) * 2;
  const wider = size >= 1 ? null : partAround(cursor ?? (zoom.from + zoom.to) / 2, size);
  return { ui: { ...ui, chart: { ...ui.chart, zoom: wider } } };
}

/** Resets zoom and cursor; null: both are reset already. */
export function unzoomed(ui: UiState): Pressed | null {
  const { zoom, cursor } = ui.chart;
  if (zoom === null && cursor === null) return null;
  return chooseChart(ui, { zoom: null, cursor: null }, zoom === null ? 'Cursor off.' : 'All of the chart is shown.');
}

/** Resets zoom and cursor if the selection or the metric has changed, since they belong to one run or group and one metric. */
export function withOwnZoom(
  before: UiState,
  after: UiState,
  { rows, index }: Pick<KeyContext, 'rows' | 'index'>,
): UiState {
  const { zoom, cursor } = after.chart;
  const isSame =
    (after.selected ?? rows[index]?.key) === (before.selected ?? rows[index]?.key) && after.metric === before.metric;
  const isOtherKind = (before.screen.kind === 'compare') !== (after.screen.kind === 'compare');
  if ((zoom === null && cursor === null) || (isSame && !isOtherKind)) return after;
  return { ...after, chart: { ...after.chart, zoom: null, cursor: null } };
}

/** A range of the given size, as close around a position as the whole allows. */
function partAround(middle: number, size: number): { from: number; to: number } {
  const from = Math.min(1 - size, Math.max(0, middle - size / 2));
  return { from, to: from + size };
}

/** Steps of the cursor across the visible range, and steps per page. */
const cursorSteps = 100;
const pageSteps = 10;

/** Ways to move the cursor of the charts. */
export type CursorMove = 'left' | 'right' | 'page-left' | 'page-right' | 'first' | 'last';

/**
 * Moves the cursor of the charts and scrolls the visible range if needed. The first move starts from the end opposite to its
 * direction.
 */
export function moveCursor(ui: UiState, move: CursorMove, at: KeyContext): Pressed {
  if (at.charts === 0) return refuse(ui, 'There is no chart to read values from; select a run that has started.');
  const { cursor, zoom } = ui.chart;
  const { from, to } = zoom ?? whole;
  const step = (to - from) / cursorSteps;
  const steps = {
    left: -1,
    right: 1,
    'page-left': -pageSteps,
    'page-right': pageSteps,
    first: -Infinity,
    last: Infinity,
  };
  const start = cursor ?? (steps[move] < 0 ? to + step : from - step);
  const moved = Math.min(1, Math.max(0, start + steps[move] * step));
  if (moved === cursor) return refuse(ui, moved === 0 ? 'The curves begin here.' : 'The curves end here.');
  return { ui: { ...ui, chart: { ...ui.chart, cursor: moved, zoom: following(zoom, moved) } } };
}

/** Moves the visible range when the cursor leaves it. */
function following(zoom: ChartChoice['zoom'], cursor: number): ChartChoice['zoom'] {
  if (zoom === null || (cursor >= zoom.from && cursor <= zoom.to)) return zoom;
  const size = zoom.to - zoom.from;
  return cursor < zoom.from ? { from: cursor, to: cursor + size } : { from: cursor - size, to: cursor };
}
