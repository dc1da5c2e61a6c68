import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarise } from '../../../../src/lab/study/memory/summary.js';
import type { MemoryTask } from '../../../../src/lab/environments/memory/task.js';
import { fitPowerLaw, scalings } from '../../../../src/lab/study/memory/scaling.js';
import type { Verdict } from '../../../../src/lab/study/memory/verdict.js';

const binary = (N: number): MemoryTask => ({ condition: { kind: 'binary' }, N, secret: 3, perStep: 4 });
const memorised = (episodes: number): Verdict => ({ kind: 'memorised', step: episodes / 4, episodes, resolution: 40 });
const stuck: Verdict = { kind: 'stuck', answer: 4, bits: -9, episodes: 80_000 };
const censored: Verdict = { kind: 'censored', bits: 1, episodes: 80_000 };
const row = (N: number, ...verdicts: Verdict[]) => summarise({ group: 'B', task: binary(N), extra: {}, verdicts });

const near = (value: number) => expect.closeTo(value) as number;

describe('the summary over seeds', () => {
  it('gives median, range and bits per episode over the seeds that memorised', () => {
    const summary = row(1024, memorised(800), memorised(2000), memorised(1000));
    expect(summary).toMatchObject({
      seeds: 3,
      counts: { memorised: 3, stuck: 0 },
      episodes: { median: 1000, least: 800, most: 2000 },
      medianOfAll: 1000,
      steps: 250,
      budget: null,
      resolution: 40,
      bitsPerEpisode: { kind: 'measured', bits: 0.01 },
    });
  });

  it.each<{ what: string; verdicts: Verdict[]; medianOfAll: number | null; bits: object | null }>([
    {
      what: 'one of three missed',
      verdicts: [memorised(400), memorised(800), stuck],
      medianOfAll: 800,
      bits: { kind: 'measured', bits: 0.0125 },
    },
    {
      what: 'most missed',
      verdicts: [memorised(400), censored, stuck],
      medianOfAll: Infinity,
      bits: { kind: 'below', bits: 10 / 80_000 },
    },
    {
      what: 'half missed',
      verdicts: [memorised(400), stuck],
      medianOfAll: Infinity,
      bits: { kind: 'below', bits: 10 / 80_000 },
    },
    {
      what: 'none has ended',
      verdicts: [{ kind: 'running', bits: 1, episodes: 400 }, { kind: 'queued' }],
      medianOfAll: null,
      bits: null,
    },
    {
      what: 'a failed run is left out',
      verdicts: [memorised(500), { kind: 'unfinished', state: 'failed', bits: 0, episodes: 9 }],
      medianOfAll: 500,
      bits: { kind: 'measured', bits: 0.02 },
    },
    { what: 'all knew it from the start', verdicts: [memorised(0)], medianOfAll: 0, bits: null },
  ])('counts misses as infinite: $what', ({ verdicts, medianOfAll, bits }) => {
    expect(row(1024, ...verdicts)).toMatchObject({ medianOfAll, bitsPerEpisode: bits });
  });

  it('has no median when no seed memorised', () => {
    expect(row(1024, stuck)).toMatchObject({ episodes: null, steps: null, resolution: null, budget: 80_000 });
  });
});

describe('the growth with N', () => {
  it('is the slope through the medians', () => {
    const [law] = scalings([16, 64, 256].map((N) => row(N, memorised(10 * N ** 0.75))));
    expect(law).toMatchObject({ group: 'B', condition: 'binary', leftOut: [] });
    expect([law!.law.slope, law!.law.factor, law!.law.r2, law!.law.points]).toEqual([near(0.75), near(10), near(1), 3]);
  });

  it('lists the sizes that could not be fitted', () => {
    const rows = [row(16, memorised(100)), row(64, memorised(400)), row(256, stuck), row(1024, { kind: 'queued' })];
    expect(scalings(rows)).toMatchObject([{ law: { slope: near(1), points: 2 }, leftOut: [256] }]);
  });

  it('needs two sizes', () => {
    expect(scalings([row(16, memorised(100)), row(64, stuck)])).toEqual([]);
  });

  it('is fitted for each condition', () => {
    const other = (N: number) => summarise({ group: 'B', task: binary(N), extra: { lr: 1 }, verdicts: [memorised(N)] });
    expect(
      scalings([row(16, memorised(16)), other(16), row(64, memorised(16)), other(64)]).map(({ law }) => law.slope),
    ).toEqual([0, 1]);
  });
});

describe('the interval of a slope', () => {
  it('is the slope itself when all seeds agree, and unknown for fewer than three', () => {
    const alike = (count: number) =>
      scalings([16, 64, 256].map((N) => row(N, ...new Array<Verdict>(count).fill(memorised(10 * N ** 0.5)))))[0]!;
    expect(alike(3).slope95).toEqual([near(0.5), near(0.5)]);
    expect(alike(2).slope95).toBeNull();
  });

  it('contains the slope', () => {
    const noise = [0.5, 0.8, 1, 1.3, 2];
    const [{ slope95, law }] = scalings([16, 4096].map((N) => row(N, ...noise.map((by) => memorised(N * by))))) as [
      ReturnType<typeof scalings>[0],
    ];
    expect(law.slope).toBeCloseTo(1);
    // The medians of a sample lie between half and twice the true ones.
    const most = Math.log(4) / Math.log(4096 / 16);
    expect(slope95![0]).toBeGreaterThanOrEqual(1 - most);
    expect(slope95![0]).toBeLessThan(0.95);
    expect(slope95![1]).toBeGreaterThan(1.05);
    expect(slope95![1]).toBeLessThanOrEqual(1 + most);
  });

  it('resamples seeds that did not memorise as infinite, and leaves out sizes with an infinite median', () => {
    const some = (N: number) => row(N, memorised(N), memorised(2 * N), memorised(3 * N), stuck, stuck);
    const [law] = scalings([16, 64, 256].map(some));
    expect(law!.slope95!.every(Number.isFinite)).toBe(true);
    expect(law!.slope95![1]).toBeGreaterThan(law!.slope95![0]);
  });
});

describe('the fit of a power law', () => {
  it('agrees with a fit computed by hand', () => {
    // ln-ln points (0,0) (1,1) (2,1): slope 1/2, r² = 1/(2 · 2/3) = 3/4.
    const law = fitPowerLaw([1, Math.E, Math.E ** 2].map((x, index) => ({ x, y: Math.exp(Math.min(index, 1)) })));
    expect(law).toEqual({
      slope: near(0.5),
      factor: near(Math.exp(1 / 6)),
      r2: near(0.75),
      points: 3,
    });
  });

  it('recovers any power law, and leaves out values without a logarithm', () => {
    const number = fc.double({ min: 0.01, max: 100, noNaN: true });
    fc.assert(
      fc.property(number, fc.double({ min: -3, max: 3, noNaN: true }), (factor, slope) => {
        const points = [1, 2, 4, 8].map((x) => ({ x, y: factor * x ** slope }));
        const law = fitPowerLaw([...points, { x: 0, y: 1 }, { x: 3, y: Infinity }, { x: 3, y: 0 }])!;
        expect(law.slope).toBeCloseTo(slope, 6);
        expect(law.factor / factor).toBeCloseTo(1, 6);
        expect(law.points).toBe(4);
      }),
    );
  });

  it.each([
    { points: [] },
    { points: [{ x: 2, y: 3 }] },
    {
      points: [
        { x: 2, y: 3 },
        { x: 2, y: 4 },
      ],
    },
  ])('is none of $points', ({ points }) => {
    expect(fitPowerLaw(points)).toBeNull();
  });
});
