import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GaussianProcess, posterior, type Scales } from '../../../src/spec/search/gaussian-process.js';
import { finished } from './finished.js';

/** What scikit-learn makes of the same samples; `make-bayes.py` beside the file wrote it. */
const { processes } = JSON.parse(readFileSync('test/fixtures/wandb/bayes.json', 'utf8')) as {
  processes: {
    points: number[][];
    values: number[];
    lengths: number[];
    noise: number;
    likelihood: number;
    probes: number[][];
    means: number[];
    deviations: number[];
  }[];
};
const scalesOf = (lengths: readonly number[], noise: number): Scales => {
  return { lengths: lengths.map(Math.log), noise: Math.log(noise) };
};
const fit = (points: number[][], values: number[]) => finished(GaussianProcess.fit({ points, values }));
const grid = [0, 0.25, 0.5, 0.75, 1];

describe('a Gaussian process', () => {
  it.each(processes)('predicts what scikit-learn’s predicts ($#)', ({ points, values, probes, ...given }) => {
    const process = new GaussianProcess({ points, values }, scalesOf(given.lengths, given.noise));
    probes.forEach((probe, index) => {
      const { mean, deviation } = process.at(probe);
      expect(mean).toBeCloseTo(given.means[index]!, 6);
      expect(deviation).toBeCloseTo(given.deviations[index]!, 6);
    });
  });

  it.each(processes)('is as likely as scikit-learn’s, but for its priors and a constant ($#)', (given) => {
    const { points, values, lengths, noise, likelihood } = given;
    const { score } = posterior({ points, values }, scalesOf(lengths, noise));
    const prior = [
      ...lengths.map((length) => (Math.log(length) - Math.SQRT2 - Math.log(lengths.length) / 2) / Math.sqrt(3)),
      (Math.log(noise) + 10) / 2,
    ].reduce((sum, each) => sum + (each * each) / 2, 0);
    expect(score + prior - (points.length * Math.log(2 * Math.PI)) / 2).toBeCloseTo(likelihood, 6);
  });

  it('knows the slope of its posterior', () => {
    const [{ points, values, lengths, noise }] = processes as [(typeof processes)[number]];
    const scales = scalesOf(lengths, Math.max(noise, 1e-3));
    const at = (change: number, axis: number) => {
      const moved = scales.lengths.map((each, index) => each + (index === axis ? change : 0));
      const changed = scales.noise + (axis === scales.lengths.length ? change : 0);
      return posterior({ points, values }, { lengths: moved, noise: changed }).score;
    };
    posterior({ points, values }, scales).slope.forEach((slope, axis) => {
      expect(slope).toBeCloseTo((at(1e-5, axis) - at(-1e-5, axis)) / 2e-5, 4);
    });
  });

  it('is the same whether a sample comes with the others or after them', () => {
    const [{ points, values, lengths, noise, probes }] = processes as [(typeof processes)[number]];
    const whole = new GaussianProcess({ points, values }, scalesOf(lengths, noise));
    const first = { points: points.slice(0, -2), values: values.slice(0, -2) };
    const grown = new GaussianProcess(first, scalesOf(lengths, noise))
      .with(points.at(-2)!, values.at(-2)!)
      .with(points.at(-1)!, values.at(-1)!);
    for (const probe of probes) {
      expect(grown.at(probe).mean).toBeCloseTo(whole.at(probe).mean, 8);
      expect(grown.at(probe).deviation).toBeCloseTo(whole.at(probe).deviation, 8);
    }
  });

  it('finds which axis matters, and how noisy its samples are', () => {
    const points = grid.flatMap((x) => grid.map((y) => [x, y]));
    const values = points.map(([x]) => Math.sin(6 * x!));
    const process = fit(points, values);
    expect(process.at([0.4, 0.1]).mean).toBeCloseTo(Math.sin(2.4), 1);
    expect(Math.abs(process.at([0.4, 0.1]).mean - process.at([0.4, 0.9]).mean)).toBeLessThan(1e-3);
    expect(process.at([0.5, 0.5]).deviation).toBeLessThan(0.1);
    // Each place five times, with values that say nothing of where they were observed.
    const places = points.map(([x]) => [x!]);
    const noisy = points.map((_, index) => (index % 5) / 2 - 1);
    expect(Math.abs(fit(places, noisy).at([0.25]).mean)).toBeLessThan(0.2);
  });

  it('takes samples at one point, equal values, and a single sample', () => {
    expect(fit([[0.5], [0.5], [0.2]], [1, -1, 0]).at([0.5]).mean).toBeCloseTo(0, 1);
    expect(fit([[0.1], [0.4], [0.5]], [0, 0, 0]).at([0.3]).mean).toBe(0);
    expect(fit([[0.5]], [0]).at([0.5]).deviation).toBeLessThan(0.5);
  });
});
