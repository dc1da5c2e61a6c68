import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GaussianProcess } from '../../../src/spec/search/gaussian-process.js';
import { finished } from './finished.js';

/** What scikit-learn makes of the same samples where W&B calls it; `make-bayes.py` beside the file wrote it. */
const { processes } = JSON.parse(readFileSync('test/fixtures/wandb/bayes.json', 'utf8')) as {
  processes: {
    points: number[][];
    values: number[];
    pending: number[][];
    probes: number[][];
    mean: number;
    deviation: number;
    means: number[];
    deviations: number[];
  }[];
};
const fit = (points: number[][], values: number[]) => finished(GaussianProcess.fit({ points, values }));

describe('a Gaussian process', () => {
  it.each(processes)('predicts what W&B’s predicts ($#)', ({ points, values, pending, probes, ...expected }) => {
    const first = fit(points, values);
    const expectedOf = pending.map((point) => first.valueAt(point));
    const process = pending.length === 0 ? first : fit([...points, ...pending], [...values, ...expectedOf]);
    expect(process.mean / expected.mean).toBeCloseTo(1, 3);
    expect(process.deviation / expected.deviation).toBeCloseTo(1, 3);
    probes.forEach((probe, index) => {
      const { mean, deviation } = process.at(probe);
      expect(mean).toBeCloseTo(expected.means[index]!, 2);
      expect(deviation).toBeCloseTo(expected.deviations[index]!, 2);
    });
  });

  it('goes through its samples, and knows nothing far from them', () => {
    const points = [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((x) => [x]);
    const process = fit(points, [9, 4, 1, 0, 1, 4]);
    expect(process.valueAt([0.2])).toBeCloseTo(1, 3);
    expect(process.at([0.2]).deviation).toBeLessThan(1e-2);
    expect(process.at([0.9]).deviation).toBeGreaterThan(3 * process.at([0.45]).deviation);
  });

  it('takes samples at one point, and values as large as numbers can be', () => {
    const same = fit([[0.5], [0.5], [0.2]], [1, 2, 3]);
    expect(same.valueAt([0.5])).toBeCloseTo(1.5, 2);
    const large = fit([[0.1], [0.9]], [1e308, -1e308]);
    expect(large.at([0.1]).mean).toBeCloseTo(1, 3);
  });

  it('says that equal values tell nothing of how long its scale is', () => {
    expect(fit([[0.1], [0.4], [0.5]], [2, 2, 2]).isAtBound).toBe(true);
    expect(fit([[0], [0.1], [0.2], [0.3]], [9, 4, 1, 0]).isAtBound).toBe(false);
  });
});
