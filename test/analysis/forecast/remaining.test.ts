import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunSoFar, secondsToEnd, standsStill } from '../../../src/analysis/forecast/remaining.js';

const soFar = (known: Partial<RunSoFar>): RunSoFar => ({
  ...{ elapsed: 10, toBudget: null, mayEndEarly: false, likes: [] },
  ...known,
});

describe('what is left of a run', () => {
  it.each<{ when: string; known: Partial<RunSoFar>; left: number | null }>([
    { when: 'nothing is known: nothing is claimed', known: {}, left: null },
    { when: 'it uses its whole budget: its pace tells', known: { toBudget: 50, likes: [11, 12] }, left: 50 },
    { when: 'it says nothing of itself: as its siblings', known: { likes: [20, 30, 40] }, left: 20 },
    { when: 'some siblings were shorter: as those that were not', known: { likes: [5, 9, 30, 50] }, left: 30 },
    { when: 'a rule may end it and nobody knows when', known: { toBudget: 700, mayEndEarly: true }, left: null },
    { when: 'a rule ended its siblings', known: { toBudget: 700, mayEndEarly: true, likes: [12, 14, 90] }, left: 4 },
    {
      when: 'its budget ends before its siblings did',
      known: { toBudget: 3, mayEndEarly: true, likes: [99] },
      left: 3,
    },
    { when: 'it has outlasted them: as long again', known: { toBudget: 700, mayEndEarly: true, likes: [4] }, left: 10 },
    { when: 'it has outlasted them, near its budget', known: { toBudget: 2, mayEndEarly: true, likes: [4] }, left: 2 },
    { when: 'it is unlike them all', known: { likes: [3] }, left: null },
  ])('when $when', ({ known, left }) => {
    expect(secondsToEnd(soFar(known))).toBe(left);
  });

  it('is never negative, and never beyond its budget', () => {
    const times = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true })).map((all) => all.sort((a, b) => a - b));
    const some = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(some, some, times, fc.boolean(), (elapsed, toBudget, likes, mayEndEarly) => {
        const left = secondsToEnd({ elapsed, toBudget, likes, mayEndEarly });
        if (left === null) return;
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left).toBeLessThanOrEqual(toBudget);
      }),
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
