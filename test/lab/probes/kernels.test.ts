import { describe, expect, it } from 'vitest';
import { cosines, cosineSummary, fisherKernel, influence, strongest } from '../../../src/lab/probes/fisher-kernel.js';
import { sketchedProduct, sketcher } from '../../../src/lab/probes/sketch.js';
import { uStatistic } from '../../../src/lab/probes/u-statistic.js';
import { dot } from '../../../src/lab/probes/vectors.js';
import { numbers } from '../engine/models.js';

const random = numbers(11);
const vector = (size: number) => Float64Array.from({ length: size }, () => random() - 0.5);
const vectors = (count: number, size: number) => Array.from({ length: count }, () => vector(size));

/** A softmax over these scores: S of each arm, and ∇S as rows. */
function bandit(scores: readonly number[]) {
  const log = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
  const S = scores.map((score) => score - log);
  const p = S.map(Math.exp);
  const gradients = p.map((_, arm) => Float64Array.from(p, (other, at) => (at === arm ? 1 : 0) - other));
  return { S, p, gradients, entropy: -S.reduce((sum, each, arm) => sum + each * p[arm]!, 0) };
}

const arms = Array.from({ length: 12 }, () => 2 * random() - 1);
const rewards = Array.from({ length: 12 }, () => random());

describe('the Fisher kernel', () => {
  const { S, p, gradients, entropy } = bandit(arms);
  const value = rewards.reduce((sum, reward, arm) => sum + reward * p[arm]!, 0);
  const A = rewards.map((reward) => reward - value);
  const kernel = fisherKernel(gradients);

  it('gives the same change of entropy as the two gradients', () => {
    const byKernel = -p.reduce((sum, pt, t) => {
      return sum + p.reduce((row, pu, u) => row + pt * pu * (S[t]! + entropy) * kernel[t]![u]! * A[u]!, 0);
    }, 0);
    const ofEntropy = Float64Array.from(p, (pt, t) => -pt * (S[t]! + entropy));
    const ofValue = Float64Array.from(p, (pt, t) => pt * A[t]!);
    expect(byKernel).toBeCloseTo(dot(ofEntropy, ofValue), 12);
    const h = 1e-5;
    const at = (step: number) => bandit(arms.map((score, arm) => score + step * ofValue[arm]!)).entropy;
    expect(byKernel).toBeCloseTo((at(h) - at(-h)) / (2 * h), 9);
  });

  it('predicts the change of entropy by a step up to an error of second order', () => {
    const ofValue = Float64Array.from(p, (pt, t) => pt * A[t]!);
    const predicted = -dot(
      p.map((pt, t) => pt * (S[t]! + entropy)),
      ofValue,
    );
    const errors = [0.1, 0.01, 0.001, 0.0001].map((eta) => {
      const moved = bandit(arms.map((score, arm) => score + eta * ofValue[arm]!)).entropy;
      return (moved - entropy) / (eta * predicted) - 1;
    });
    expect(Math.abs(errors[0]!)).toBeLessThan(0.1);
    errors.slice(1).forEach((error, at) => expect(errors[at]! / error).toBeCloseTo(10, 0));
  });

  it('with one batch for both factors has a bias equal to its diagonal', () => {
    const X = gradients.map((gradient, t) => gradient.map((each) => (S[t]! + entropy) * each));
    const Y = gradients.map((gradient, t) => gradient.map((each) => A[t]! * each));
    const truth = p.reduce((sum, pt, t) => sum + p.reduce((row, pu, u) => row + pt * pu * dot(X[t]!, Y[u]!), 0), 0);
    // Over all batches of two with their probabilities: the mean of ¼ (X_t + X_u)·(Y_t + Y_u).
    const oneBatch = p.reduce((sum, pt, t) => {
      return sum + p.reduce((row, pu, u) => row + (pt * pu * (dot(X[t]!, Y[t]!) + dot(X[u]!, Y[u]!) + dot(X[t]!, Y[u]!) + dot(X[u]!, Y[t]!))) / 4, 0); // prettier-ignore
    }, 0);
    const withItself = p.reduce((sum, pt, t) => sum + pt * (S[t]! + entropy) * kernel[t]![t]! * A[t]!, 0);
    expect(oneBatch).toBeCloseTo(truth / 2 + withItself / 2, 12);
    expect(Math.abs(oneBatch / truth - 1)).toBeGreaterThan(0.1);
  });

  it('is symmetric and positive semi-definite', () => {
    kernel.forEach((row, i) => row.forEach((each, j) => expect(each).toBe(kernel[j]![i])));
    for (const c of vectors(50, 12)) {
      const form = [...c].reduce((sum, ci, i) => sum + ci * influence(kernel, [...c])[i]!, 0);
      expect(form).toBeGreaterThan(-1e-10);
    }
  });

  it('applies the preconditioner once', () => {
    const [a, b] = vectors(2, 5);
    const P = Float64Array.from([1, 2, 3, 4, 5]);
    const expected = [...P].reduce((sum, each, at) => sum + each * a![at]! * b![at]!, 0);
    expect(fisherKernel([a!, b!], P)[0]![1]).toBeCloseTo(expected, 12);
  });

  it('reports mean cosines within prompts and between prompts', () => {
    const [a, b] = vectors(2, 400);
    const near = (of: Float64Array) => of.map((each) => each + 0.02 * (random() - 0.5));
    const kernel = fisherKernel([near(a!), near(a!), near(b!), near(b!)]);
    const { samePrompt, otherPrompt, all } = cosineSummary(kernel, ['p', 'p', 'q', 'q']);
    expect(samePrompt).toBeGreaterThan(0.99);
    expect(Math.abs(otherPrompt)).toBeLessThan(0.3);
    expect(all).toBeCloseTo((2 * samePrompt + 4 * otherPrompt) / 6, 12);
    expect(cosines(kernel)[2]![2]).toBeCloseTo(1, 12);
  });

  it('reports the sequences that move most', () => {
    expect(
      strongest(
        influence(
          [
            [1, -3],
            [-3, 2],
          ],
          [1, 2],
        ),
        1,
      ),
    ).toEqual([0]);
  });

  it.each([
    [1, 'lowers'],
    [-1, 'raises'],
  ])('entropy: where likelihood and advantage vary together by %i, a step %s it', (sign) => {
    const advantages = S.map((each) => sign * (each + entropy));
    const covariance = p.reduce((sum, pt, t) => sum + pt * (S[t]! + entropy) * advantages[t]!, 0);
    // K = 1 between a sequence and itself, and 0 else.
    const change = -p.reduce((sum, pt, t) => sum + pt * (S[t]! + entropy) * advantages[t]!, 0);
    expect(Math.sign(covariance)).toBe(sign);
    expect(Math.sign(change)).toBe(-sign);
  });
});

describe('the U-statistic', () => {
  const [X, Y] = [vectors(7, 4), vectors(7, 4)];

  it('is the mean over pairs of different prompts', () => {
    let sum = 0;
    X.forEach((x, n) => Y.forEach((y, m) => (sum += n === m ? 0 : dot(x, y))));
    expect(uStatistic(X, Y).value).toBeCloseTo(sum / 42, 12);
  });

  it('has leave-one-out values that equal its definition without one prompt', () => {
    uStatistic(X, Y).without.forEach((value, n) => {
      const rest = (of: readonly Float64Array[]) => of.filter((_, at) => at !== n);
      expect(value).toBeCloseTo(uStatistic(rest(X), rest(Y)).value, 12);
    });
  });

  it('is unbiased with one batch for both factors, unlike the plain product', () => {
    // Two kinds of prompts, equally likely: E[X]·E[Y] = 0, and X·Y of one prompt is 1.
    const kinds = [Float64Array.of(1), Float64Array.of(-1)];
    const batches = Array.from({ length: 8 }, (_, code) => [0, 1, 2].map((bit) => kinds[(code >> bit) & 1]!));
    const mean = (of: (batch: Float64Array[]) => number) => batches.reduce((sum, batch) => sum + of(batch), 0) / 8;
    expect(mean((batch) => uStatistic(batch, batch).value)).toBeCloseTo(0, 12);
    const centre = (batch: Float64Array[]) => batch.reduce((sum, [x]) => sum + x!, 0) / 3;
    expect(mean((batch) => centre(batch) ** 2)).toBeCloseTo(1 / 3, 12);
  });

  it('states its actual error', () => {
    const estimates = Array.from({ length: 400 }, () => {
      const [x, y] = [vectors(20, 3), vectors(20, 3)];
      for (const each of [...x, ...y]) each[0]! += 0.5;
      return uStatistic(x, y);
    });
    const inside = estimates.filter(({ value, standardError }) => Math.abs(value - 0.25) < 1.96 * standardError);
    expect(inside.length / 400).toBeGreaterThan(0.88);
  });
});

describe('a sketch', () => {
  const [a, b] = vectors(2, 50);
  const product = (rows: number, seed: number) => {
    const sketch = sketcher(50, rows, seed);
    return sketchedProduct(sketch(a!), sketch(b!), 64);
  };

  it('is exact with as many rows as the transform', () => {
    const { value, standardError } = product(64, 1);
    expect(value).toBeCloseTo(dot(a!, b!), 12);
    expect(standardError).toBe(0);
  });

  it('has unbiased products, within their stated error', () => {
    const products = Array.from({ length: 400 }, (_, seed) => product(16, seed));
    const mean = products.reduce((sum, { value }) => sum + value, 0) / 400;
    const spread = Math.sqrt(products.reduce((sum, { value }) => sum + (value - dot(a!, b!)) ** 2, 0) / 400);
    const stated = Math.sqrt(products.reduce((sum, { standardError }) => sum + standardError ** 2, 0) / 400);
    expect(Math.abs(mean - dot(a!, b!))).toBeLessThan((3.5 * spread) / 20);
    expect(stated / spread).toBeGreaterThan(0.85);
    expect(stated / spread).toBeLessThan(1.15);
  });

  it('has an error of 1/√r: half with four times the rows', () => {
    const error = (rows: number) => {
      const sketch = (seed: number) => sketcher(4000, rows, seed);
      const [x, y] = vectors(2, 4000);
      const squares = Array.from({ length: 60 }, (_, seed) => {
        const s = sketch(seed);
        return (sketchedProduct(s(x!), s(y!)).value - dot(x!, y!)) ** 2;
      });
      return Math.sqrt(squares.reduce((sum, each) => sum + each, 0) / 60) / Math.sqrt(dot(x!, x!) * dot(y!, y!));
    };
    const ratio = error(64) / error(256);
    expect(ratio).toBeGreaterThan(1.5);
    expect(ratio).toBeLessThan(2.7);
  });
});
