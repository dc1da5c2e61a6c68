import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { naturalOrder } from '../../src/text/natural-order.js';

describe('the order of a person', () => {
  it.each<[string[], string[]]>([
    [
      ['N1024', 'N16', 'N64'],
      ['N16', 'N64', 'N1024'],
    ],
    [
      ['s10', 's9', 's09'],
      ['s09', 's9', 's10'],
    ],
    [
      ['b', 'a2x', 'a2', 'a'],
      ['a', 'a2', 'a2x', 'b'],
    ],
    [
      ['10', '9', '0.1', '0.01', '1e-3', '1E+2', '0', '0.0'],
      ['0', '0.0', '1e-3', '0.01', '0.1', '9', '10', '1E+2'],
    ],
    [
      ['lr0.01_s0', 'lr1e-3_s1', 'lr0.1_s0', 'lr0.001_s0'],
      ['lr0.001_s0', 'lr1e-3_s1', 'lr0.01_s0', 'lr0.1_s0'],
    ],
    [
      ['x1.5', 'x1', 'x1.25', 'x1.e', '3e8f', '3e12'],
      ['3e8f', '3e12', 'x1', 'x1.e', 'x1.25', 'x1.5'],
    ],
  ])('of %j is %j', (texts, ordered) => {
    expect([...texts].sort(naturalOrder)).toEqual(ordered);
  });

  it('is an order: it decides between any two texts, and never in a circle', () => {
    const text = fc.stringMatching(/^[a-ce0-3_.+-]{0,8}$/);
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(Math.sign(naturalOrder(a, b))).toBe(-Math.sign(naturalOrder(b, a)) + 0);
        expect(naturalOrder(a, b) === 0).toBe(a === b);
        if (naturalOrder(a, b) <= 0 && naturalOrder(b, c) <= 0) expect(naturalOrder(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
