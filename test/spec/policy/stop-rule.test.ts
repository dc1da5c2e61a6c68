import { describe, expect, it } from 'vitest';
import { compileStopRule } from '../../../src/spec/policy/stop-rule.js';

const verdicts = (when: string, count: number, rows: Record<string, number>[]) => {
  const rule = compileStopRule({ when, for: count }, { N: 1024, name: 'x', lr: 0.5 });
  return rows.map((row) => rule(row));
};

describe('a stop rule', () => {
  it.each<{ when: string; rule: string; rows: Record<string, number>[]; is: boolean[] }>([
    {
      when: 'compares metrics with parameters',
      rule: 'test_bits_known >= 0.95 * log2(N)',
      rows: [{ 'test/bits/known': 9.4 }, { 'test/bits/known': 9.5 }],
      is: [false, true],
    },
    { when: 'takes all numbers for doubles', rule: 'a / N > lr', rows: [{ a: 512 }, { a: 513 }], is: [false, true] },
    {
      when: 'is not met before its metric appears',
      rule: 'b > 1',
      rows: [{ a: 3 }, { a: 3, b: 2 }],
      is: [false, true],
    },
    { when: 'may name what never appears', rule: 'b > 1 || a > 2', rows: [{ a: 1 }, { a: 3 }], is: [false, true] },
    { when: 'does not hold for NaN', rule: 'a < 1', rows: [{ a: NaN }, { a: 0 }], is: [false, true] },
    { when: 'sees metrics before parameters', rule: 'N < 3', rows: [{ N: 5 }, { N: 2 }], is: [false, true] },
    { when: 'never holds when the types do not fit', rule: 'a > name', rows: [{ a: 1 }], is: [false] },
  ])('$when', ({ rule, rows, is }) => {
    expect(verdicts(rule, 1, rows)).toEqual(is);
  });

  it('must hold `for` rows in a row, and then stays met', () => {
    const rows = [1, 5, 5, 1, 5, 5, 5, 1].map((loss) => ({ loss }));
    expect(verdicts('loss > 2', 3, rows)).toEqual([false, false, false, false, false, false, true, true]);
  });

  it('passes over rows between two evaluations: they count neither for nor against it', () => {
    expect(verdicts('test > 2', 2, [{ test: 3 }, { loss: 1 }, { loss: 1 }, { test: 3 }])).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});
