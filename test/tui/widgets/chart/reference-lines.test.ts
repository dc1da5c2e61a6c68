import { describe, expect, it } from 'vitest';
import type { MetricReader, RunSummary } from '../../../../src/tui/state/port.js';
import { type Source, referenceLines } from '../../../../src/tui/model/chart-data.js';
import { aRun } from '../../simulated-fleet.js';

function source(parameters: RunSummary['parameters'], columns: Record<string, number[]> = {}): Source {
  const reader: MetricReader = {
    refresh: () => false,
    keys: () => Object.keys(columns),
    series: (key) => {
      const y = Float64Array.from(columns[key] ?? []);
      return { x: y.map((_, index) => index), y };
    },
  };
  return { run: aRun('A_s0', { parameters }), reader };
}

const metric = 'test/bits/answer_clamped';

describe('the lines that a metric is compared with', () => {
  it('give the bits there are to know, from what the run writes or else from its parameter N', () => {
    const written = source({ N: 16 }, { 'theory/signal_bits': [8, 8, 8] });
    expect(referenceLines(metric, 'step', [written])).toEqual([{ label: 'log2 N = 8', value: 8, isPerX: false }]);
    expect(referenceLines(metric, 'step', [source({ N: 1024 })])).toEqual([
      { label: 'log2 N = 10', value: 10, isPerX: false },
    ]);
  });

  it('give what an episode can carry, over episodes only', () => {
    const run = source(
      { N: 4 },
      { 'theory/channel_bits_per_episode': [3, 3], 'theory/credit_bits_per_episode': [1, 1] },
    );
    expect(referenceLines(metric, 'progress/episodes', [run])).toEqual([
      { label: 'log2 N = 2', value: 2, isPerX: false },
      { label: '1 bit/episode', value: 1, isPerX: true },
    ]);
    expect(referenceLines(metric, 'step', [run]).map(({ isPerX }) => isPerX)).toEqual([false]);
  });

  it('give the limit that a run declares for the metric', () => {
    const run = source({ N: 64 }, { 'limit/optim/kl': [0.01, 0.01] });
    expect(referenceLines('optim/kl', 'step', [run, run])).toEqual([
      { label: 'limit 0.01', value: 0.01, isPerX: false, isLimit: true },
    ]);
    expect(referenceLines('optim/loss', 'step', [run])).toEqual([]);
  });

  it('are the same for all seeds once', () => {
    expect(referenceLines(metric, 'step', [source({ N: 64 }), source({ N: 64 }), source({ N: 16 })])).toHaveLength(2);
  });

  it.each([
    ['another metric', 'env/all/reward/total', source({ N: 64 })],
    ['a run that tells nothing', metric, source({})],
    ['an N that is no number', metric, source({ N: 'large' })],
    ['a column that changes', metric, source({}, { 'theory/signal_bits': [1, 2] })],
    ['a column without a value', metric, source({}, { 'theory/signal_bits': [Number.NaN] })],
  ])('are not invented for %s', (_, key, run) => {
    expect(referenceLines(key, 'progress/episodes', [run])).toEqual([]);
  });
});
