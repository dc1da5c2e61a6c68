import { describe, expect, it } from 'vitest';
import type { ChartLine } from '../../../../src/contract/study.js';
import type { MetricReader } from '../../../../src/tui/state/port.js';
import { type Source, referenceLines } from '../../../../src/tui/model/chart-data.js';
import { aRun } from '../../simulated-fleet.js';

function source(lines: readonly Partial<ChartLine>[] = [], columns: Record<string, number[]> = {}): Source {
  const reader: MetricReader = {
    refresh: () => false,
    keys: () => Object.keys(columns),
    series: (key) => {
      const y = Float64Array.from(columns[key] ?? []);
      return { x: y.map((_, index) => index), y };
    },
    lines: () => lines.map((line) => ({ metrics: ['accuracy'], y: 0, per: null, text: '', ...line })),
  };
  return { run: aRun('A_s0'), reader };
}

const human = { y: 0.95, text: 'people' };

describe('the lines that a metric is compared with', () => {
  it('are those that studies declare for it', () => {
    const run = source([human, { metrics: ['loss', 'eval/loss'], y: 2, text: 'entropy' }]);
    expect(referenceLines('accuracy', 'step', [run])).toEqual([{ label: 'people', value: 0.95, isPerX: false }]);
    expect(referenceLines('eval/loss', 'step', [run])).toEqual([{ label: 'entropy', value: 2, isPerX: false }]);
    expect(referenceLines('other', 'step', [run])).toEqual([]);
  });

  it('are multiples of the x axis over the metric that they are declared for, after the others', () => {
    const run = source([{ y: 1, per: 'episodes', text: '1/episode' }, human]);
    expect(referenceLines('accuracy', 'episodes', [run])).toEqual([
      { label: 'people', value: 0.95, isPerX: false },
      { label: '1/episode', value: 1, isPerX: true },
    ]);
    expect(referenceLines('accuracy', 'step', [run]).map(({ label }) => label)).toEqual(['people']);
  });

  it('have the limit that a run declares for the metric', () => {
    const run = source([], { 'limit/optim/kl': [0.01, 0.01] });
    expect(referenceLines('optim/kl', 'step', [run, run])).toEqual([
      { label: 'limit 0.01', value: 0.01, isPerX: false, isLimit: true },
    ]);
    expect(referenceLines('optim/loss', 'step', [run])).toEqual([]);
  });

  it('are drawn once for all seeds, and no more than six', () => {
    const runs = [source([human]), source([human]), source([{ y: 0.5, text: 'chance' }])];
    expect(referenceLines('accuracy', 'step', runs)).toHaveLength(2);
    const many = Array.from({ length: 10 }, (_, y) => ({ y, text: `line ${y}` }));
    expect(referenceLines('accuracy', 'step', [source(many)])).toHaveLength(6);
  });

  it.each([
    ['a limit that changes', [1, 2]],
    ['a limit without a value', [Number.NaN]],
  ])('are not invented for %s', (_, values) => {
    expect(referenceLines('kl', 'step', [source([], { 'limit/kl': values })])).toEqual([]);
  });
});
