import { describe, expect, it } from 'vitest';
import { defaultMetric, inMetricOrder, shownMetrics } from '../../src/analysis/metric-order.js';

const training = ['step', 'lr', 'progress/batch', 'loss', 'time/total', 'eval/accuracy'];

describe('the metrics of a run', () => {
  it.each([
    { what: 'what the sweep shows in its order, then the rest', show: ['b', 'gone', 'a'], x: 'step', written: ['a', 'b', 'c'], order: ['b', 'a', 'c'] },
    { what: 'results, other numbers, counters', show: [], x: 'step', written: training, order: ['loss', 'eval/accuracy', 'lr', 'step', 'progress/batch', 'time/total'] },
    { what: 'the x axis among the counters', show: [], x: 'tokens', written: ['tokens', 'a'], order: ['a', 'tokens'] },
    { what: 'a counter that is asked for first', show: ['epoch'], x: 'epoch', written: ['loss', 'epoch'], order: ['epoch', 'loss'] },
  ])('are in one order: $what', ({ show, x, written, order }) => {
    expect(inMetricOrder(written, { show, x })).toEqual(order);
  }); // prettier-ignore

  it.each([
    { what: 'those asked for that exist', show: ['b', 'absent', 'a'], written: ['a', 'b', 'c'], keys: ['b', 'a'] },
    {
      what: 'results before others, never counters',
      show: [],
      written: training,
      keys: ['loss', 'eval/accuracy', 'lr'],
    },
    { what: 'at most four', show: [], written: ['a', 'b', 'c', 'd', 'e'], keys: ['a', 'b', 'c', 'd'] },
    { what: 'what there is, when nothing asked for exists', show: ['gone'], written: ['loss'], keys: ['loss'] },
    { what: 'all that are asked for', show: [...'abcdef'], written: [...'abcdef'], keys: [...'abcdef'] },
  ])('that are worth a column are $what', ({ show, written, keys }) => {
    expect(shownMetrics(written, { show, x: 'step' })).toEqual(keys);
  });

  it.each([
    { what: 'what the sweep shows first, written or not', show: ['b', 'a'], written: ['a'], key: 'b' },
    { what: 'a result', show: [], written: training, key: 'loss' },
    { what: 'any number where none looks like a result', show: [], written: ['step', 'lr'], key: 'lr' },
    { what: 'none of those that only count', show: [], written: ['step', 'epoch'], key: null },
    { what: 'none where nothing was written', show: [], written: [], key: null },
  ])('have one that stands for the run: $what', ({ show, written, key }) => {
    expect(defaultMetric(written, { show, x: 'step' })).toBe(key);
  });
});
