import { expect, it } from 'vitest';
import { bootstrap95 } from '../../src/analysis/bootstrap.js';
import { interquartileMean } from '../../src/analysis/seed-statistics.js';
import { deviation, mean } from '../../src/analysis/statistics.js';

const meanOf = (values: readonly number[]): number => mean(values)!;

it('is as wide as theory says where there are many values', () => {
  const values = Array.from({ length: 100 }, (_, index) => (index * 37) % 100);
  const half = 1.96 * (deviation(values)! / 10);
  const [low, high] = bootstrap95(values, meanOf);
  expect(Math.abs(low - (49.5 - half))).toBeLessThan(0.1 * half);
  expect(Math.abs(high - (49.5 + half))).toBeLessThan(0.1 * half);
});

it('lies within the values, and is the same each time', () => {
  const values = [0.31, 0.35, 0.28, 0.9, 0.33];
  const interval = bootstrap95(values, interquartileMean);
  expect(interval).toEqual(bootstrap95(values, interquartileMean));
  expect(interval[0]).toBeGreaterThanOrEqual(0.28);
  expect(interval[1]).toBeLessThanOrEqual(0.9);
  expect(interval[0]).toBeLessThan(interval[1]);
});

it('is a point where all values are equal', () => {
  expect(bootstrap95([2, 2, 2], meanOf)).toEqual([2, 2]);
});
