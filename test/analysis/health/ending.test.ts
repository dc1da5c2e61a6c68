import { describe, expect, it } from 'vitest';
import { EndedSiblings, type Ending, endingOf, judgedMetric } from '../../../src/analysis/health/ending.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

const ended = (better: 1 | -1, ...values: number[]): Ending =>
  endingOf({ metric: better === 1 ? 'reward' : 'loss', better }, null, () => values)!;
const loss = (...values: number[]): Ending => ended(-1, ...values);
const reward = (...values: number[]): Ending => ended(1, ...values);
const markOf = (own: Ending, ...siblings: Ending[]) => new EndedSiblings([own, ...siblings]).markOf(own);

/** So many values between two, evenly. */
const line = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, place) => from + ((to - from) * place) / (count - 1));
const powers = (count: number, factor: number): number[] =>
  Array.from({ length: count }, (_, place) => factor ** place);

function noise(count: number, around: number, deviation: number, seed = 1): number[] {
  const random = seededRandom(seed);
  return Array.from(
    { length: count },
    () => around + deviation * (random() + random() + random() + random() - 2) * 1.73,
  );
}

describe('a run that has ended', () => {
  const good = [loss(...line(40, 10, 1)), loss(...line(40, 9, 1.2)), loss(...line(40, 11, 0.9))];
  it.each<{ whose: string; own: Ending; siblings?: Ending[]; word: string | null }>([
    { whose: 'loss fell', own: loss(...line(40, 10, 1)), word: null },
    { whose: 'loss grew to 8e78 in 40 steps', own: loss(...powers(40, 105)), word: 'diverged' },
    { whose: 'loss grew to 1e20 in five steps', own: loss(1.3, 2e3, 1e9, 4e14, 1e20), word: 'diverged' },
    { whose: 'loss grew to 1e20 in two steps', own: loss(1.3, 1e20), word: 'diverged' },
    { whose: 'only loss is 1e20, and nobody knows others', own: loss(1e20), word: null },
    {
      whose: 'only loss is 1e20, where those of others are about 1',
      own: loss(1e20),
      siblings: good,
      word: 'diverged',
    },
    { whose: 'loss was 1e20 from the first', own: loss(...noise(40, 1e20, 1e18)), siblings: good, word: 'diverged' },
    { whose: 'loss is infinite at the end', own: loss(3, 2, 1, Infinity), word: 'diverged' },
    { whose: 'loss was infinite for a moment', own: loss(3, Infinity, 1, 0.5), word: null },
    { whose: 'loss is NaN at the end', own: loss(3, 2, 1, Number.NaN), word: 'nan' },
    { whose: 'loss exploded at its last tenth', own: loss(...line(90, 10, 1), ...powers(10, 30)), word: 'diverged' },
    { whose: 'last loss is a spike', own: loss(...line(100, 10, 1), 5e6), word: null },
    { whose: 'loss rose above its start', own: loss(...line(40, 10, 1), ...line(40, 1, 15)), word: 'diverged' },
    { whose: 'loss rose to less than it had gained', own: loss(...line(40, 10, 1), ...line(40, 1, 6)), word: null },
    {
      whose: 'loss rose so while those of others stayed low',
      own: loss(...line(40, 10, 1), ...line(40, 1, 6)),
      siblings: good,
      word: 'diverged',
    },
    {
      whose: 'loss rose a little (overfitting)',
      own: loss(...line(40, 10, 1), ...line(40, 1, 2)),
      siblings: good,
      word: null,
    },
    {
      whose: 'loss falls slowly, where those of others came to the last digit',
      own: loss(...powers(40, 0.95).map((value) => 25 * value)),
      siblings: [0.3, 0.28, 0.32].map((factor) => loss(...powers(40, factor).map((value) => 25 * value))),
      word: null,
    },
    { whose: 'loss fell from 1e20 to 1e12', own: loss(...line(40, 1e20, 1e12)), word: null },
    {
      whose: 'loss rises slowly after its best (overfitting), and nobody knows others',
      own: loss(...line(40, 0.7, 0.6), ...line(40, 0.6, 0.74)),
      word: null,
    },
    { whose: 'success is 0 or 1 by chance, of ten values', own: reward(1, 0, 1, 1, 0, 1, 1, 0, 0, 0), word: null },
    { whose: 'loss is noise', own: loss(...noise(200, 5, 2)), siblings: good, word: null },
    { whose: 'reward is noise around 0, of ten values', own: reward(...noise(10, 0, 1)), word: null },
    { whose: 'reward rose', own: reward(...line(60, 0, 1)), word: null },
    {
      whose: 'reward fell to nothing after it had been good',
      own: reward(...line(60, 0, 1), ...noise(60, 0.02, 0.01)),
      word: 'collapsed',
    },
    {
      whose: 'reward fell to nothing in ten epochs',
      own: reward(0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.86, 0.1, 0.05, 0.05),
      word: 'collapsed',
    },
    {
      whose: 'reward fell to half, while those of others did not',
      own: reward(...line(60, 0, 1), ...noise(60, 0.45, 0.02)),
      siblings: [reward(...line(60, 0, 1)), reward(...line(60, 0.1, 0.9))],
      word: 'collapsed',
    },
    {
      whose: 'reward fell to nothing like those of all others',
      own: reward(...line(60, 0, 1), ...noise(60, 0.02, 0.01)),
      siblings: [2, 3].map((seed) => reward(...line(60, 0, 1), ...noise(60, 0.02, 0.01, seed))),
      word: 'collapsed',
    },
  ])('whose $whose: $word', ({ own, siblings = [], word }) => {
    expect(markOf(own, ...siblings)?.word ?? null).toBe(word);
  });

  it('tells the last value, the best one, and what others came to', () => {
    expect(markOf(loss(1.3, 2e3, 1e9, 4e14, 1.8e20), loss(2, 1), loss(2, 1.5))!.reason).toBe(
      'loss 1.80e20, at its best 1.30, others 1',
    );
    expect(markOf(loss(1e20), ...good)!.reason).toBe('loss 1.00e20, others 1.35');
    expect(markOf(loss(2, -Infinity))!.reason).toBe('loss is infinite');
  });

  it('has nothing to be judged by where it has written nothing', () => {
    expect(endingOf({ metric: 'loss', better: -1 }, 'loss', () => [])).toBeNull();
    expect(endingOf(null, 'loss', () => [1])).toBeNull();
  });
});

describe('what a run is judged by', () => {
  const objective = { name: 'val_loss', goal: 'minimize' } as const;
  it.each([
    [objective, 'reward', { metric: 'val_loss', better: -1 }],
    [null, 'reward', { metric: 'reward', better: 1 }],
    [null, 'eval/perplexity', { metric: 'eval/perplexity', better: -1 }],
    [null, 'bits_per_byte', { metric: 'bits_per_byte', better: -1 }],
    [null, 'test/bits/known_raw_mean', { metric: 'test/bits/known_raw_mean', better: 1 }],
    [null, 'entropy', null],
    [null, null, null],
  ])('is its objective, or what stands for it if its name tells the direction: %o, %s', (said, standing, judged) => {
    expect(judgedMetric(said, standing)).toEqual(judged);
  });
});

describe('a run that is judged by its accuracy, and has a loss', () => {
  const judged = { metric: 'eval/acc', better: 1 } as const;
  const both = (acc: number[], values: number[]) =>
    endingOf(judged, 'train/loss', (metric) => (metric === 'eval/acc' ? acc : values))!;
  const well = Array.from({ length: 4 }, (_, seed) => both(noise(40, 0.9, 0.01, seed + 1), line(40, 2, 0.1)));
  const word = (own: Ending) => new EndedSiblings([...well, own]).markOf(own)?.word ?? null;

  it('has diverged where its loss exploded, in the same word for each seed, whatever its accuracy did', () => {
    const seeds = Array.from({ length: 20 }, (_, seed) =>
      both(noise(40, seed < 3 ? 0.1 : 0.5, 0.05, seed + 9), line(40, 2, 1e22 * (seed + 1))),
    );
    const siblings = new EndedSiblings([...well, ...seeds]);
    expect(seeds.map((own) => siblings.markOf(own)?.word)).toEqual(Array(20).fill('diverged'));
    expect(siblings.markOf(seeds[0]!)?.reason).toContain('train/loss');
    expect(well.map((own) => siblings.markOf(own))).toEqual(Array(4).fill(null));
  });

  it('is nan where its loss is', () => {
    expect(word(both(line(40, 0, 0.9), [...line(39, 2, 0.1), Number.NaN]))).toBe('nan');
  });

  it('is well where its loss only rose by overfitting', () => {
    expect(word(both(line(40, 0.2, 0.9), [...line(20, 2, 0.5), ...line(20, 0.5, 4)]))).toBeNull();
  });

  it('is well where its loss is that of a policy: 0 and what rounding adds to it at first, then a pull that grows', () => {
    expect(word(both(line(40, 0.2, 0.9), [1.7e-16, ...line(39, 0.003, 0.02)]))).toBeNull();
  });

  it('has collapsed where its accuracy alone did', () => {
    expect(word(both([...line(30, 0.1, 0.9), ...line(10, 0.9, 0.1)], line(40, 2, 0.1)))).toBe('collapsed');
  });
});
