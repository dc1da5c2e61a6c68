import { describe, expect, it } from 'vitest';
import { expectedImprovement, rankedPoints } from '../../../src/spec/search/expected-improvement.js';
import { finished } from './finished.js';

/** Branin's function over the unit square; its least value is 0.397887. */
function branin([u, v]: readonly number[]): number {
  const [x, y] = [15 * u! - 5, 15 * v!];
  const bowl = (y - (5.1 / (4 * Math.PI ** 2)) * x ** 2 + (5 / Math.PI) * x - 6) ** 2;
  return bowl + 10 * (1 - 1 / (8 * Math.PI)) * Math.cos(x) + 10;
}
const least = 0.397887;

const first = (points: readonly (readonly number[])[], values: readonly number[], seed: string) =>
  finished(rankedPoints({ points, values, pending: [] }, ['x', 'y'], seed))[0]!;

/** How far the best of so many points is from the least value. `isBlind`: no point is chosen by the values of others. */
function regret(seed: number, count: number, isBlind: boolean): number {
  const points: (readonly number[])[] = [];
  const values: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const point = first(isBlind ? [] : points, isBlind ? [] : values, `${seed}/${index}`);
    points.push(point);
    values.push(branin(point));
  }
  return Math.min(...values) - least;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

describe('the expected improvement', () => {
  // By hand: σ φ(0) where the mean is the best; what is certain improves by its distance, or not at all.
  it.each([
    { mean: 0, deviation: 1, best: 0, gives: 0.3989422804 },
    { mean: -2, deviation: 0, best: 0, gives: 2 },
    { mean: 2, deviation: 0, best: 0, gives: 0 },
    { mean: 1, deviation: 1, best: 0, gives: 0.0833154706 },
  ])('of $mean ± $deviation on $best is $gives', ({ mean, deviation, best, gives }) => {
    expect(expectedImprovement({ mean, deviation }, best)).toBeCloseTo(gives, 5);
  });
});

describe('the next point of a search', () => {
  it('is drawn at random while there are fewer than two values, and follows from its seed alone', () => {
    const random = first([], [], 's');
    expect(first([[0.5, 0.5]], [1], 's')).toEqual(random);
    expect(
      first(
        [
          [0.5, 0.5],
          [0.1, 0.1],
        ],
        [1, Number.NaN],
        's',
      ),
    ).toEqual(random);
    expect(first([], [], 't')).not.toEqual(random);
  });

  it('goes where values get smaller', () => {
    const points = [
      [0.9, 0.5],
      [0.7, 0.5],
      [0.5, 0.5],
    ];
    expect(first(points, [9, 4, 1], 's')[0]).toBeLessThan(0.5);
  });

  it('keeps away from points whose values are still to come', () => {
    const points = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((x) => [0.2, 0.8].map((y) => [x, y]));
    const samples = { points, values: points.map(branin) };
    const alone = finished(rankedPoints({ ...samples, pending: [] }, ['x', 'y'], 's'))[0]!;
    const beside = finished(rankedPoints({ ...samples, pending: [alone] }, ['x', 'y'], 's'))[0]!;
    expect(Math.hypot(alone[0]! - beside[0]!, alone[1]! - beside[1]!)).toBeGreaterThan(0.05);
  });

  it('finds the least value of Branin’s function a tenth as far off as random points do', () => {
    const seeds = Array.from({ length: 20 }, (_, index) => index);
    const chosen = median(seeds.map((seed) => regret(seed, 25, false)));
    const blind = median(seeds.map((seed) => regret(seed, 25, true)));
    expect(chosen).toBeLessThan(blind / 10);
  }, 60_000);
});
