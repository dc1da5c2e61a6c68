import { describe, expect, it } from 'vitest';
import { divergenceOf, levelsOf, type Levels } from '../../../src/analysis/health/divergence.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

/** Values of a curve given as corners (step, value), with noise of that deviation around it. */
function curve(corners: readonly (readonly [number, number])[], noise = 0, seed = 1): { x: number[]; y: number[] } {
  const random = seededRandom(seed);
  const last = corners.at(-1)![0];
  const x = Array.from({ length: last + 1 }, (_, step) => step);
  const y = x.map((step) => valueAt(corners, step) + noise * (random() + random() + random() + random() - 2) * 1.73);
  return { x, y };
}

function valueAt(corners: readonly (readonly [number, number])[], step: number): number {
  const next = Math.max(
    1,
    corners.findIndex(([at]) => at >= step),
  );
  const [[from, low], [to, high]] = [corners[next - 1]!, corners[next]!];
  return low + ((high - low) * (step - from)) / (to - from);
}

const losses = (corners: [number, number][], noise = 0, seed = 1): Levels => levelsOf(curve(corners, noise, seed), -1)!;
const rewards = (corners: [number, number][], noise = 0, seed = 1): Levels => levelsOf(curve(corners, noise, seed), 1)!;
const good = (seed: number) =>
  losses(
    [
      [0, 10],
      [300, 2],
      [1000, 1.5],
    ],
    0.2,
    seed,
  );
const goodSiblings = [good(1), good(2), good(3)];

describe('a run', () => {
  it.each<{ whose: string; own: Levels; siblings?: Levels[]; diverges: boolean }>([
    { whose: 'loss falls', own: good(7), diverges: false },
    { whose: 'loss falls like those of its siblings', own: good(7), siblings: goodSiblings, diverges: false },
    {
      whose: 'loss falls, and then explodes',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [400, 1e6],
          [500, 1e6],
        ],
        0.2,
      ),
      diverges: true,
    },
    {
      whose: 'loss rises to more than half of what it began with, while others fall',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [400, 7],
          [500, 7],
        ],
        0.2,
      ),
      siblings: goodSiblings,
      diverges: true,
    },
    {
      whose: 'loss rises so, and nobody is there to compare it with',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [400, 7],
          [500, 7],
        ],
        0.2,
      ),
      diverges: false,
    },
    {
      whose: 'loss rises as those of its siblings did, at a harder task',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [400, 8],
          [500, 8],
        ],
        0.2,
      ),
      siblings: [1, 2].map((seed) =>
        losses(
          [
            [0, 10],
            [300, 2],
            [400, 8],
            [600, 8],
            [800, 2],
          ],
          0.2,
          seed,
        ),
      ),
      diverges: false,
    },
    {
      whose: 'loss rises a little after its best (overfitting)',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [1000, 3],
        ],
        0.2,
      ),
      siblings: goodSiblings,
      diverges: false,
    },
    {
      whose: 'loss is all noise',
      own: losses(
        [
          [0, 5],
          [1000, 5],
        ],
        2,
      ),
      siblings: goodSiblings,
      diverges: false,
    },
    {
      whose: 'loss had a spike that is over',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [310, 500],
          [320, 2],
          [1000, 2],
        ],
        0.2,
      ),
      siblings: goodSiblings,
      diverges: false,
    },
    {
      whose: 'last values are one spike',
      own: losses(
        [
          [0, 10],
          [300, 2],
          [1000, 2],
          [1004, 900],
        ],
        0.2,
      ),
      diverges: false,
    },
    {
      whose: 'loss never fell, and grows without bound',
      own: losses(
        [
          [0, 2],
          [100, 2],
          [500, 400],
        ],
        0.1,
      ),
      diverges: true,
    },
    {
      whose: 'loss moves by a thousandth',
      own: losses([
        [0, 0.693],
        [300, 0.692],
        [600, 0.694],
      ]),
      diverges: false,
    },
    {
      whose: 'reward rises',
      own: rewards(
        [
          [0, 0],
          [1000, 1],
        ],
        0.3,
      ),
      diverges: false,
    },
    {
      whose: 'reward collapses below its start',
      own: rewards(
        [
          [0, 0.2],
          [200, 1],
          [250, 0],
          [1000, 0],
        ],
        0.02,
      ),
      diverges: true,
    },
    {
      whose: 'reward collapses, while those of others do not',
      own: rewards(
        [
          [0, 0.2],
          [500, 1],
          [600, 0.3],
          [1000, 0.3],
        ],
        0.05,
      ),
      siblings: [1, 2].map((seed) =>
        rewards(
          [
            [0, 0.2],
            [500, 1],
            [1000, 1],
          ],
          0.05,
          seed,
        ),
      ),
      diverges: true,
    },
    {
      whose: 'reward goes up and down all the time',
      own: rewards([
        [0, 0],
        [100, 1],
        [200, 0],
        [300, 1],
        [400, -0.2],
        [450, -0.2],
      ]),
      diverges: false,
    },
  ])('whose $whose diverges: $diverges', ({ own, siblings = [], diverges }) => {
    expect(divergenceOf('loss', own, () => siblings, false) !== null).toBe(diverges);
  });

  it('tells what it has come to, what it had, and what others have', () => {
    const own = losses([
      [0, 10],
      [300, 2],
      [400, 7],
      [500, 7],
    ]);
    const others = [1, 2].map(() =>
      losses([
        [0, 10],
        [300, 2],
        [1000, 2],
      ]),
    );
    expect(divergenceOf('val/loss', own, () => others, false)?.reason).toMatch(
      /^val\/loss 7, at its best 2\.\d+, others 2$/,
    );
    const reward = rewards([
      [0, 0.2],
      [200, 1],
      [250, 0],
      [1000, 0],
    ]);
    expect(divergenceOf('reward', reward, () => [], false)?.reason).toMatch(/^reward 0, at its best 0\.\d+$/);
  });

  it('that diverges does so until it is halfway back', () => {
    const siblings = [1, 2].map((seed) =>
      losses(
        [
          [0, 10],
          [300, 2],
          [1000, 2],
        ],
        0,
        seed,
      ),
    );
    const halfBack = losses([
      [0, 10],
      [300, 2],
      [400, 9],
      [600, 5.5],
      [650, 5.5],
    ]);
    expect(divergenceOf('loss', halfBack, () => siblings, false)).toBeNull();
    expect(divergenceOf('loss', halfBack, () => siblings, true)).not.toBeNull();
    const back = losses([
      [0, 10],
      [300, 2],
      [400, 9],
      [600, 3],
      [650, 3],
    ]);
    expect(divergenceOf('loss', back, () => siblings, true)).toBeNull();
  });
});

describe('the levels of a series', () => {
  it('are not there for a few values', () => {
    expect(levelsOf({ x: [1, 2, 3], y: [1, 2, 3] }, 1)).toBeNull();
  });

  it('leave out what is no number, and are not moved by outliers', () => {
    const y = Array.from({ length: 320 }, (_, index) => (index % 10 === 5 ? 1e9 : index % 10 === 6 ? Number.NaN : 2));
    const levels = levelsOf({ x: y.map((_, index) => index), y }, -1)!;
    expect(levels.level).toHaveLength(32);
    expect(new Set(levels.level)).toEqual(new Set([2]));
  });

  it('tell shares of two values apart', () => {
    const random = seededRandom(3);
    const y = Array.from({ length: 3200 }, (_, index) => (random() < (index < 1600 ? 0.4 : 0.6) ? 1 : 0));
    const { level } = levelsOf({ x: y.map((_, index) => index), y }, 1)!;
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(level.slice(16)) - mean(level.slice(0, 16))).toBeGreaterThan(0.2);
  });
});
