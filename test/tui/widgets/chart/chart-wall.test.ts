import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wallOrder } from '../../../../src/tui/model/detail.js';
import { initialChartChoice } from '../../../../src/tui/state/chart-choice.js';
import { filteredMetrics, wallPosition } from '../../../../src/tui/state/wall-choice.js';
import { chartWall, type Wall, wallPage } from '../../../../src/tui/widgets/chart/chart-wall.js';
import { wallGrid } from '../../../../src/tui/widgets/chart/wall-grid.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

const x = Float64Array.from({ length: 50 }, (_, index) => index);

/** A wall of so many metrics that remembers which of them it was asked for. */
function aWall(count: number, over: Partial<Wall> = {}) {
  const asked = new Set<string>();
  const metrics = Array.from({ length: count }, (_, index) => `train/metric_${index}`);
  const wall: Wall = {
    metrics,
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
  it('stand by prefix, results first', () => {
    const keys = ['train/lr', 'eval/acc', 'step', 'train/loss', 'eval/time', 'loss', 'train/grad_norm'];
    expect(wallOrder(keys, { show: [], x: 'step' })).toEqual([
      ...['eval/acc', 'eval/time', 'loss', 'train/loss', 'train/grad_norm', 'train/lr'],
    ]);
    expect(wallOrder(keys, { show: ['loss'], x: 'step' })[0]).toBe('loss');
  });

  it('are filtered by all words of their names', () => {
    const metrics = ['train/loss', 'eval/loss', 'eval/acc'];
    expect(filteredMetrics(metrics, '')).toBe(metrics);
    expect(filteredMetrics(metrics, 'LOSS ev')).toEqual(['eval/loss']);
  });

  it('have one that is marked: the chosen one, that of the window, or the first', () => {
    const metrics = ['a', 'b', 'c'];
    const choice = { at: null, isZoomed: false, filter: '' };
    expect(wallPosition(metrics, { ...choice, at: 'c' }, 'b')).toBe(2);
    expect(wallPosition(metrics, choice, 'b')).toBe(1);
    expect(wallPosition(metrics, { ...choice, at: 'gone' }, null)).toBe(0);
  });
});
