import { describe, expect, it } from 'vitest';
import type { ChartChoice } from '../../../src/tui/state/chart-choice.js';
import { chartOptions, chartRows, type CursorMove, moveCursor } from '../../../src/tui/keys/chart-handler.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { aSituation } from '../a-situation.js';
import { keyOf } from '../../../src/tui/screens/key-map.js';
import type { ChartCommand, Command } from '../../../src/tui/state/command.js';
import type { KeyContext } from '../../../src/tui/keys/key-context.js';
import { chart } from '../../../src/tui/dialogs/chart.js';
import { xAxis } from '../../../src/tui/dialogs/x-axis.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import type { XChoice } from '../../../src/tui/model/chart-data.js';

const choices: XChoice[] = [
  { key: null, label: 'progress/episodes', about: '', refusal: null },
  { key: 'step', label: 'step', about: '', refusal: null },
  { key: 'time', label: 'time', about: '', refusal: 'These runs do not write the time of a row.' },
];
/** What the keys of the charts look at, and nothing else. */
const at = {
  charts: 3,
  xChoices: choices,
  page: 20,
  keyOf: (command: Command) => keyOf(command, 'default'),
} as unknown as KeyContext;
const withoutCharts = { ...at, charts: 0 };

const aComparison = { kind: 'compare', subjects: [], at: 0, top: 0, left: 0 } as const;

function chosen(change: Partial<ChartChoice>): UiState {
  return { ...initialUi, chart: { ...initialUi.chart, ...change } };
}

type Option = 'log-x' | 'spread' | 'carry' | 'clip' | 'zoom-in' | 'zoom-out';

function act(command: ChartCommand | Option, ui: UiState, situation = at): UiState {
  if (command === 'x-axis') return xAxis.open!(ui, situation, '').ui;
  const row =
    chartOptions.find(({ name }) => name === command) ?? chartRows({}).find((each) => each.command === command);
  return row!.act(ui, situation, '').ui;
}

function obeyed(command: ChartCommand | Option, ui: UiState, times = 1): UiState {
  return times === 0 ? ui : obeyed(command, act(command, ui), times - 1);
}

describe('the keys of the charts', () => {
  it.each(['log-x', 'clip'] as const)('%s turns on, off again, and says which', (command) => {
    const on = obeyed(command, initialUi);
    expect(on.chart).not.toEqual(initialUi.chart);
    expect(on.note?.text).toBeTruthy();
    expect(obeyed(command, on).chart).toEqual(initialUi.chart);
  });

  it('make the y axis logarithmic, linear, and again as its values need it', () => {
    const all = [1, 2, 3].map((times) => obeyed('log-y', initialUi, times));
    expect(all.map(({ chart }) => chart.isLogY)).toEqual([true, false, null]);
    expect(all.map(({ note }) => note?.text)).toEqual([
      'y axis: logarithmic.',
      'y axis: linear.',
      'y axis: logarithmic where values span a factor of 10,000, else linear.',
    ]);
  });

  it('smooth more and more, then not at all', () => {
    const weights = [1, 2, 3, 4].map((times) => obeyed('smooth', initialUi, times).chart.smoothing);
    expect(weights).toEqual([0.6, 0.9, 0.97, 0]);
  });

  it('go through what stands for seeds, each by its name', () => {
    const all = [1, 2, 3, 4, 5, 6].map((times) => obeyed('spread', initialUi, times));
    expect(all.map(({ chart }) => chart.spread)).toEqual(['std', 'band', 'range', 'median', 'iqm', 'each']);
    expect(all.map(({ note }) => note?.text)).toEqual([
      'Seeds of one setting: mean ± std.',
      'Seeds of one setting: mean, 95 % band.',
      'Seeds of one setting: mean, min–max.',
      'Seeds of one setting: median, quartiles.',
      'Seeds of one setting: IQM, quartiles.',
      'Seeds of one setting: each seed.',
    ]);
  });

  it.each([
    { around: 'the middle', cursor: null, zoom: { from: 0.25, to: 0.75 } },
    { around: 'the cursor', cursor: 0.6, zoom: { from: 0.35, to: 0.85 } },
    { around: 'a cursor at the end', cursor: 1, zoom: { from: 0.5, to: 1 } },
  ])('zoom in around $around, and out again to all of it', ({ cursor, zoom }) => {
    const near = obeyed('zoom-in', chosen({ cursor }));
    expect(near.chart.zoom?.from).toBeCloseTo(zoom.from, 9);
    expect(near.chart.zoom?.to).toBeCloseTo(zoom.to, 9);
    expect(obeyed('zoom-out', near).chart.zoom).toBeNull();
  });

  it('zoom out of the cursor last, then say that all is shown', () => {
    const plain = obeyed('zoom-out', chosen({ cursor: 0.5 }));
    expect(plain.chart.cursor).toBeNull();
    expect(obeyed('zoom-out', plain).note).toEqual({ text: 'All of it is shown; z zooms in.', tone: 'warn' });
  });

  it('stop zooming where there is nothing nearer', () => {
    const near = obeyed('zoom-in', initialUi, 40);
    expect(near.note?.text).toBe('Cannot zoom in any further; Z zooms out.');
    expect(near.chart.zoom!.to - near.chart.zoom!.from).toBeGreaterThan(0);
  });

  it.each(['zoom-in', 'x-axis'] as const)('%s says why it does nothing where there is no chart', (command) => {
    expect(act(command, initialUi, withoutCharts).note).toMatchObject({ tone: 'warn' });
  });
});

describe('the menu of charts', () => {
  const menu = { kind: 'chart', index: 0 } as const;
  const open = chart.open!(initialUi, at, '').ui;
  const play = (keys: readonly string[], situation = at): UiState =>
    keys.reduce((ui, key) => chart.press(ui, ui.dialog as typeof menu, key, situation).ui, open);

  it('changes one thing with each letter, tells it, and stays open', () => {
    for (const { name, key, now } of chartOptions.filter((option) => !option.name.startsWith('zoom'))) {
      const ui = play([key]);
      expect([name, now(ui)]).not.toEqual([name, now(initialUi)]);
      expect(ui.dialog.kind).toBe('chart');
    }
    const near = play(['z', 'z']);
    expect(chartOptions.find(({ name }) => name === 'zoom-in')!.now(near)).toBe('38–63 % of x');
    expect(play(['z', 'Z']).chart.zoom).toBeNull();
  });

  it('takes Enter for the letter under the cursor, and the arrows for the cursor of the charts', () => {
    expect(play(['enter']).chart.spread).toBe('std');
    expect(play(['down', 'down', 'enter']).chart.isLogX).toBe(true);
    expect(play(['end', 'down']).dialog).toEqual({ kind: 'chart', index: chartOptions.length - 1 });
    expect(play(['right']).chart.cursor).toBe(0);
  });

  it('closes with Esc, and says what it is for of any other key', () => {
    expect(open.dialog).toEqual(menu);
    expect(play(['L', 'escape'])).toMatchObject({ dialog: { kind: 'none' }, chart: { isLogX: true } });
    expect(play(['q'])).toMatchObject({ dialog: { kind: 'chart' }, note: { tone: 'warn' } });
  });
});

describe('the cursor of the charts', () => {
  it.each<{ from: number | null; move: CursorMove; to: number }>([
    { from: null, move: 'right', to: 0 },
    { from: null, move: 'left', to: 1 },
    { from: 0.5, move: 'right', to: 0.51 },
    { from: 0.5, move: 'left', to: 0.49 },
    { from: 0.5, move: 'page-right', to: 0.6 },
    { from: 0.5, move: 'first', to: 0 },
    { from: 0.5, move: 'last', to: 1 },
    { from: 0.995, move: 'right', to: 1 },
  ])('goes from $from $move to $to', ({ from, move, to }) => {
    expect(moveCursor(chosen({ cursor: from }), move, at).ui.chart.cursor).toBeCloseTo(to, 9);
  });

  it('steps finer where one has zoomed in, and takes the part along when it leaves it', () => {
    const zoom = { from: 0.5, to: 0.6 };
    const inside = moveCursor(chosen({ zoom, cursor: 0.55 }), 'right', at).ui.chart;
    expect(inside.cursor).toBeCloseTo(0.551, 9);
    expect(inside.zoom).toEqual(zoom);
    const outside = moveCursor(chosen({ zoom, cursor: 0.6 }), 'page-right', at).ui.chart;
    expect(outside.zoom!.from).toBeCloseTo(0.51, 9);
    expect(outside.zoom!.to).toBeCloseTo(0.61, 9);
  });

  it('says where it ends, and that there is no chart', () => {
    expect(moveCursor(chosen({ cursor: 1 }), 'right', at).ui.note?.text).toBe('The curves end here.');
    expect(moveCursor(chosen({ cursor: 0 }), 'left', at).ui.note?.text).toBe('The curves begin here.');
    expect(moveCursor(initialUi, 'left', withoutCharts).ui.note?.text).toContain('There is no chart');
  });
});

describe('the choice of an x axis', () => {
  const open = obeyed('x-axis', chosen({ xKey: 'step', zoom: { from: 0, to: 0.5 }, cursor: 0.2 }));

  const pressInX = (index: number, key: string, context: KeyContext) =>
    xAxis.press(open, { kind: 'x-axis', index, typed: '' }, key, context);

  it('opens at the axis there is', () => {
    expect(open.dialog).toEqual({ kind: 'x-axis', index: 1, typed: '' });
  });

  it('takes the marked one, and lets go of places on the old one', () => {
    const { ui } = pressInX(0, 'enter', at);
    expect(ui.dialog).toEqual({ kind: 'none' });
    expect(ui.chart).toMatchObject({ xKey: null, zoom: null, cursor: null });
  });

  it.each([
    ['down', 2],
    ['up', 0],
    ['end', 2],
    ['home', 0],
  ])('moves with %s', (key, index) => {
    expect(pressInX(1, key, at).ui.dialog).toEqual({ kind: 'x-axis', index, typed: '' });
  });

  it('says why one cannot be chosen, and stays open', () => {
    const { ui } = pressInX(2, 'enter', at);
    expect(ui.note?.text).toBe('These runs do not write the time of a row.');
    expect(ui.dialog.kind).toBe('x-axis');
  });

  it('Esc keeps the axis', () => {
    const { ui } = pressInX(0, 'escape', at);
    expect(ui.dialog.kind).toBe('none');
    expect(ui.chart.xKey).toBe('step');
  });
});

describe('what was zoomed into', () => {
  const near = chosen({ zoom: { from: 0.25, to: 0.5 }, cursor: 0.3 });

  it('is all of the chart again with Esc, which goes back only then', () => {
    for (const screen of [{ kind: 'run', pane: 'charts', offset: 0 }, aComparison] as const) {
      const whole = press({ ...near, screen }, 'escape', aSituation()).ui;
      expect(whole).toMatchObject({ screen, chart: { zoom: null } });
      expect(press(whole, 'escape', aSituation()).ui.screen.kind).toBe('jobs');
    }
  });

  it.each<{ when: string; keys: string[]; isKept: boolean }>([
    { when: 'another run is selected', keys: ['up'], isKept: false },
    { when: 'another metric is chosen', keys: ['m', 'down', 'enter'], isKept: false },
    { when: 'they are drawn another way', keys: ['l', '~'], isKept: true },
    { when: 'a dialog is opened and closed', keys: ['m', 'escape'], isKept: true },
  ])('is let go where it belongs to other charts: $when', ({ keys, isKept }) => {
    const situation = aSituation({ metrics: ['loss', 'reward'], metric: 'loss' });
    const { zoom, cursor } = keys.reduce((ui, key) => press(ui, key, situation).ui, near).chart;
    expect([zoom !== null, cursor !== null]).toEqual([isKept, isKept]);
  });
});
