import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Duration, Likeness } from '../../../src/analysis/forecast/durations.js';
import { KnownDurations } from '../../../src/analysis/forecast/known-durations.js';
import { standsStill } from '../../../src/analysis/forecast/own-pace.js';
import { type RunSoFar, secondsToEnd } from '../../../src/analysis/forecast/remaining.js';
import type { TimeRange } from '../../../src/analysis/forecast/time-range.js';

const kind = { sweep: 's', group: 'g', parameters: {}, isPreparation: false };

/** What so many seconds of others tell. `share`: of their budget, that they had used. */
function likes(seconds: readonly number[], share: number | null = null): Likeness | null {
  const known = seconds.map((each): Duration => ({ kind, seconds: each, share, weight: 1 }));
  return new KnownDurations(known).like(kind);
}

const ten = (seconds: number) => Array.from({ length: 10 }, (_, n) => seconds * (0.9 + 0.02 * n));
const half = [...ten(20), ...ten(100)];

const soFar = (known: Partial<RunSoFar>): RunSoFar => ({
  ...{ elapsed: 10, own: null, mayEndEarly: false, like: null },
  ...known,
});
const own = (progress: number, seconds: number, error = 0.15) => ({ progress, seconds, error });

describe('what is left of a run', () => {
  it.each<{ when: string; known: Partial<RunSoFar>; left: number | null }>([
    { when: 'nothing is known: nothing is claimed', known: {}, left: null },
    { when: 'nobody else has ended: its pace tells', known: { own: own(0.2, 50) }, left: 50 },
    { when: 'a rule may end it and nobody knows when', known: { own: own(0.01, 700), mayEndEarly: true }, left: null },
    { when: 'it says nothing of itself: as its siblings', known: { like: likes(ten(30)) }, left: 20 },
    { when: 'some siblings were shorter: as those that were not', known: { elapsed: 40, like: likes(half) }, left: 60 },
    { when: 'it has only begun: its siblings tell, not its start-up', known: { elapsed: 2, own: own(0.01, 318, 1), like: likes(ten(18), 1) }, left: 16 },
    { when: 'it has come far: its pace tells', known: { elapsed: 40, own: own(0.5, 40), like: likes(ten(30), 1) }, left: 38 },
    { when: 'its siblings ended long before their budget, by no rule that is known', known: { own: own(0.02, 700), like: likes(ten(14), 0.03) }, left: 4 },
    { when: 'it has outlasted all of those: as long again', known: { elapsed: 30, own: own(0.04, 700), like: likes(ten(14), 0.03) }, left: 30 },
    { when: 'it has outlasted them, near its budget', known: { elapsed: 30, own: own(0.9, 3), like: likes(ten(14), 0.03) }, left: 3 },
    { when: 'it is unlike them all', known: { elapsed: 100, like: likes(ten(3)) }, left: null },
  ])('when $when', ({ known, left }) => {
    const told = secondsToEnd(soFar(known));
    if (told === null || left === null) return expect(told).toBe(left);
    expect(told.low).toBeLessThanOrEqual(left);
    expect(told.high).toBeGreaterThanOrEqual(left);
    expect(Math.abs(Math.log(told.middle / left))).toBeLessThan(Math.log(1.35));
  }); // prettier-ignore

  it('is less certain where less is known', () => {
    const width = ({ low, high }: TimeRange) => high / low;
    const few = secondsToEnd(soFar({ elapsed: 1, like: likes([30]) }))!;
    const many = secondsToEnd(soFar({ elapsed: 1, like: likes(ten(30)) }))!;
    const scattered = secondsToEnd(soFar({ elapsed: 1, like: likes([5, 10, 20, 40, 80, 160]) }))!;
    expect(width(few)).toBeGreaterThan(2 * width(many));
    expect(width(scattered)).toBeGreaterThan(4 * width(many));
  });

  it('does not jump as time passes', () => {
    const like = likes(half, 1);
    const at = (elapsed: number) => secondsToEnd(soFar({ elapsed, own: own(elapsed / 100, 100 - elapsed), like }))!;
    for (let elapsed = 5; elapsed < 95; elapsed++) {
      expect(Math.abs(at(elapsed).middle - at(elapsed + 1).middle)).toBeLessThan(8);
    }
  });

  it('is never negative, and a range', () => {
    const times = fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { maxLength: 20 });
    const some = fc.double({ min: 0, max: 1e6, noNaN: true });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(some, some), times, share, ([elapsed, seconds], others, part) => {
        const told = secondsToEnd({
          elapsed,
          own: own(part, seconds),
          like: likes(others, part),
          mayEndEarly: part < 0.5,
        });
        if (told === null) return;
        expect(told.low).toBeGreaterThanOrEqual(0);
        expect(told.middle).toBeGreaterThanOrEqual(told.low);
        expect(told.high).toBeGreaterThanOrEqual(told.middle);
        expect(told.high).toBeLessThan(Infinity);
      }),
      { examples: [[[991656.7405456604, 991656.7403330858], [1e-3], 0]] },
    );
  });
});

describe('a run stands still', () => {
  it.each([
    { when: 'that moved a moment ago', movement: { at: 0, every: 1000, longest: 1000 }, now: 9000, still: false },
    { when: 'silent for ten times its usual pause', movement: { at: 0, every: 2000, longest: 2000 }, now: 20_001, still: true },
    { when: 'that pauses at times, for as long as before', movement: { at: 0, every: 1000, longest: 60_000 }, now: 170_000, still: false },
    { when: 'that has moved once, soon after its start', movement: { at: 500, every: 500, longest: 500 }, now: 10_501, still: true },
  ])('$when: $still', ({ movement, now, still }) => {
    expect(standsStill(movement, now)).toBe(still);
  }); // prettier-ignore
});
