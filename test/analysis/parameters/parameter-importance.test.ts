import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Factor, factorSteps, type ParameterValue } from '../../../src/analysis/parameters/factors.js';
import {
  type Importance,
  importanceSteps,
  type ImportanceQuestion,
  type MeasuredRun,
} from '../../../src/analysis/parameters/parameter-importance.js';
import { atOnce, parameterImportance } from './at-once.js';
import { growTree } from '../../../src/analysis/parameters/regression-tree.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';
import {
  addToPairs,
  effectsOf,
  effectVariance,
  forestVariance,
  interactionVariance,
  levelShares,
  pairTable,
} from '../../../src/analysis/parameters/variance-decomposition.js';

type Point = Readonly<Record<string, ParameterValue>>;

const points = (count: number, names: string, seed = 7): Record<string, number>[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => Object.fromEntries([...names].map((name) => [name, random()])));
};
const grid = (sizes: Readonly<Record<string, number>>): Record<string, number>[] =>
  Object.entries(sizes).reduce<Record<string, number>[]>(
    (rows, [name, size]) =>
      rows.flatMap((row) => Array.from({ length: size }, (_, level) => ({ ...row, [name]: level }))),
    [{}],
  );
const gaussian = (seed: number) => {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
};
const runsOf = <P extends Point>(parameters: readonly P[], objective: (point: P) => number | null) =>
  parameters.map((point) => ({ parameters: point as MeasuredRun['parameters'], objective: objective(point) }));
const ask = (runs: readonly MeasuredRun[], more: Partial<ImportanceQuestion> = {}) =>
  parameterImportance({ runs, goal: 'minimize', ...more }, seededRandom(1));
const measure = (runs: readonly MeasuredRun[], more: Partial<ImportanceQuestion> = {}) => measured(ask(runs, more));
const measured = (answer: Importance) => {
  if (answer.kind !== 'measured') throw new Error(`not measured: ${answer.kind}`);
  return answer;
};
const parameter = (answer: Importance, name: string) =>
  measured(answer).parameters.find((effect) => effect.name === name)!;
const share = (answer: Importance, name: string) => parameter(answer, name).share;

describe('a tree that knows every point of a full grid', () => {
  const sizes = { a: 4, b: 3, c: 2 };
  const rows = grid(sizes);
  const { factors } = atOnce(factorSteps(rows, new Set()));
  const values = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 24, maxLength: 24 });

  it('has the main effects and the interactions of the classical analysis of variance', () => {
    fc.assert(
      fc.property(values, (y) => {
        const sample = { factors, y: Float64Array.from(y) };
        const tree = atOnce(growTree(sample, new Uint8Array(24).fill(1), { leafSize: 1, depth: 30 }));
        const shares = factors.map(levelShares);
        const { effects, variance } = effectsOf(tree, factors, shares);
        expect(variance).toBeCloseTo(varianceOf(y), 6);
        factors.forEach((factor, index) => {
          expect(effectVariance(effects[index]!, shares[index]!)).toBeCloseTo(varianceOf(means(y, [factor])), 6);
        });
        const table = pairTable([0, 2], shares);
        addToPairs([table], tree, 1, { factors, shares });
        const [a, c] = [factors[0]!, factors[2]!];
        const both = varianceOf(means(y, [a, c])) - varianceOf(means(y, [a])) - varianceOf(means(y, [c]));
        expect(interactionVariance(table, shares)).toBeCloseTo(both, 6);
        const total = forestVariance([tree], shares, seededRandom(1)).next();
        expect(total.done === true ? total.value : NaN).toBeCloseTo(varianceOf(y), 6);
      }),
    );
  });

  /** Of each run the mean over the runs that have the same levels of these factors. */
  function means(y: readonly number[], of: readonly Factor[]): number[] {
    return y.map((_, row) => {
      const like = y.filter((__, other) => of.every(({ codes }) => codes[other] === codes[row]));
      return like.reduce((sum, value) => sum + value, 0) / like.length;
    });
  }

  function varianceOf(y: readonly number[]): number {
    const mean = y.reduce((sum, value) => sum + value, 0) / y.length;
    return y.reduce((sum, value) => sum + (value - mean) ** 2, 0) / y.length;
  }
});

describe('the share of a parameter', () => {
  it('is its part of the variance of a sum', () => {
    // Uniform in [0, 1): the parts are as 16 : 4 : 1 : 0.
    const answer = measure(runsOf(points(400, 'abcd'), ({ a, b, c }) => 4 * a! + 2 * b! + c!));
    expect(answer.explained).toBeGreaterThan(0.95);
    expect(Math.abs(share(answer, 'a') - 16 / 21)).toBeLessThan(0.05);
    expect(Math.abs(share(answer, 'b') - 4 / 21)).toBeLessThan(0.05);
    expect(Math.abs(share(answer, 'c') - 1 / 21)).toBeLessThan(0.04);
    expect(share(answer, 'd')).toBeLessThan(0.01);
    expect(answer.parameters.map(({ name }) => name).slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  it('leaves to noise what is noise', () => {
    const noise = gaussian(3);
    // 21/12 of signal and as much noise: half of the variance is nobody's.
    const answer = measure(
      runsOf(points(500, 'abcd'), ({ a, b, c }) => 4 * a! + 2 * b! + c! + Math.sqrt(21 / 12) * noise()),
    );
    expect(answer.explained).toBeGreaterThan(0.35);
    expect(answer.explained).toBeLessThan(0.55);
    expect(Math.abs(share(answer, 'a') - 0.5 * (16 / 21))).toBeLessThan(0.1);
  });

  it('is none where two parameters work only together: the pair has it all', () => {
    const answer = measure(runsOf(points(400, 'abcd'), ({ a, b }) => (a! > 0.5 === b! > 0.5 ? 1 : 0)));
    for (const { share: own } of answer.parameters) expect(own).toBeLessThan(0.05);
    expect(answer.pairs[0]!.names).toEqual(['a', 'b']);
    expect(answer.pairs[0]!.share).toBeGreaterThan(0.7);
    expect(answer.pairs[1]!.share).toBeLessThan(0.05);
  });

  it.each([20, 100, 400])('is near nothing when the objective of %i runs is dealt out by chance', (count) => {
    const chance = seededRandom(11);
    const answer = measure(runsOf(points(count, 'abcd'), () => chance()));
    expect(answer.isNoise).toBe(true);
    for (const { share: own } of answer.parameters) expect(own).toBeLessThan(0.05);
  });

  it('does not depend on whether a number is tried by its size or by its logarithm', () => {
    const rows = points(100, 'ab');
    const score = ({ a, b }: Record<string, number>) => 3 * a! + b!;
    const plain = measure(runsOf(rows, score));
    const powers = rows.map(({ a, b }) => ({ a: 10 ** (-5 * (1 - a!)), b: b! }));
    const logarithmic = measure(runsOf(powers, ({ a, b }) => 3 * (1 + Math.log10(a) / 5) + b));
    expect(share(logarithmic, 'a')).toBeCloseTo(share(plain, 'a'), 9);
  });

  const drawn = fc.record({ seed: fc.integer(), count: fc.integer({ min: 8, max: 40 }) });
  const some = drawn.map(({ seed, count }) => {
    const noise = gaussian(seed);
    return runsOf(
      points(count, 'abc', seed).map(({ a, b, c }) => ({ a: Math.floor(a! * 4), b: b!, kind: c! > 0.5 ? 'x' : 'y' })),
      ({ a, b, kind }) => a + b * (kind === 'x' ? 2 : 1) + noise(),
    );
  });

  it('does not depend on the order of the runs', () => {
    fc.assert(
      fc.property(some, fc.integer(), (runs, seed) => {
        const random = seededRandom(seed);
        const mixed = runs.map((run) => ({ run, at: random() })).sort((x, y) => x.at - y.at);
        expect(ask(mixed.map(({ run }) => run))).toEqual(ask(runs));
      }),
      { numRuns: 20 },
    );
  });

  it('does not depend on the unit of the objective, nor on its zero', () => {
    const factor = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(some, factor, fc.double({ min: -100, max: 100, noNaN: true }), (runs, scale, zero) => {
        const other = measure(
          runs.map(({ parameters, objective }) => ({ parameters, objective: zero + scale * objective! })),
        );
        const answer = measure(runs);
        for (const { name, share: own } of answer.parameters) expect(share(other, name)).toBeCloseTo(own, 5);
      }),
      { numRuns: 20 },
    );
  });

  it('is at most what the forest explains, all of them together', () => {
    fc.assert(
      fc.property(some, (runs) => {
        const { parameters, pairs, explained } = measure(runs);
        const sum = [...parameters, ...pairs].reduce((total, part) => total + part.share, 0);
        expect(sum).toBeLessThanOrEqual(explained + 1e-9);
      }),
      { numRuns: 20 },
    );
  });
});

describe('what is said of a parameter', () => {
  const rows = points(120, 'abc').map(({ a, b, c }) => ({
    rising: a!,
    valley: b!,
    kind: c! < 1 / 3 ? 'x' : c! < 2 / 3 ? 'y' : 'z',
  }));
  const score = (point: (typeof rows)[number]) =>
    point.rising + 4 * (point.valley - 0.5) ** 2 + (point.kind === 'y' ? -1 : 0);

  it('where it leads, and where it is best', () => {
    const answer = measure(runsOf(rows, score));
    expect(parameter(answer, 'rising').trend).toBe('up');
    expect(parameter(answer, 'valley').trend).toBe('mixed');
    expect(parameter(answer, 'kind').trend).toBe('unordered');
    expect(parameter(answer, 'kind').best).toMatchObject({ value: 'y', ties: [], runs: 1, usual: 1 });
    const bestRow = rows.toSorted((a, b) => score(a) - score(b))[0]!;
    expect(parameter(answer, 'valley').best?.value).toBe(bestRow.valley);
    const turned = measure(runsOf(rows, (point) => -score(point)));
    expect(parameter(turned, 'rising').trend).toBe('down');
  });

  it('no best value where nobody says which end is best', () => {
    expect(parameter(measure(runsOf(rows, score), { goal: null }), 'kind').best).toBeNull();
    expect(parameter(measure(runsOf(rows, score), { goal: 'maximize' }), 'kind').best).not.toMatchObject({
      value: 'y',
    });
  });

  it('the mean objective at each of its values, in its own unit', () => {
    const { curve } = parameter(measure(runsOf(grid({ a: 3, b: 4, c: 4 }), ({ a }) => 10 * a!)), 'a');
    expect(curve.map(({ level, runs }) => [level.kind === 'value' ? level.value : NaN, runs])).toEqual([
      [0, 16],
      [1, 16],
      [2, 16],
    ]);
    curve.forEach(({ mean }, index) => expect(mean).toBeCloseTo(10 * index, 6));
  });

  it('not being passed is a value', () => {
    const some = rows.map(({ rising }, index) => (index % 2 === 0 ? { rising } : { rising, dropout: 0.1 }));
    const effect = parameter(measure(runsOf(some, (point) => ('dropout' in point ? 1 : 0) + point.rising)), 'dropout');
    expect(effect.curve.map(({ level }) => level)).toEqual([
      { kind: 'value', value: 0.1 },
      { kind: 'value', value: undefined },
    ]);
    expect(effect).toMatchObject({ runs: 60 });
    expect(effect.share).toBeGreaterThan(0.5);
  });

  it('that it always changes together with another', () => {
    const tied = grid({ N: 3, b: 4, a: 3 }).map(({ a, b, N }) => ({ a: a!, b: b!, N: N!, batch: [64, 16, 32][N!]! }));
    const answer = measure(runsOf(tied, ({ N, b }) => N + b));
    expect(answer.parameters.map(({ name, aliases }) => [name, aliases])).toContainEqual(['N', ['batch']]);
    expect(answer.parameters).toHaveLength(3);
  });

  it('that it has one value, or too many texts', () => {
    const odd = points(40, 'a').map(({ a }, index) => ({ a: a!, fixed: 3, output: `runs/${index}` }));
    expect(ask(runsOf(odd, ({ a }) => a)).leftOut).toEqual([
      { name: 'fixed', reason: 'one value' },
      { name: 'output', reason: 'too many texts' },
    ]);
  });
});

describe('seeds', () => {
  const noise = gaussian(5);
  const rows = grid({ a: 4, b: 3, seed: 5 });
  const runs = runsOf(rows, ({ a, b }) => a! + b! + noise());

  it('are chance, not parameters: runs that differ in them alone say how large it is', () => {
    const answer = measure(runs);
    expect(answer.parameters.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    expect(answer.noise).toMatchObject({ settings: 12, runs: 60 });
    // 1 of 1 + 5/4 + 2/3.
    expect(Math.abs(answer.noise!.share - 1 / 2.92)).toBeLessThan(0.12);
    expect(answer.explained).toBeLessThan(1 - answer.noise!.share + 0.1);
  });

  it.each<{ what: string; of: (run: (typeof runs)[number], index: number) => MeasuredRun; noise: object | null }>([
    {
      what: 'nothing of the same run twice',
      of: ({ parameters, objective }) => ({ parameters: { ...parameters, seed: 0 }, objective }),
      noise: null,
    },
    {
      what: 'nothing of runs without seeds',
      of: ({ parameters: { a, b }, objective }) => ({ parameters: { a: a!, b: b! }, objective }),
      noise: null,
    },
    {
      what: 'nothing where something else differs',
      of: ({ parameters, objective }, index) => ({ parameters: { ...parameters, name: index }, objective }),
      noise: null,
    },
    {
      what: 'nothing of runs of different groups',
      of: (run, index) => ({ ...run, group: String(index) }),
      noise: null,
    },
    {
      what: 'as much where what differs is computed from the seed',
      of: ({ parameters, objective }) => ({
        parameters: { ...parameters, secret: 7 * Number(parameters['seed']) },
        objective,
      }),
      noise: { settings: 12, runs: 60 },
    },
    {
      what: 'as much where each run is there twice, in one group',
      of: (run) => run,
      noise: { settings: 12, runs: 60 },
    },
  ])('say $what', ({ what, of, noise: expected }) => {
    const twice = what.includes('twice, in')
      ? runs.flatMap((run) => [
          { ...run, group: 'A' },
          { ...run, group: 'A' },
        ])
      : runs;
    const { noise: found } = measure(twice.map(of), { fromSeeds: ['secret'] });
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });

  it('and what is computed from them are no parameters', () => {
    const secret = runs.map(({ parameters, objective }) => ({
      parameters: { ...parameters, secret: 7 * Number(parameters['seed']) },
      objective,
    }));
    expect(
      measure(secret, { fromSeeds: ['secret'] })
        .parameters.map(({ name }) => name)
        .sort(),
    ).toEqual(['a', 'b']);
  });
});

describe('the best value of a parameter', () => {
  /** Losses over the seeds of each learning rate. */
  const over = (losses: Readonly<Record<string, readonly number[]>>): MeasuredRun[] =>
    Object.entries(losses).flatMap(([lr, values]) =>
      values.map((objective, seed) => ({ parameters: { lr: Number(lr), seed }, objective })),
    );
  const diverging = {
    '0.01': [1.35, 1.3, 1.4],
    '0.05': [0.06, 0.061, 0.059],
    '0.1': [0.03, 0.031, 0.029],
    '0.2': [0.015, 0.016, 0.014],
    '1': [1.8e20, 1.7e20, 1.9e20],
  };

  it.each<{ where: string; losses: Record<string, number[]>; goal?: 'minimize' | 'maximize'; best: object }>([
    {
      where: 'one setting diverged',
      losses: diverging,
      best: { value: 0.2, ties: [], median: 0.015, runs: 3, usual: 3 },
    },
    {
      where: 'more is better',
      losses: { '1': [1, 2, 3], '2': [7, 8, 9], '3': [4, 5, 6] },
      goal: 'maximize',
      best: { value: 2, median: 8 },
    },
    {
      where: 'a setting had a lucky seed',
      losses: { '1': [1, 1.1, 0.9], '2': [0.01, 5, 6], '3': [2, 2, 2] },
      best: { value: 1, median: 1 },
    },
    {
      where: 'most seeds of a setting broke',
      losses: { '1': [1, 1.1, 0.9], '2': [0.01, NaN, Infinity], '3': [2, 2, 2] },
      best: { value: 1 },
    },
    {
      where: 'a setting went to minus infinity',
      losses: { '1': [1, 1.1, 0.9], '2': [-Infinity, -Infinity, -Infinity], '3': [2, 2, 2] },
      best: { value: 1 },
    },
    {
      where: 'it has fewer seeds',
      losses: { '1': [1, 1.1, 0.9], '2': [0.5], '3': [2, 2, 2], '4': [3, 3, 3] },
      best: { value: 2, runs: 1, usual: 3 },
    },
    {
      where: 'two settings cannot be told apart',
      losses: { '1': [1, 1.3, 0.7], '2': [1.05, 1.2, 0.9], '3': [2, 2, 2] },
      best: { value: 1, ties: [2] },
    },
    {
      where: 'two settings are alike in three digits',
      losses: { '1': [0.010001, 0.010001, 0.010001], '2': [0.01, 0.01, 0.01], '3': [2, 2, 2] },
      best: { value: 2, ties: [1] },
    },
  ])('is that of the best median over seeds where $where', ({ losses, goal = 'minimize', best }) => {
    // More of them, so that there is something to say; none is better.
    const others = Object.fromEntries(
      [11, 12, 13].map((lr) => [lr, [10, 11, 12].map((loss) => (goal === 'minimize' ? loss : -loss))]),
    );
    expect(parameter(measure(over({ ...losses, ...others }), { goal }), 'lr').best).toMatchObject(best);
  });

  it('is not there where every setting broke', () => {
    const runs = over({
      '1': [1, NaN, NaN],
      '2': [2, NaN, NaN],
      '3': [3, NaN, NaN],
      '4': [4, NaN, NaN],
      '5': [5, NaN, NaN],
    });
    const more = over({ '6': [1, NaN, NaN], '7': [2, NaN, NaN], '8': [3, NaN, NaN] });
    expect(parameter(measure([...runs, ...more]), 'lr').best).toBeNull();
  });

  it('and the shares are those of the order of the runs where values span decades', () => {
    expect(measure(over(diverging)).scale).toBe('rank');
    expect(measure(over({ ...diverging, '1': [2, 2, 2] })).scale).toBe('value');
    expect(measure(over(diverging), { scale: 'value' }).scale).toBe('value');
  });
});

describe('where nothing can be said', () => {
  const runs = runsOf(points(20, 'ab'), ({ a }) => a!);

  it.each([
    { what: 'too few runs', asked: runs.slice(0, 7), kind: 'too few runs' },
    { what: 'one objective in all runs', asked: runsOf(points(20, 'ab'), () => 0.1), kind: 'one objective' },
    {
      what: 'no parameter that varies',
      asked: runsOf(points(20, ''), () => 1).map((run, objective) => ({ ...run, objective })),
      kind: 'no parameter',
    },
  ])('$what', ({ asked, kind }) => {
    expect(ask(asked).kind).toBe(kind);
  });

  it('counts the runs without a finite value, and leaves them out', () => {
    const odd = [NaN, Infinity, -Infinity, null].map((objective) => ({ parameters: { a: 5, b: 5 }, objective }));
    const answer = measure([...runs, ...odd]);
    expect(answer.counts).toEqual({ finite: 20, nan: 1, infinite: 2, none: 1 });
    expect(answer.parameters).toEqual(measure(runs).parameters);
  });

  it('lets the order count alone, where a few runs diverged', () => {
    const rows = points(200, 'ab');
    const diverged = runsOf(rows, ({ a, b }) => (b! > 0.97 ? 1e12 * b! : a!));
    expect(share(ask(diverged, { scale: 'rank' }), 'a')).toBeGreaterThan(0.7);
    expect(share(ask(diverged), 'a')).toBeGreaterThan(0.7);
    expect(share(ask(diverged, { scale: 'value' }), 'a')).toBeLessThan(0.1);
  });
});

it('goes on in steps, and ends where it would have without them', () => {
  const runs = runsOf(points(30, 'ab'), ({ a, b }) => a! * b!);
  const steps = importanceSteps({ runs, goal: null }, seededRandom(1));
  const done: number[] = [];
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) done.push(step.value);
  expect(done.length).toBeGreaterThan(64);
  expect(done).toEqual(done.toSorted((x, y) => x - y));
  expect(done.at(-1)).toBeLessThanOrEqual(1);
  expect(step.value).toEqual(ask(runs, { goal: null }));
});
