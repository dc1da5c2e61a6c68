import { describe, expect, it } from 'vitest';
import { groupBy, grouped } from '../../src/base/group-by.js';

describe('what belongs together', () => {
  it('comes in the order of the first of each, whatever the keys are', () => {
    expect(grouped(['b1', '2x', 'b2', '1x', '2y'], (name) => name[0]!)).toEqual([['b1', 'b2'], ['2x', '2y'], ['1x']]);
    expect([...groupBy([3, 1, 2, 4], (n) => n % 2)]).toEqual([
      [1, [3, 1]],
      [0, [2, 4]],
    ]);
  });
});
