import { describe, expect, it } from 'vitest';
import type { Clustered } from '../../../src/analysis/bootstrap.js';
import { intraclass, meanInterval, medianInterval } from '../../../src/analysis/study/clustered.js';
import { type Random, seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

const near = (value: number) => expect.closeTo(value, 4) as number;
const cellOf = (clusters: readonly (readonly number[])[]): Clustered<number>[] =>
  clusters.flatMap((values, at) => values.map((value) => ({ cluster: `w${at}`, value })));

/** A normal variable from twelve even ones. */
const normal = (random: Random) => Array.from({ length: 12 }, random).reduce((sum, value) => sum + value, -6);

/** Studies of five base models with six runs each, with so much of the variance between base models; the median is 0. */
function studies(count: number, between: number): Clustered<number>[][] {
  const random = seededRandom(11);
  return Array.from({ length: count }, () =>
    cellOf(
      Array.from({ length: 5 }, () => {
        const base = Math.sqrt(between) * normal(random);
        return Array.from({ length: 6 }, () => base + Math.sqrt(1 - between) * normal(random));
      }),
    ),
  );
}

describe('the interval of a median over clusters', () => {
  it.each([0, 0.5, 0.9])(
    'holds the median in 95 % of studies of five, with %f of the variance between them',
    (between) => {
      const all = studies(1000, between).map((cell) => medianInterval(cell)!);
      const share = all.filter(([low, high]) => low <= 0 && 0 <= high).length / all.length;
      expect(Math.abs(share - 0.95)).toBeLessThan(0.03);
    },
  );

  it.each([
    // Student's t of thirty signs leaves the 10th and the 21st value, as the sign test does.
    { of: 'independent values', clusters: [Array.from({ length: 30 }, (_, at) => at + 1)], interval: [10, 21] },
    { of: 'infinite values', clusters: [[1], [2], [3], [Infinity], [Infinity]], interval: [1, Infinity] },
    {
      of: 'two clusters',
      clusters: [
        [1, 2],
        [8, 9],
      ],
      interval: [1, 9],
    },
    {
      of: 'equal values',
      clusters: [
        [4, 4],
        [4, 4],
        [4, 4],
      ],
      interval: [4, 4],
    },
    { of: 'one value', clusters: [[7]], interval: [7, 7] },
  ])('of $of', ({ clusters, interval }) => {
    expect(medianInterval(cellOf(clusters))).toEqual(interval);
  });

  it('is transformed as the values are, and there is none of nothing', () => {
    const [cell] = studies(1, 0.5);
    const [low, high] = medianInterval(cell!)!;
    const raised = cell!.map(({ cluster, value }) => ({ cluster, value: Math.exp(value) }));
    expect(medianInterval(raised)).toEqual([Math.exp(low), Math.exp(high)]);
    expect(medianInterval([])).toBeNull();
  });
});

describe('the interval of a mean over clusters', () => {
  it('gives each cluster the weight of its values', () => {
    // Residuals sum to −3 and 3: 3 + 3 squares, by 2 / 1, and 12.706 standard errors.
    const [low, high] = meanInterval(cellOf([[1, 2, 3], [4]]))!;
    const half = (12.7062 * Math.sqrt(2 * (1.5 ** 2 + 1.5 ** 2))) / 4;
    expect([low, high]).toEqual([near(2.5 - half), near(2.5 + half)]);
    expect(meanInterval(cellOf([[1]]))).toBeNull();
  });
});

describe('the intraclass correlation', () => {
  it('is that of Shrout and Fleiss, with their interval', () => {
    // The six targets of four judges of Shrout & Fleiss (1979), table 2: ICC(1) = .17, from −.13 to .72.
    const rated = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]; // prettier-ignore
    expect(intraclass(cellOf(rated))).toEqual({ share: near(0.16574), interval: [0, near(0.72259)] });
  });

  it('is nothing of one cluster, of clusters of one value, and where clusters have no spread', () => {
    expect(intraclass(cellOf([[1, 2, 3]]))).toBeNull();
    expect(intraclass(cellOf([[1], [2]]))).toBeNull();
    expect(
      intraclass(
        cellOf([
          [1, 1],
          [2, 2],
        ]),
      ),
    ).toBeNull();
  });
});
