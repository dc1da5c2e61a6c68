import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wallMetrics, wallOrder } from '../../../../src/tui/model/detail.js';
import { initialChartChoice } from '../../../../src/tui/state/chart-choice.js';
import { History } from '../../../../src/tui/model/history.js';
import type { MetricReader, RunFilesPort } from '../../../../src/tui/state/port.js';
import {
  filteredMetrics,
  initialWallChoice,
  type WallChoice,
  wallPosition,
  wallTiles,
} from '../../../../src/tui/state/run-choice.js';
import { chartWall, type Wall, wallPage, wallGrid } from '../../../../src/tui/widgets/chart/chart-wall.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

const x = Float64Array.from({ length: 50 }, (_, index) => index);

/** A wall of so many metrics that remembers which of them it was asked for. */
function aWall(count: number, over: Partial<Wall> = {}) {
  const asked = new Set<string>();
  const metrics = Array.from({ length: count }, (_, index) => `train/metric_${index}`);
  const wall: Wall = {
    tiles: metrics.map((metric) => ({ metric, alike: [], family: metric, isOpened: false })),
    chartOf: (metric) => {
      asked.add(metric);
      const offset = metrics.indexOf(metric);
      return { metric, curves: [{ label: 's0', tone: 'curve0', series: { x, y: x.map((at) => at + offset) } }] };
    },
    setting: { xKey: 'step', isLoaded: true, choice: initialChartChoice },
    ...{ at: 0, isZoomed: false, filter: '', of: count },
    ...over,
  };
  return { wall, asked };
}

const text = (wall: Wall, width: number, height: number) => chartWall(wall, { width, height }).map(plainText);

describe('the wall of charts', () => {
  it('asks for no more charts than it shows, however many metrics there are', () => {
    const { wall, asked } = aWall(100);
    const rows = text(wall, 120, 40);
    expect(asked.size).toBe(wallPage(wall, { width: 120, height: 40 }));
    expect(asked.size).toBe(20);
    expect(rows[0]).toContain('page 1 of 5 · 100 metrics');
  });

  it('titles each with its metric and its last value, and marks the chosen one', () => {
    const rows = text(aWall(4, { at: 2 }).wall, 120, 40).join('\n');
    expect(rows).toMatch(/── train\/metric_0 ─+ 49 /);
    expect(rows).toMatch(/━━ ▸ train\/metric_2 ━+ 51 /);
    expect(rows.match(/▸/g)).toHaveLength(1);
  });

  it('turns to the page of the marked one, and gives it the pane when it is zoomed', () => {
    const { wall, asked } = aWall(100, { at: 55 });
    expect(text(wall, 120, 40)[0]).toContain('page 3 of 5');
    expect(asked).toContain('train/metric_55');
    const zoomed = aWall(100, { at: 55, isZoomed: true });
    expect(text(zoomed.wall, 120, 40)[0]).toContain('56 of 100');
    expect([...zoomed.asked]).toEqual(['train/metric_55']);
  });

  it('says of a chart with a y axis of its own which it has, and of the others what was chosen for all', () => {
    const choice = { ...initialChartChoice, isLogY: true, ownLogY: { 'train/metric_1': false } };
    const rows = text(aWall(4, { setting: { xKey: 'step', isLoaded: true, choice } }).wall, 120, 40);
    expect(rows[0]).toMatch(/log y · step/);
    expect(rows.filter((row) => row.includes('train/metric_1')).join()).toMatch(/train\/metric_1 ─+ linear · 50/);
    expect(rows.join('\n').match(/linear/g)).toHaveLength(1);
    const one = { ...initialChartChoice, ownLogY: { 'train/metric_0': true } };
    const own = text(aWall(4, { setting: { xKey: 'step', isLoaded: true, choice: one } }).wall, 120, 40);
    expect(own[0]).not.toContain('log y');
    expect(own.join('\n').match(/log y/g)).toHaveLength(1);
  });

  it('says when no metric is left', () => {
    const rows = text(aWall(0, { filter: 'nothing', of: 7 }).wall, 80, 20);
    expect(rows[1]).toContain('None of the 7 metrics has nothing in its name');
    expect(text(aWall(0).wall, 80, 20)[1]).toContain('No metrics have been written yet.');
  });

  it('fits its room, whatever that is', () => {
    const sides = { width: fc.integer({ min: 20, max: 300 }), height: fc.integer({ min: 10, max: 90 }) };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), sides.width, sides.height, (count, width, height) => {
        const { wall } = aWall(count, { at: count - 1 });
        const lines = chartWall(wall, { width, height });
        expect(lines.length).toBeLessThanOrEqual(height);
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the grid of the wall', () => {
  it.each([
    { count: 1, width: 160, height: 40, grid: { columns: 1, rows: 1 } },
    { count: 4, width: 160, height: 40, grid: { columns: 2, rows: 2 } },
    { count: 100, width: 160, height: 42, grid: { columns: 5, rows: 6 } },
    { count: 100, width: 20, height: 5, grid: { columns: 1, rows: 1 } },
  ])('has $grid.columns × $grid.rows for $count charts on $width × $height', ({ count, width, height, grid }) => {
    expect(wallGrid(count, width, height)).toEqual(grid);
  });

  it('has room for all charts that fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 28, max: 300 }), (count, width) => {
        const { columns, rows } = wallGrid(count, width, 60);
        const most = Math.floor((width + 2) / 30) * Math.floor(60 / 7);
        expect(columns * rows).toBeGreaterThanOrEqual(Math.min(count, most));
      }),
    );
  });
});

describe('the metrics of the wall', () => {
  it('stand by prefix, results first, and what was set or only counts last', () => {
    const keys = ['train/lr', 'eval/acc', 'step', 'train/loss', 'eval/time', 'loss', 'train/grad_norm'];
    expect(wallOrder(keys, { show: [], x: 'step' })).toEqual([
      ...['eval/acc', 'loss', 'train/loss', 'train/grad_norm', 'train/lr', 'eval/time'],
    ]);
    expect(wallOrder(keys, { show: ['loss'], x: 'step' })[0]).toBe('loss');
  });

  it('are filtered by all words of their names', () => {
    const metrics = ['train/loss', 'eval/loss', 'eval/acc'];
    expect(filteredMetrics(metrics, '')).toBe(metrics);
    expect(filteredMetrics(metrics, 'LOSS ev')).toEqual(['eval/loss']);
  });

  const none = new Map<string, string>();
  const choice = initialWallChoice;

  it('have one that is marked: the chosen one, that of the window, or the first', () => {
    const tiles = wallTiles({ metrics: ['a', 'b', 'c'], firstOf: none }, choice);
    expect(wallPosition(tiles, { ...choice, at: 'c' }, 'b')).toBe(2);
    expect(wallPosition(tiles, choice, 'b')).toBe(1);
    expect(wallPosition(tiles, { ...choice, at: 'gone' }, null)).toBe(0);
  });

  const firstOf = new Map([
    ['loss', 'loss'],
    ['error', 'loss'],
    ['norm', 'norm'],
    ['nll', 'loss'],
  ]);
  const alike = { metrics: ['loss', 'error', 'norm', 'nll'], firstOf };
  const shown = (change: Partial<WallChoice>) =>
    wallTiles(alike, { ...choice, ...change }).map(({ metric, alike: others }) => [metric, ...others].join('+'));

  it('that show the same have one chart, unless it is opened or filtered away', () => {
    expect(shown({})).toEqual(['loss+error+nll', 'norm']);
    expect(shown({ opened: ['loss'] })).toEqual(['loss', 'error', 'nll', 'norm']);
    expect(shown({ filter: 'r' })).toEqual(['error', 'norm']);
    expect(shown({ filter: 'n' })).toEqual(['norm', 'nll']);
    expect(shown({ filter: 'l' })).toEqual(['loss+nll']);
    const tiles = wallTiles(alike, choice);
    expect(wallPosition(tiles, { ...choice, at: 'nll' }, 'norm')).toBe(0);
  });

  it('say how many others show the same: by name where there is room', () => {
    const { wall } = aWall(2);
    const tiles = [{ metric: 'loss', alike: ['error', 'nll'], family: 'loss', isOpened: false }];
    expect(text({ ...wall, tiles }, 80, 20)[1]).toMatch(/^ ?━━ ▸ loss \+2 alike ━/);
    expect(text({ ...wall, tiles, isZoomed: true }, 80, 20)[1]).toMatch(/━━ ▸ loss \+2 alike: error, nll ━/);
    expect(text({ ...wall, tiles }, 20, 20)[1]).toMatch(/━━ ▸ loss \+2 ━/);
    const long = [{ ...tiles[0]!, metric: 'test/bits/answer_clamped' }];
    expect(text({ ...wall, tiles: long }, 30, 20)[1]).toMatch(/━━ ▸ test\/….*clamped \+2 ━/);
    expect(text({ ...wall, tiles }, 80, 20)[0]).toContain('1 chart of 3 metrics');
  });

  it('are looked through once, and again when there is twice as much of them', () => {
    const history = new History({} as RunFilesPort, () => {});
    const curves: Record<string, (at: number) => number> = {
      ...{ 'train/lr': (at: number) => 0.1 - at / 1000, 'train/steps': (at: number) => 2 * at, loss: Math.sin },
      ...{ 'my/position': (at: number) => at, 'my/copy': (at: number) => 3 * Math.sin(at) + 1 },
    };
    let points = 40;
    let asked = 0;
    const reader: MetricReader = {
      refresh: () => false,
      keys: () => Object.keys(curves),
      series: (key) => {
        asked++;
        const at = Float64Array.from({ length: points }, (_, index) => index);
        return { x: at, y: at.map(curves[key]!) };
      },
    };
    const read = () => wallMetrics({ history, of: 'a', readers: [reader] }, { show: [], x: 'step' });
    expect(read().metrics).toEqual(['loss', 'my/copy', 'train/lr', 'train/steps', 'my/position']);
    expect(Object.fromEntries(read().firstOf)).toMatchObject({ 'my/copy': 'loss', 'my/position': 'train/steps' });
    const before = asked;
    points = 50;
    read();
    expect(asked - before).toBeLessThan(5);
    points = 100;
    read();
    expect(asked - before).toBeGreaterThan(5);
  });
});
