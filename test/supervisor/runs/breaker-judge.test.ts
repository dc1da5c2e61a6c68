import { describe, expect, it } from 'vitest';
import { bySeed, grid, morning, type Night, when } from './nights.js';

describe('what a breaker holds in a night of 60 runs', () => {
  it.each<Night & { what: string; done: number; alone: number; values: string[] }>([
    // `alone`: how many are done where nobody asks for the values.
    { what: 'one batch size does not fit', runs: grid, fails: when(({ batch }) => batch === 64), done: 30, alone: 4, values: ['batch=64'] }, // prettier-ignore
    { what: 'the same, seed by seed', runs: bySeed, fails: when(({ batch }) => batch === 64), done: 30, alone: 5, values: ['batch=64'] }, // prettier-ignore
    { what: 'one rate diverges at once', runs: grid, fails: when(({ lr }) => lr === 1), done: 48, alone: 48, values: ['lr=1'] }, // prettier-ignore
    { what: 'one rate with one seed', runs: bySeed, fails: when(({ lr, seed }) => lr === 1 && seed === 1), done: 56, alone: 38, values: [] }, // prettier-ignore
    { what: 'two values of two parameters', runs: bySeed, fails: when(({ lr, batch }) => lr === 1 || batch === 64), done: 24, alone: 5, values: ['batch=64'] }, // prettier-ignore
  ])('$what: the others are done by the morning', ({ runs, fails, done, alone, values }) => {
    expect(morning({ runs, fails }, false).done).toBe(alone);
    const told = morning({ runs, fails });
    expect(told).toMatchObject({ done, values, gpus: [] });
    expect(told.failed).toBeLessThanOrEqual(12);
    expect(told.done + told.failed + told.held).toBe(60);
  });

  it.each<Night & { what: string; alone: number; gpu: string }>([
    { what: 'is broken', runs: grid, fails: ({ gpu }) => (gpu === 3 ? 2 : null), alone: 7, gpu: 'GPU 3' },
    {
      what: 'is broken, seed by seed',
      runs: bySeed,
      fails: ({ gpu }) => (gpu === 3 ? 2 : null),
      alone: 7,
      gpu: 'GPU 3',
    },
    {
      what: 'is one of two',
      runs: bySeed,
      gpus: 2,
      fails: ({ gpu }) => (gpu === 0 ? 1 : null),
      alone: 1,
      gpu: 'GPU 0',
    },
    {
      what: 'breaks later',
      runs: grid,
      fails: ({ gpu, at }) => (gpu === 3 && at >= 7200 ? 2 : null),
      alone: 23,
      gpu: 'GPU 3',
    },
  ])(
    'a GPU that $what: it is held, and all but three runs are done on the others',
    ({ alone, gpu, what: _, ...night }) => {
      expect(morning(night, false).done).toBe(alone);
      expect(morning(night)).toMatchObject({ done: 57, failed: 3, held: 0, values: [], gpus: [gpu] });
    },
  );

  it('lets a GPU go that it held at first, once values explain all that failed on it', () => {
    // One run lasts on the first of two GPUs, while all that comes to the other one has the wrong batch size.
    const [first, ...others] = [grid[3]!, ...grid.filter((_, at) => at !== 3)];
    const runs = [first!, ...others];
    const told = morning({ runs, gpus: 2, fails: when(({ batch }) => batch === 64) });
    expect(told).toMatchObject({ done: 30, values: ['batch=64'], gpus: [] });
  });

  it.each<Night & { what: string }>([
    { what: 'a package is missing', runs: grid, fails: () => 2 },
    { what: 'a package is missing, seed by seed', runs: bySeed, fails: () => 2 },
    { what: 'a package is missing, on one GPU', runs: bySeed, gpus: 1, fails: () => 2 },
    { what: 'the disk is full after an hour', runs: grid, fails: ({ at }) => (at >= 3600 ? 1 : null) },
  ])('$what: the group is held after a few failures, and no GPU', ({ what: _, ...night }) => {
    const { failed, held, gpus } = morning(night);
    expect(failed).toBeLessThanOrEqual(20);
    expect(held).toBeGreaterThanOrEqual(30);
    expect(gpus).toEqual([]);
  });

  it('does not hold what fails by chance, one run in twenty', () => {
    const { done, failed, held, gpus } = morning({ runs: grid, fails: ({ draw }) => (draw() < 0.05 ? 5 : null) });
    expect([held, gpus]).toEqual([0, []]);
    expect(done + failed).toBe(60);
  });
});
