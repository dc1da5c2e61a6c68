import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestFirst, bestOnes } from '../../../../src/analysis/best-first.js';
import { sampleCell } from '../../../../src/tui/screens/compare/comparison.js';
import { narrowNumber } from '../../../../src/text/numbers.js';
import { plainText } from '../../../../src/tui/surface/span.js';
import type { ValueSummary } from '../../../../src/tui/state/compare-choice.js';
import {
  curveValue,
  deltaOf,
  type Direction,
  rankedSamples,
  type Sample,
  sampleOf,
} from '../../../../src/tui/screens/compare/compare-value.js';

const curve = (y: number[]) => ({ x: Float64Array.from(y, (_, index) => index * 10), y: Float64Array.from(y) });
const one = (value: number) => ({ low: value, high: value });

describe('the value of a curve', () => {
  it.each<{ summary: ValueSummary; direction?: Direction; x?: number; y: number[]; value: object | null }>([
    { summary: 'last', y: [1, 2, 3], value: one(3) },
    { summary: 'last', y: [1, 2, NaN, Infinity], value: one(Infinity) },
    { summary: 'last', y: [], value: null },
    { summary: 'last', y: [1, NaN], value: one(NaN) },
    { summary: 'best', direction: 'maximize', y: [1, 5, NaN, 2], value: one(5) },
    { summary: 'best', direction: 'minimize', y: [1, 5, -2, 2], value: one(-2) },
    { summary: 'best', direction: null, y: [1, 5, -2], value: { low: -2, high: 5 } },
    { summary: 'mean of last 10', y: [100, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], value: one(4.5) },
    { summary: 'mean of last 10', y: [2, NaN, 4], value: one(NaN) },
    { summary: 'auc', y: [0, 1, 1], value: one(0.75) },
    { summary: 'auc', y: [], value: null },
    { summary: 'mean of last 10', y: [2, 4, NaN], value: one(NaN) },
    { summary: 'at cursor', x: 15, y: [1, 2, 3], value: one(2) },
    { summary: 'at cursor', x: 10, y: [1, 2, 3], value: one(2) },
    { summary: 'at cursor', x: 20, y: [1, 2, NaN], value: one(NaN) },
    { summary: 'at cursor', x: -1, y: [1, 2, 3], value: null },
    { summary: 'at cursor', y: [1, 2, 3], value: null },
  ])('$summary $direction of $y', ({ summary, direction = null, x = null, y, value }) => {
    expect(curveValue(curve(y), { summary, direction, x })).toEqual(value);
  });
});

const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe('a cell of the table', () => {
  const sample = sampleOf([one(1), one(3)]);
  it.each([
    { of: 'all runs', runs: 2, waiting: undefined, is: '2 ±1.41' },
    { of: 'runs of which one is not read yet', runs: 3, waiting: { unread: 1, behind: 0 }, is: '2 ±1.41 n2 1 unread' },
    { of: 'runs of unequal length', runs: 2, waiting: { unread: 0, behind: 1 }, is: '2 ±1.41*' },
  ])('says what it is of: $of', ({ runs, waiting, is }) => {
    expect(plainText(sampleCell(sample, runs, waiting))).toBe(is);
  });

  it('is not empty where nothing is read yet', () => {
    expect(plainText(sampleCell(null, 3, { unread: 3, behind: 0 }))).toBe('not read yet');
  });
});

describe('several runs together', () => {
  it('have the mean and the deviation of a naive calculation, over those with a value', () => {
    fc.assert(
      fc.property(fc.array(fc.option(finite), { maxLength: 20 }), (values) => {
        const sample = sampleOf(values.map((value) => (value === null ? null : one(value))));
        const known = values.filter((value) => value !== null);
        if (known.length === 0) {
          expect(sample).toBeNull();
          return;
        }
        const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
        const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, known.length - 1);
        expect(sample).toMatchObject({ kind: 'mean', count: known.length });
        expect(sample!.kind === 'mean' && sample!.mean).toBeCloseTo(mean, 4);
        expect(sample!.kind === 'mean' && sample!.deviation).toBeCloseTo(Math.sqrt(variance), 4);
      }),
    );
  });

  it('give a range where nobody says which end is best', () => {
    expect(sampleOf([{ low: 1, high: 5 }, null, { low: -2, high: 3 }])).toEqual({
      kind: 'range',
      low: -2,
      high: 5,
      ...{ count: 2, nan: 0, infinite: 0 },
    });
  });

  it('count those whose value is no number, and leave them out of the mean', () => {
    const values = [0.0058, 0.006, NaN, NaN, NaN, NaN, -Infinity];
    const sample = sampleOf(values.map(one));
    expect(sample).toMatchObject({ kind: 'mean', count: 2, nan: 4, infinite: 1 });
    expect(sample?.kind === 'mean' && sample.mean).toBeCloseTo(0.0059, 9);
    expect(plainText(sampleCell(sample, 7))).toBe('0.0059 ±1.4e-4 · 4 NaN, 1 inf');
    expect(plainText(sampleCell(sampleOf([one(NaN), one(NaN)]), 2))).toBe('2 NaN');
    expect(plainText(sampleCell(sampleOf([one(Infinity)]), 1))).toBe('inf');
    expect(deltaOf(sampleOf([one(NaN)]), sampleOf([one(1)]), null)).toBeNull();
  });
});

describe('the difference to the baseline', () => {
  const sample = (mean: number) => ({ kind: 'mean', mean, deviation: 0, count: 3, nan: 0, infinite: 0 }) as const;

  it.each<[number, number, Direction, object]>([
    [11, 10, 'maximize', { absolute: 1, percent: 10, verdict: 'better' }],
    [11, 10, 'minimize', { absolute: 1, percent: 10, verdict: 'worse' }],
    [9, 10, 'minimize', { absolute: -1, percent: -10, verdict: 'better' }],
    [11, 10, null, { absolute: 1, percent: 10, verdict: 'unknown' }],
    [-5, -10, 'maximize', { absolute: 5, percent: 50, verdict: 'better' }],
    [10, 10, 'maximize', { absolute: 0, percent: 0, verdict: 'same' }],
    [3, 0, 'maximize', { absolute: 3, percent: null, verdict: 'better' }],
  ])('%d against %d, to %s', (value, base, direction, delta) => {
    expect(deltaOf(sample(value), sample(base), direction)).toEqual(delta);
  });

  it('leads from the baseline back to the value, and is opposite the other way round', () => {
    const direction = fc.constantFrom<Direction>('maximize', 'minimize');
    fc.assert(
      fc.property(finite, finite, direction, (a, b, way) => {
        const there = deltaOf(sample(a), sample(b), way)!;
        const back = deltaOf(sample(b), sample(a), way)!;
        expect(b + there.absolute).toBeCloseTo(a, 4);
        expect(there.absolute + back.absolute).toBe(0);
        if (there.percent !== null)
          expect((there.percent / 100) * Math.abs(b) - there.absolute).toBeLessThanOrEqual(
            1e-9 * Math.abs(there.absolute),
          );
        const opposite = { better: 'worse', worse: 'better', same: 'same', unknown: 'unknown' };
        expect(back.verdict).toBe(opposite[there.verdict]);
      }),
    );
  });

  it('is none where one of them has no single value', () => {
    expect(deltaOf(null, sample(1), null)).toBeNull();
    expect(deltaOf({ kind: 'range', low: 0, high: 1, count: 1, nan: 0, infinite: 0 }, sample(1), null)).toBeNull();
  });
});

describe('the best of several', () => {
  const of = (...values: number[]) => sampleOf(values.map((value) => ({ low: value, high: value })));
  it.each<{ what: string; samples: (Sample | null)[]; direction: Direction; best: number[]; order: number[] }>([
    { what: 'the lowest', samples: [of(2), of(1), of(3)], direction: 'minimize', best: [1], order: [1, 0, 2] },
    { what: 'the highest', samples: [of(2), of(1), of(3)], direction: 'maximize', best: [2], order: [2, 0, 1] },
    {
      what: 'all that look the same',
      samples: [of(1.00001), of(1), of(3)],
      direction: 'minimize',
      best: [0, 1],
      order: [1, 0, 2],
    },
    {
      what: 'all that look the same in four decimals',
      samples: [of(0.01503), of(0.01498), of(0.03)],
      direction: 'minimize',
      best: [0, 1],
      order: [1, 0, 2],
    },
    {
      what: 'none where nobody says which end is best',
      samples: [of(2), of(1)],
      direction: null,
      best: [],
      order: [0, 1],
    },
    { what: 'none where there is only one', samples: [of(2), null], direction: 'minimize', best: [], order: [0, 1] },
    {
      what: 'one whose runs did not break, if there is any',
      samples: [of(1, NaN), of(2, 2), of(3)],
      direction: 'minimize',
      best: [1],
      order: [1, 2, 0],
    },
    {
      what: 'not infinity',
      samples: [of(-Infinity), of(2), of(3)],
      direction: 'minimize',
      best: [1],
      order: [1, 2, 0],
    },
    {
      what: 'not what diverged',
      samples: [of(1.8e20), of(0.0151), of(0.03)],
      direction: 'minimize',
      best: [1],
      order: [1, 2, 0],
    },
  ])('is $what', ({ samples, direction, best, order }) => {
    expect([...bestOnes(rankedSamples(samples), direction, narrowNumber)]).toEqual(best);
    expect(bestFirst(rankedSamples(samples), direction)).toEqual(order);
  });
});
