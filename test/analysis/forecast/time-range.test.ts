import { describe, expect, it } from 'vitest';
import { SteadyRange, type TimeRange } from '../../../src/analysis/forecast/time-range.js';
import { type Look, readRecording, replay } from './recorded-sweep.js';

const range = (seconds: number): TimeRange => ({ low: seconds / 2, middle: seconds, high: 2 * seconds });

describe('the time left as it is shown', () => {
  it('goes half of the way to an estimate that has moved within two seconds, and all of it in some more', () => {
    const steady = new SteadyRange();
    expect(steady.next(range(40), '2 slots', 0)).toEqual(range(40));
    const [after, later] = [2000, 12_000].map((now) => steady.next(range(20), '2 slots', now)!);
    expect(after!.middle).toBeGreaterThan(22);
    expect(after!.middle).toBeLessThan(30);
    expect(later!.middle).toBeLessThan(21);
  });

  it.each([
    { when: 'what it depends on has changed', of: '6 slots', told: range(10) },
    { when: 'nothing is known any more', of: '2 slots', told: null },
  ])('is the estimate itself where $when', ({ of, told }) => {
    const steady = new SteadyRange();
    steady.next(range(40), '2 slots', 0);
    expect(steady.next(told, of, 1000)).toEqual(told);
  });

  it('swings half as much in a recorded sweep, and is as near to the truth', () => {
    const looks = replay(readRecording('abcd'));
    const steady = new SteadyRange();
    const shown = looks.map((look) => ({ ...look, told: steady.next(look.told, '', 1000 * look.at) }));
    expect(swing(shown)).toBeLessThan(0.65 * swing(looks));
    expect(error(shown)).toBeLessThan(1.05 * error(looks));
  });
});

const known = (looks: readonly Look[]) => looks.filter(({ told, actual }) => told !== null && actual > 5);

/** By how much the upper end moves from one second to the next, beyond the second: the mean of the logarithms. */
function swing(looks: readonly Look[]): number {
  const ends = known(looks).map(({ told }) => told!.high);
  return ends.slice(1).reduce((sum, end, at) => sum + Math.abs(Math.log((end + 1) / ends[at]!)), 0) / ends.length;
}

/** By which factor the middle is off. */
function error(looks: readonly Look[]): number {
  const all = known(looks).map(({ told, actual }) => Math.abs(Math.log(told!.middle / actual)));
  return Math.exp(all.reduce((sum, each) => sum + each, 0) / all.length);
}
