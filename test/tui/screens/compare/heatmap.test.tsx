import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../../tiers.js';
import { textWidth } from '../../../../src/text/display-width.js';
import { HeatmapGrid } from '../../../../src/tui/screens/compare/heatmap-grid.js';
import { defaultAxes, heatmapParameters, heatmapsOf } from '../../../../src/tui/screens/compare/heatmap.js';
import { textOf } from '../../render.js';
import { aRun } from '../../simulated-fleet.js';

const run = (
  parameters: Record<string, string | number>,
  value: number | null = null,
  subgroup: string | null = null,
) => aRun('A_x', { parameters, subgroup, metrics: value === null ? {} : { loss: value } });
const loss = ({ metrics }: ReturnType<typeof run>) => {
  const value = metrics['loss'] ?? null;
  return value === null ? null : { low: value, high: value };
};

const onlyOf = (...asked: Parameters<typeof heatmapsOf>) => {
  const maps = heatmapsOf(...asked);
  expect(maps).toHaveLength(1);
  return maps[0]!;
};

describe('runs that differ in more than the axes and their seeds', () => {
  const over = (kinds: readonly string[], extra: (kind: string, lr: number) => Record<string, string | number>) =>
    [0, 1].flatMap((seed) =>
      [0.1, 0.2].flatMap((lr) =>
        kinds.map((kind, index) => run({ seed, lr, reward: kind, ...extra(kind, lr) }, index * 10 + lr)),
      ),
    );

  it('are in maps of their own, one for each value of what differs, not for what goes with that', () => {
    const runs = over(['binary', 'dense'], (kind) => ({ bits: kind.length }));
    const maps = heatmapsOf(runs, 'loss', { across: 'lr', down: null }, loss);
    expect(maps.map(({ part, cells }) => [part, cells[0]!.map((cell) => cell?.kind === 'mean' && cell.mean)])).toEqual([
      ['reward=binary', [0.1, 0.2]],
      ['reward=dense', [10.1, 10.2]],
    ]);
  });

  it('are in one map where an axis tells them apart', () => {
    const runs = over(['binary', 'dense'], () => ({}));
    expect(onlyOf(runs, 'loss', { across: 'lr', down: 'reward' }, loss)).toMatchObject({ part: '', mixes: [] });
  });

  it('are mixed in one map, which says so, where there would be too many', () => {
    const runs = over(['a', 'b', 'c', 'd', 'e', 'f', 'g'], () => ({}));
    const map = onlyOf(runs, 'loss', { across: 'lr', down: null }, loss);
    expect(map.mixes).toEqual(['reward']);
    const text = textOf(<HeatmapGrid maps={[map]} place={{ top: 0, left: 0 }} width={60} height={10} />, 60, 10).join(
      '\n',
    );
    expect(text).toContain('cells mix reward');
  });
});

describe('what a heatmap is over', () => {
  it('the two parameters with the most values, but none that differs inside a setting', () => {
    const runs = [16, 64, 256].flatMap((N) =>
      ['a', 'b'].flatMap((kind) =>
        [0, 1, 2, 3].map((chance) => run({ chance, N, kind, same: 1 }, null, `N${N}${kind}`)),
      ),
    );
    expect(defaultAxes(runs)).toEqual({ across: 'N', down: 'kind' });
    expect(heatmapParameters(runs)).toEqual(['N', 'kind', 'chance']);
  });

  it('a seed is chance by its name where the file has no settings', () => {
    const runs = [0, 1, 2].flatMap((seed) => [0.1, 0.2].map((lr) => run({ seed, lr })));
    expect(defaultAxes(runs)).toEqual({ across: 'lr', down: null });
  });

  it('one row where one parameter varies, nothing where none does', () => {
    expect(defaultAxes([run({ lr: 1 }), run({ lr: 2 })])).toEqual({ across: 'lr', down: null });
    expect(defaultAxes([run({ lr: 1 }), run({ lr: 1 })])).toBeNull();
  });
});

describe('a cell', () => {
  const point = fc.record({ a: fc.integer({ min: 0, max: 3 }), b: fc.constantFrom('x', 'y', 'z') });
  const value = fc.option(fc.double({ min: -100, max: 100, noNaN: true }));

  it('has the mean of the runs at its point, and every run is in one cell', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(point, value), { minLength: 1, maxLength: 40 }), (drawn) => {
        const runs = drawn.map(([parameters, metric]) => run(parameters, metric));
        const map = onlyOf(runs, 'loss', { across: 'a', down: 'b' }, loss);
        expect(map.counts.flat().reduce((sum, count) => sum + count, 0)).toBe(runs.length);
        map.down.forEach((b, y) =>
          map.across.forEach((a, x) => {
            const there = drawn.filter(([parameters]) => parameters.a === a && parameters.b === b);
            const known = there.flatMap(([, metric]) => (metric === null ? [] : [metric]));
            const cell = map.cells[y]![x]!;
            expect(map.counts[y]![x]).toBe(there.length);
            if (known.length === 0) {
              expect(cell).toBeNull();
              return;
            }
            const mean = known.reduce((sum, metric) => sum + metric, 0) / known.length;
            expect(cell?.kind === 'mean' ? cell.mean : NaN).toBeCloseTo(mean, 6);
          }),
        );
      }),
    );
  });

  it('stands by the size of its numbers; a run that lacks a parameter has a place of its own', () => {
    const runs = [run({ a: 10 }, 1), run({ a: 9 }, 2), run({}, 3)];
    const map = onlyOf(runs, 'loss', { across: 'a', down: null }, loss);
    expect(map.across).toEqual([9, 10, undefined]);
    expect(map.down).toEqual([undefined]);
  });
});

describe('the picture', () => {
  const runs = [16, 64, 256].flatMap((N) =>
    ['dense', 'binary'].flatMap((reward) => (N === 64 && reward === 'dense' ? [] : [run({ N, reward }, N / 16)])),
  );
  const map = onlyOf([...runs, run({ N: 16, reward: 'none' })], 'loss', { across: 'N', down: 'reward' }, loss);

  it('has its numbers on a ramp, and says which cells are empty and why', () => {
    const grid = <HeatmapGrid maps={[map]} place={{ top: 0, left: 0 }} width={70} height={20} />;
    expect(`\n${textOf(grid, 70, 20).join('\n')}\n`).toMatchSnapshot();
  });

  property('shows a cell of each in any room, wherever it is scrolled to, and stays in it', 50, (examples) => {
    const size = fc.record({ width: fc.integer({ min: 38, max: 300 }), height: fc.integer({ min: 5, max: 80 }) });
    const place = fc.record({ top: fc.nat(9), left: fc.nat(9) });
    fc.assert(
      fc.property(size, place, ({ width, height }, at) => {
        const grid = <HeatmapGrid maps={[map, map, map]} place={at} width={width} height={height} />;
        const rows = textOf(grid, width + 2, height + 2);
        expect(rows.length).toBeLessThanOrEqual(height);
        expect(rows.filter((row) => textWidth(row) > width)).toEqual([]);
        expect(rows[0]).toContain('── loss');
      }),
      examples,
    );
  });
});
