import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advantageEstimators, advantages } from '../../../src/lab/advantages/advantages.js';

describe('advantages', () => {
  it.each([
    {
      credit: 'trajectory' as const,
      expected: [
        [0.5, 0.5],
        [-0.5, -0.5],
      ],
    },
    {
      credit: 'stepwise' as const,
      expected: [
        [0.5, 0],
        [-0.5, 0],
      ],
    },
    {
      credit: 'to_go' as const,
      expected: [
        [0.5, 0],
        [-0.5, 0],
      ],
    },
  ])('of a group whose episodes differ in the first turn: $credit', ({ credit, expected }) => {
    expect(
      advantages(
        [
          [1, 1],
          [0, 1],
        ],
        credit,
      ),
    ).toEqual(expected);
  });

  it('credits a turn with the later rewards of its episode when asked', () => {
    expect(
      advantages(
        [
          [0, 1],
          [0, 0],
        ],
        'to_go',
      ),
    ).toEqual([
      [0.5, 0.5],
      [-0.5, -0.5],
    ]);
    expect(
      advantages(
        [
          [1, 0],
          [0, 1],
        ],
        'to_go',
      ),
    ).toEqual([
      [0, -0.5],
      [0, 0.5],
    ]);
  });

  it('is the centred reward when episodes have one turn', () => {
    for (const credit of advantageEstimators) {
      expect(advantages([[1], [0], [0], [0]], credit)).toEqual([[0.75], [-0.25], [-0.25], [-0.25]]);
    }
  });

  it('is exactly zero in a group with equal rewards, and sums to zero in any group', () => {
    const group = fc.integer({ min: 1, max: 6 }).chain((turns) =>
      fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: turns, maxLength: turns }), {
        minLength: 2,
        maxLength: 8,
      }),
    );
    fc.assert(
      fc.property(group, fc.constantFrom(...advantageEstimators), (rewards, credit) => {
        const same = advantages(
          rewards.map(() => rewards[0]!),
          credit,
        );
        expect(same.flat().every((value) => value === 0)).toBe(true);
        const sums = advantages(rewards, credit).reduce(
          (total, row) => total.map((sum, turn) => sum + row[turn]!),
          rewards[0]!.map(() => 0),
        );
        for (const sum of sums) expect(sum).toBeCloseTo(0, 9);
      }),
    );
  });

  it.each([
    { rewards: [1, 0, 0, 0], expected: [1.4997, -0.4999, -0.4999, -0.4999] },
    { rewards: [1, 1, 1, 1], expected: [0, 0, 0, 0] },
    { rewards: [0.2, 0.4, 0.6, 0.8], expected: [-1.161445, -0.387148, 0.387148, 1.161445] },
  ])('are divided by the sample standard deviation, as in TRL: $rewards', ({ rewards, expected }) => {
    const found = advantages(
      rewards.map((reward) => [reward]),
      'stepwise',
      'std',
    ).flat();
    found.forEach((value, at) => expect(value).toBeCloseTo(expected[at]!, 4));
  });

  it('stay zero after scaling when rewards differ by rounding alone', () => {
    const group = [0.1, 0.1, 0.1].map((reward) => [reward]);
    expect(advantages(group, 'trajectory', 'std').flat()).toEqual([0, 0, 0]);
  });

  it('count turns after the end of an episode as turns with reward 0', () => {
    const uneven = [[1, 1], [0]];
    expect(advantages(uneven, 'stepwise')).toEqual([[0.5, 0.5], [-0.5]]);
    expect(advantages(uneven, 'to_go')).toEqual([[1, 0.5], [-1]]);
    expect(advantages(uneven, 'trajectory')).toEqual([[1, 1], [-1]]);
  });
});
