import { describe, expect, it } from 'vitest';
import { axisOf, type Column, marksOf } from '../../../../src/tui/screens/parameters/axis.js';

const axis = (...values: Column['values']) => axisOf({ name: 'x', values });

describe('an axis of a column', () => {
  it.each([
    { what: 'decades', values: [1e-5, 1e-4, 1e-3], isLog: true },
    { what: 'powers of two', values: [16, 64, 256, 1024], isLog: true },
    { what: 'steps', values: [0, 0.1, 0.2, 0.5], isLog: false },
    { what: 'an even range from near nothing', values: [0.01, 0.25, 0.5, 0.75, 1], isLog: false },
    { what: 'numbers with a zero', values: [0, 1e-4, 1], isLog: false },
  ])('of $what', ({ values, isLog }) => {
    expect(axis(...values).scale?.isLog).toBe(isLog);
  });

  it('has the lowest at 0, the highest at 1, and no place for what is no number', () => {
    const { places, off } = axis(1e-5, NaN, 1e-4, Infinity, 1e-3, undefined);
    expect([...places].map((place) => Number(place.toFixed(9)))).toEqual([0, NaN, 0.5, NaN, 1, NaN]);
    expect(off).toBe(3);
  });

  it('of results ends where all but a few of them end; those lie at its edge, beyond', () => {
    const values = [0.06, 0.03, 0.015, 1.35, 1.8e20, Infinity, -Infinity, NaN, undefined];
    const { scale, places, beyond, off } = axisOf({ name: 'loss', values, isResult: true });
    expect(scale).toEqual({ low: 0.015, high: 1.35, isLog: true });
    expect([...places].slice(4).map((place) => Number(place))).toEqual([1, 1, 0, NaN, NaN]);
    expect([...beyond]).toEqual([4, 5, 6]);
    expect(off).toBe(2);
    expect(axisOf({ name: 'loss', values: [Infinity, NaN], isResult: true })).toMatchObject({ off: 1, named: [] });
  });

  it('has texts side by side in the order of a person', () => {
    const { scale, places, named } = axis('N64', 'N8', 'N64', undefined, 'N512');
    expect(scale).toBeNull();
    expect([...places]).toEqual([0.5, 0, 0.5, NaN, 1]);
    expect(named.map(({ label }) => label)).toEqual(['N8', 'N64', 'N512']);
  });

  it('puts a single value in the middle', () => {
    expect([...axis(3, 3).places]).toEqual([0.5, 0.5]);
    expect([...axis('a', 'a').places]).toEqual([0.5, 0.5]);
  });

  it('names few values each, many by round numbers, and of many texts the first and every second', () => {
    const labels = (values: Column['values'], rows: number) => marksOf(axis(...values), rows).map(({ label }) => label);
    expect(labels([0.1, 0.2, 0.7], 10)).toEqual(['0.1', '0.2', '0.7']);
    expect(
      labels(
        Array.from({ length: 101 }, (_, index) => index),
        12,
      ),
    ).toEqual(['0', '50', '100']);
    expect(labels([...'abcdefgh'], 4)).toEqual(['a', 'c', 'e', 'g']);
  });

  it('has no ends where no run has a number', () => {
    expect(axis(NaN, undefined)).toMatchObject({ off: 2, named: [] });
  });
});
