import { describe, expect, it } from 'vitest';
import { addTo, groupBy, groupByEach, grouped } from '../../src/base/group-by.js';

describe('what belongs together', () => {
  it('comes in the order of the first of each, whatever the keys are', () => {
    expect(grouped(['b1', '2x', 'b2', '1x', '2y'], (name) => name[0]!)).toEqual([['b1', 'b2'], ['2x', '2y'], ['1x']]);
    expect([...groupBy([3, 1, 2, 4], (n) => n % 2)]).toEqual([
      [1, [3, 1]],
      [0, [2, 4]],
    ]);
  });

  it('stands under each of its keys, once', () => {
    expect([...groupByEach(['ab', 'b', 'cc', ''], (letters) => letters)]).toEqual([
      ['a', ['ab']],
      ['b', ['ab', 'b']],
      ['c', ['cc']],
    ]);
  });

  it('may come one by one', () => {
    const groups = new Map<string, number[]>();
    addTo(groups, 'a', 1);
    addTo(groups, 'b', 2);
    addTo(groups, 'a', 3);
    expect(groups).toEqual(
      new Map([
        ['a', [1, 3]],
        ['b', [2]],
      ]),
    );
  });
});
