import { describe, expect, it } from 'vitest';
import type { ReportedRun } from '../../src/analysis/analysed-run.js';
import { deviation, median } from '../../src/analysis/statistics.js';
import { cellsOf } from '../../src/analysis/cells.js';
import { summariseMetrics } from '../../src/report/metric-summary.js';

const run = (
  name: string,
  group: string,
  parameters: ReportedRun['parameters'],
  state: ReportedRun['state'] = 'done',
): ReportedRun => ({
  name,
  group,
  directory: `/runs/${name}`,
  state,
  parameters,
  config: {},
});

describe('cells of runs', () => {
  it('hold the seeds of one setting, group by group', () => {
    const cells = cellsOf([
      run('a1', 'A', { lr: 0.1, seed: 0, depth: 4 }),
      run('a2', 'A', { lr: 0.1, seed: 1, depth: 4 }),
      run('a3', 'A', { lr: 0.2, seed: 0, depth: 4 }),
      run('b1', 'B', { lr: 0.1, seed: 0 }),
    ]);
    expect(cells.map(({ group, varies, runs }) => [group, varies, runs.map(({ name }) => name)])).toEqual([
      ['A', { lr: 0.1 }, ['a1', 'a2']],
      ['A', { lr: 0.2 }, ['a3']],
      ['B', {}, ['b1']],
    ]);
  });

  it('hold the seeds of one setting on different models of the sweep, unless the model is what is studied', () => {
    const on = (seed: number, base: number) => run(`r${seed}${base}`, 'A', { seed, model: `/runs/base_${base}` });
    expect(cellsOf([on(0, 0), on(1, 1), on(2, 0)]).map(({ varies }) => varies)).toEqual([{}]);
    expect(cellsOf([on(0, 0), on(0, 1)]).map(({ varies }) => varies)).toEqual([
      { model: '/runs/base_0' },
      { model: '/runs/base_1' },
    ]);
  });

  it('are called what the sweep calls them, where that is one name for each', () => {
    const called = (subgroups: readonly (string | null)[]) =>
      cellsOf(
        subgroups.map((subgroup, index) => ({
          ...run(`r${index}`, 'A', { lr: index >> 1, seed: index % 2 }),
          subgroup,
        })),
      ).map(({ title }) => title);
    expect(called(['slow', 'slow', 'fast', 'fast'])).toEqual(['slow', 'fast']);
    // One name of two cells, a cell of two names, and a cell without: their parameters say more.
    expect(called(['same', 'same', 'same', 'same'])).toEqual([null, null]);
    expect(called(['slow', 'other', 'fast', 'fast'])).toEqual([null, null]);
    expect(called(['slow', 'slow', null, null])).toEqual([null, null]);
  });

  it('do not tell runs apart by secrets, paths and other seeds', () => {
    const runs = [0, 1].map((seed) =>
      run(`r${seed}`, 'A', {
        data_seed: seed,
        fixed_secret: seed * 7,
        train_data_path: `/x/${seed}`,
        log_path: `${seed}`,
      }),
    );
    expect(cellsOf(runs)).toHaveLength(1);
  });

  it('are summed up over the seeds that have a value', () => {
    const [cell] = cellsOf([
      run('a', 'A', { seed: 0 }),
      run('b', 'A', { seed: 1 }),
      run('c', 'A', { seed: 2 }, 'running'),
    ]);
    const row = summariseMetrics(cell!, [{ loss: 1 }, { loss: 3 }, { loss: null }], ['loss', 'gone']);
    expect(row).toMatchObject({
      seeds: 3,
      states: { done: 2, running: 1 },
      metrics: {
        loss: { mean: 2, deviation: expect.closeTo(Math.SQRT2) as number, n: 2 },
        gone: { mean: null, deviation: null, n: 0 },
      },
    });
  });
});

describe('statistics', () => {
  it('take the middle, infinities included', () => {
    expect([median([3, 1, 2]), median([1, 2, 3, 10]), median([1, Infinity]), median([])]).toEqual([
      2,
      2.5,
      Infinity,
      null,
    ]);
    expect([deviation([2]), deviation([1, 2, 3])]).toEqual([null, 1]);
  });
});
