import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { median } from '../../../src/analysis/statistics.js';
import type { LabCondition } from '../../../src/lab/reference/conditions.js';
import type { Optimizer } from '../../../src/lab/reference/optimizer.js';
import { tabular, WeightedChoice } from '../../../src/lab/reference/tabular.js';
import { rng } from '../../../src/lab/rng.js';
import { fitPowerLaw } from '../../../src/lab/study/memory/scaling.js';

const sizes = [16, 64, 256, 1024, 4096];
type Table = { optimizer: Optimizer; learningRate: number };

function episodesOf(condition: LabCondition, N: number, table: Table, seeds: number): (number | null)[] {
  const random = rng(3, 'test');
  return Array.from({ length: seeds }, () =>
    tabular(condition, { N, secret: random.below(N), groupSize: 4, budget: 80_000, ...table }, random),
  );
}

const medianOf = (episodes: (number | null)[]) => median(episodes.map((each) => each ?? Infinity))!;
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a table of logits with binary rewards', () => {
  it.each([1, 4])('needs N/(1 − e^(−¾η)) episodes and a tail at η = %i, within 30 %', (learningRate) => {
    for (const N of [256, 1024]) {
      const episodes = episodesOf({ kind: 'binary' }, N, { optimizer: 'sgd', learningRate }, 80);
      const expected = N / (1 - Math.exp(-0.75 * learningRate)) + 30;
      const ratio = mean(episodes.map((each) => each!)) / expected;
      expect(ratio).toBeGreaterThan(0.7);
      expect(ratio).toBeLessThan(1.3);
    }
  });

  it.each<Table & { slope: number }>([
    { optimizer: 'sgd', learningRate: 1, slope: 0.9 },
    { optimizer: 'sgd', learningRate: 4, slope: 0.87 },
    { optimizer: 'adam', learningRate: 0.1, slope: 0.7 },
  ])('needs about N^$slope episodes for N from 16 to 4096 with $optimizer $learningRate', ({ slope, ...table }) => {
    const points = sizes.map((N) => ({ x: N, y: medianOf(episodesOf({ kind: 'binary' }, N, table, 24)) }));
    expect(Math.abs(fitPowerLaw(points)!.slope - slope)).toBeLessThan(0.08);
  });

  it('needs about N episodes, more precisely for larger N', () => {
    const table: Table = { optimizer: 'sgd', learningRate: 1 };
    const points = [256, 1024, 4096].map((N) => ({
      x: N,
      y: medianOf(episodesOf({ kind: 'binary' }, N, table, 50)),
    }));
    const { slope } = fitPowerLaw(points)!;
    expect(slope).toBeGreaterThan(0.85);
    expect(slope).toBeLessThan(1.1);
  });
});

describe('a table of logits with distance rewards', () => {
  it('gets stuck on a neighbour: a finer reward teaches it no more than a coarse one', () => {
    const reached = (condition: LabCondition) =>
      episodesOf(condition, 256, { optimizer: 'sgd', learningRate: 1 }, 20).filter((each) => each !== null).length;
    expect(reached({ kind: 'binary' })).toBe(20);
    expect(reached({ kind: 'binned', bins: 8 })).toBeLessThan(16);
    expect(reached({ kind: 'log-distance' })).toBeLessThan(16);
  });
});

describe('a table with a logit for each bit', () => {
  it.each([
    { learningRate: 1, credit: 'stepwise', medians: [44, 48, 48, 44, 44] },
    { learningRate: 1, credit: 'to_go', medians: [44, 48, 48, 48, 48] },
    { learningRate: 1, credit: 'trajectory', medians: [48, 46, 46, 54, 60] },
    { learningRate: 4, credit: 'stepwise', medians: [8, 8, 8, 8, 8] },
  ] as const)('needs about $medians episodes, $credit at η = $learningRate', ({ learningRate, credit, medians }) => {
    sizes.forEach((N, index) => {
      const found = medianOf(episodesOf({ kind: 'dense', credit }, N, { optimizer: 'sgd', learningRate }, 50));
      expect(Math.abs(found / medians[index]! - 1)).toBeLessThan(0.25);
    });
  });

  it.each([
    { credit: 'stepwise', medians: [200, 204, 204, 200, 204] },
    { credit: 'to_go', medians: [232, 250, 272, 288, 304] },
    { credit: 'trajectory', medians: [268, 300, 344, 356, 392] },
  ] as const)('needs about $medians with Adam, $credit', ({ credit, medians }) => {
    sizes.forEach((N, index) => {
      const table: Table = { optimizer: 'adam', learningRate: 0.1 };
      expect(
        Math.abs(medianOf(episodesOf({ kind: 'dense', credit }, N, table, 30)) / medians[index]! - 1),
      ).toBeLessThan(0.1);
    });
  });

  it('cannot distinguish large steps of different bits when they share a reward', () => {
    const table: Table = { optimizer: 'sgd', learningRate: 4 };
    const found = (credit: 'stepwise' | 'trajectory', N: number) =>
      medianOf(episodesOf({ kind: 'dense', credit }, N, table, 30));
    expect(found('stepwise', 4096)).toBeLessThan(2 * found('stepwise', 16));
    expect(found('trajectory', 4096)).toBeGreaterThan(5 * found('trajectory', 16));
  });
});

it('does not learn from examples', () => {
  expect(episodesOf({ kind: 'sft' }, 16, { optimizer: 'sgd', learningRate: 1 }, 1)).toEqual([null]);
});

const change = fc.record({ arm: fc.nat(), by: fc.double({ min: -3, max: 3, noNaN: true }) });

it('draws from the softmax of its logits, whatever has been changed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.array(change), (size, changes) => {
      const choice = new WeightedChoice(size);
      const logits = new Array<number>(size).fill(0);
      for (const { arm, by } of changes) {
        choice.raise(arm % size, by);
        logits[arm % size]! += by;
      }
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
      let below = 0;
      logits.forEach((logit, arm) => {
        const probability = Math.exp(logit) / total;
        expect(choice.probability(arm)).toBeCloseTo(probability, 9);
        // The middle of the stretch of uniform numbers that belongs to the arm.
        if (probability > 1e-6) expect(choice.draw(below + probability / 2)).toBe(arm);
        below += probability;
      });
    }),
  );
});

it('is still exact after ten thousand changes there and back', () => {
  const choice = new WeightedChoice(7);
  for (let round = 0; round < 5000; round++) {
    choice.raise(round % 7, 12);
    choice.raise(round % 7, -12);
  }
  for (let arm = 0; arm < 7; arm++) expect(choice.probability(arm)).toBeCloseTo(1 / 7, 9);
});
