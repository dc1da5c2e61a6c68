import { describe, expect, it } from 'vitest';
import type { ReportedRun } from '../../src/analysis/analysed-run.js';
import { hasBest, metricColumns } from '../../src/report/metric-columns.js';
import { summariseMetrics } from '../../src/report/metric-summary.js';

/** A table of `loss` and `reward` by learning rate; of each setting one value of each seed. */
function tableOf(values: Record<string, readonly number[]>, goals: Partial<Record<string, 'minimize' | 'maximize'>>) {
  const rows = Object.entries(values).map(([lr, losses]) => {
    const runs = losses.map((_, seed): ReportedRun => {
      const name = `lr${lr}_s${seed}`;
      return { name, group: 'main', directory: `/runs/${name}`, state: 'done', parameters: { lr, seed }, config: {} };
    });
    const measured = losses.map((loss) => ({ loss, reward: -loss }));
    return {
      ...summariseMetrics({ group: 'main', title: null, varies: { lr }, runs }, measured, ['loss', 'reward']),
      marks: {},
    };
  });
  return { keys: ['loss', 'reward'], rows, goals };
}

const cellsOf = (columns: ReturnType<typeof metricColumns>, title: string) =>
  columns.find((column) => column.title === title)?.cells;

describe('the table of metrics', () => {
  const diverged = {
    '0.01': [1.3, 1.4],
    '0.1': [0.03, 0.031],
    '0.2': [0.015, NaN],
    '1': [1.8e20, 1e36],
    '2': [Infinity],
  };

  it('marks the best of each column whose good end is known, of settings that did not break', () => {
    const table = tableOf(diverged, { loss: 'minimize' });
    const columns = metricColumns(table, 'range');
    expect(cellsOf(columns, 'setting')).toEqual(['lr=0.1', 'lr=0.01', 'lr=1', 'lr=0.2', 'lr=2']);
    expect(cellsOf(columns, 'loss ↓')).toEqual([
      '● 0.0305 [0.0300, 0.0310]',
      '1.35 [1.30, 1.40]',
      '5.00e35 [1.80e20, 1.00e36]',
      '0.0150 · 1 NaN',
      '1 inf',
    ]);
    expect(cellsOf(columns, 'reward')!.join(' ')).not.toContain('●');
    expect(hasBest(table, 'range')).toBe(true);
    expect(hasBest(tableOf(diverged, {}), 'range')).toBe(false);
  });

  it('says of all that look the same that they are the best', () => {
    const table = tableOf({ '1': [2, 2], '2': [2.000001, 2], '3': [3] }, { loss: 'minimize' });
    expect(cellsOf(metricColumns(table, 'range'), 'loss ↓')).toEqual(['● 2 [2, 2]', '● 2.00 [2, 2.00]', '3']);
  });

  it.each([
    { goals: { loss: 'minimize' as const }, order: ['lr=0.1', 'lr=0.01', 'lr=1', 'lr=0.2', 'lr=2'] },
    { goals: { reward: 'maximize' as const }, order: ['lr=0.1', 'lr=0.01', 'lr=1', 'lr=0.2', 'lr=2'] },
    { goals: {}, order: ['lr=1', 'lr=2', 'lr=0.01', 'lr=0.1', 'lr=0.2'] },
  ])('is ordered by $goals, the best on top and what broke last, or else as the sweep is', ({ goals, order }) => {
    const columns = metricColumns(tableOf(diverged, goals), 'std');
    expect(cellsOf(columns, 'setting')).toEqual(order);
  });
});
