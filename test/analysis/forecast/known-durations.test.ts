import { describe, expect, it } from 'vitest';
import type { Duration, RunKind } from '../../../src/analysis/forecast/durations.js';
import { type Foreseen, KnownDurations } from '../../../src/analysis/forecast/known-durations.js';

const kind = (known: Partial<RunKind> = {}): RunKind => ({
  ...{ sweep: 's', group: 'g', parameters: {}, isPreparation: false },
  ...known,
});
const took = (seconds: number, known: Partial<RunKind> = {}, weight = 1): Duration => ({
  ...{ kind: kind(known), seconds, share: null, weight },
});
const times = (count: number, seconds: number, known: Partial<RunKind> = {}) =>
  Array.from({ length: count }, () => took(seconds, known));
const usual = (known: readonly Duration[], of: Partial<RunKind> = {}) => {
  const like = new KnownDurations(known).like(kind(of));
  return like === null ? null : Math.exp(like.centre);
};

describe('how long a run takes, by others', () => {
  it('is told by its own setting before its group, and by its group before its sweep', () => {
    const known = [
      ...times(9, 10, { parameters: { model: 'small' } }),
      ...times(9, 40, { parameters: { model: 'large' } }),
      ...times(9, 160, { group: 'h' }),
    ];
    expect(usual(known, { parameters: { model: 'small', seed: 7 } })).toBeCloseTo(10, 0);
    expect(usual(known, { parameters: { model: 'middle' } })).toBeCloseTo(20, -1);
    expect(usual(known, { group: 'h' })).toBeCloseTo(160, -1);
    expect(usual(known, { group: 'i' })).toBeCloseTo(Math.sqrt(20 * 160), -2);
  });

  it('goes with a number that it has gone with so far', () => {
    const steps = (count: number) => ({ parameters: { steps: count } });
    const known = [10, 20, 40].flatMap((count) => times(3, count, steps(count)));
    expect(usual(known, steps(320))! / 320).toBeGreaterThan(0.8);
    expect(usual(known, steps(320))! / 320).toBeLessThan(1.2);
  });

  it('does not go with a number that says nothing', () => {
    const known = [1, 2, 3, 4, 5, 6].map((n) => took(n % 2 === 0 ? 19 : 21, { parameters: { lr: 10 ** -n } }));
    expect(usual(known, { parameters: { lr: 1e-9 } })).toBeCloseTo(20, -1);
  });

  it('is not told by the warm-ups of a sweep, nor by other sweeps', () => {
    expect(usual(times(3, 10, { isPreparation: true }))).toBeNull();
    expect(usual(times(3, 10, { sweep: 't' }))).toBeNull();
  });

  it('is known the better, the more have ended', () => {
    const doubts = [1, 4, 16].map((count) => new KnownDurations(times(count, 10)).like(kind())!.doubt);
    expect(doubts).toEqual(doubts.toSorted((a, b) => b - a));
    expect(doubts[0]).toBeGreaterThan(2 * doubts[2]!);
  });

  it('is not moved by an estimate as by a run that has ended', () => {
    expect(usual([...times(4, 10), took(1000, {}, 0.01)])!).toBeLessThan(12);
  });

  it('is learnt from one that is up, as far as that knows more than the others say', () => {
    const of = (known: Partial<Foreseen>) => {
      const foreseen = {
        kind: kind({ group: 'slow' }),
        elapsed: 2,
        share: null,
        left: { low: 90, middle: 98, high: 106 },
      };
      const durations = new KnownDurations(times(10, 10)).with([{ ...foreseen, ...known }]);
      return Math.exp(durations.like(kind({ group: 'slow' }))!.centre);
    };
    expect(of({})).toBeGreaterThan(70);
    // Nothing but what the others say.
    expect(of({ left: { low: 1, middle: 8, high: 25 } })).toBeCloseTo(10, 0);
    // It has outlasted them by far, and says nothing of itself.
    expect(of({ elapsed: 60, left: { low: 12, middle: 60, high: 300 } })).toBeGreaterThan(20);
  });

  it('takes the runs of a group of which none has ended to lie as far apart as others do, and no farther', () => {
    const others = Array.from({ length: 31 }, (_, n) => took(10 * Math.exp((n - 15) / 15)));
    const { marks } = new KnownDurations(others).like(kind({ group: 'new' }))!.shape();
    const deviation = Math.sqrt(marks.reduce((sum, { at }) => sum + at ** 2, 0) / marks.length);
    expect(deviation).toBeGreaterThan(0.85);
    expect(deviation).toBeLessThan(1.15);
  });

  it('keeps runs that end early and runs that do not apart', () => {
    const { centre, spread, shape } = new KnownDurations([...times(20, 10), ...times(20, 100)]).like(kind())!;
    const seconds = shape().marks.map(({ at }) => Math.exp(centre + spread * at));
    expect(seconds.filter((each) => each > 20 && each < 50)).toEqual([]);
  });
});
