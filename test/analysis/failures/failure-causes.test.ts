import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorKind } from '../../../src/analysis/failures/failure-kinds.js';
import { causesOfFailure, type EndedRun } from '../../../src/analysis/failures/failure-causes.js';
import { fisherLog10 } from '../../../src/analysis/failures/fisher-exact.js';
import { seededRandom } from '../../../src/analysis/parameters/seeded-random.js';

describe('the kind of an error', () => {
  it.each([
    ['CUDA out of memory. Tried to allocate 2.50 GiB', 'CUDA out of memory. Tried to allocate # GiB'],
    ['RuntimeError: loss is nan at step 1,250 (lr=3e-4)', 'RuntimeError: loss is nan at step # (lr=#)'],
    ["FileNotFoundError: '/data/user/shard-0012.tar'", "FileNotFoundError: '<path>'"],
    ['open ./cache/a.bin failed', 'open <path> failed'],
    ['segfault at 0x7f3a00deadbeef', 'segfault at <hex>'],
    ['no such run 6fa459ea-ee8a-3ca4-894e-db77e160355e', 'no such run <id>'],
    ['commit 3ecbdd4a is dirty', 'commit <id> is dirty'],
    ['shape [32, 128, 3] does not match [16, 128]', 'shape [#, …] does not match [#, …]'],
    ['expected float16 but conv2d got bf16', 'expected float16 but conv2d got bf16'],
    ['cuda:1 is   lost', 'cuda:# is lost'],
    ['HTTP 503 from https://host:8080/a?b=1', 'HTTP # from <url>'],
  ])('%s', (text, kind) => {
    expect(errorKind(text)).toBe(kind);
  });

  it('does not depend on the numbers in it', () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }), (a, b) => {
        expect(errorKind(`step ${a}: loss ${b}`)).toBe('step #: loss #');
      }),
    );
  });
});

describe("Fisher's exact test", () => {
  it.each([
    // Fisher's tea: 4 of 4 right by chance, and 3 or more.
    { inside: [4, 4], outside: [4, 0], p: 1 / 70 },
    { inside: [4, 3], outside: [4, 1], p: 17 / 70 },
    { inside: [2, 1], outside: [2, 1], p: 5 / 6 },
    { inside: [5, 0], outside: [5, 3], p: 1 },
  ])('$inside against $outside', ({ inside, outside, p }) => {
    const tally = ([runs, failed]: number[]) => ({ runs: runs!, failed: failed! });
    expect(10 ** fisherLog10({ inside: tally(inside), outside: tally(outside) })).toBeCloseTo(p, 10);
  });

  it('has a logarithm where the probability is too small for a number', () => {
    const log = fisherLog10({ inside: { runs: 2000, failed: 2000 }, outside: { runs: 3000, failed: 0 } });
    expect(log).toBeLessThan(-1000);
    expect(Number.isFinite(log)).toBe(true);
  });
});

type Values = Record<string, number | string>;
type FailedRun = EndedRun & { readonly error: string | null };

/** A sweep of which nobody knows anything: twelve parameters, numbers and texts. */
function strangeSweep(count: number, errorOf: (point: Values, chance: () => number) => string | null): FailedRun[] {
  const random = seededRandom(9);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  return Array.from({ length: count }, () => {
    const parameters: Values = {
      lr: 10 ** (-5 + 4 * random()),
      batch: pick([32, 64, 128, 256, 512]),
      length: pick([512, 1024, 2048, 4096]),
      optimizer: pick(['adam', 'sgd', 'lion']),
      dropout: pick([0, 0.1, 0.2]),
      seed: pick([0, 1, 2, 3, 4]),
    };
    for (const extra of ['wd', 'beta', 'clip', 'warmup', 'depth', 'width']) parameters[extra] = random();
    const error = errorOf(parameters, random);
    return { parameters, failed: error !== null, error };
  });
}

describe('why runs fail', () => {
  it('finds the parameter behind each of three kinds of failures among 5,000 runs', () => {
    const runs = strangeSweep(5000, ({ lr, batch, length, optimizer }, chance) => {
      if (Number(batch) * Number(length) >= 2 ** 20) return `CUDA out of memory. Tried to allocate ${chance() * 9} GiB`;
      if (Number(lr) > 0.01 && chance() < 0.9) return `loss is nan at step ${Math.floor(chance() * 999)}`;
      return optimizer === 'lion' && chance() < 0.5
        ? `KeyError: 'exp_avg_sq' at 0x${Math.floor(chance() * 1e9).toString(16)}`
        : null;
    });
    const kinds = new Set(runs.flatMap(({ error }) => (error === null ? [] : errorKind(error))));
    expect([...kinds].sort()).toEqual([
      'CUDA out of memory. Tried to allocate # GiB',
      "KeyError: 'exp_avg_sq' at <hex>",
      'loss is nan at step #',
    ]);
    const causeOf = (word: string) =>
      causesOfFailure(runs.filter(({ error }) => error === null || error.includes(word)))[0]!;
    const [nan] = causeOf('nan').conditions;
    expect(nan).toMatchObject({ kind: 'at least', parameter: 'lr' });
    expect(nan!.kind === 'is' ? NaN : nan!.value).toBeCloseTo(0.01, 3);
    expect(causeOf('KeyError').conditions).toEqual([{ kind: 'is', parameter: 'optimizer', value: 'lion' }]);
    // Neither alone says it: 256 × 4096, 512 × 2048 and 512 × 4096 fail.
    expect(
      causeOf('memory')
        .conditions.map(({ parameter }) => parameter)
        .sort(),
    ).toEqual(['batch', 'length']);
    const { inside, outside, lift } = causeOf('KeyError');
    expect(inside.failed / inside.runs).toBeGreaterThan(0.3);
    expect(outside.failed).toBe(0);
    expect(lift).toBeGreaterThan(2);
  });

  it('puts nothing down to a parameter where failures are dealt out by chance', () => {
    expect(causesOfFailure(strangeSweep(1000, (_, chance) => (chance() < 0.2 ? 'boom' : null)))).toEqual([]);
  });

  it('says which values share all of their runs', () => {
    const runs = Array.from({ length: 40 }, (_, index) => {
      const N = index % 2 === 0 ? 16 : 64;
      return { parameters: { N, batch: N === 16 ? 8 : 4, other: index % 5 }, failed: N === 64 };
    });
    const [cause, ...others] = causesOfFailure(runs);
    expect(cause).toMatchObject({
      conditions: [{ kind: 'is', parameter: 'N', value: 64 }],
      aliases: [{ kind: 'is', parameter: 'batch', value: 4 }],
      inside: { runs: 20, failed: 20 },
      outside: { runs: 20, failed: 0 },
      lift: 2,
    });
    expect(others).toEqual([]);
  });

  it('tells of a parameter that was not passed', () => {
    const runs = Array.from({ length: 40 }, (_, index): EndedRun => {
      return { parameters: index % 2 === 0 ? { device: 'gpu' } : {}, failed: index % 2 === 1 };
    });
    expect(causesOfFailure(runs)[0]?.conditions).toEqual([{ kind: 'is', parameter: 'device', value: undefined }]);
  });

  it.each([
    { what: 'none failed', failed: false },
    { what: 'all failed', failed: true },
  ])('has no cause where $what', ({ failed }) => {
    expect(causesOfFailure([1, 2, 3, 4].map((a) => ({ parameters: { a }, failed })))).toEqual([]);
  });

  it('counts every run inside or outside of every cause', () => {
    const runs = strangeSweep(200, ({ lr, dropout }) => (Number(lr) > 0.003 || dropout === 0 ? 'x' : null));
    const failed = runs.filter((run) => run.failed).length;
    const causes = causesOfFailure(runs);
    expect(causes.length).toBeGreaterThan(0);
    for (const { inside, outside } of causes) {
      expect(inside.runs + outside.runs).toBe(200);
      expect(inside.failed + outside.failed).toBe(failed);
    }
  });
});
