import { describe, expect, it } from 'vitest';
import { tiered } from '../../tiers.js';
import { median } from '../../../src/analysis/statistics.js';
import { failingSweep, playedSweep } from './played-sweep.js';
import { qualityOf } from './quality.js';
import { type Look, readRecording, replay } from './recorded-sweep.js';

describe('the time left of a recorded sweep', () => {
  tiered(['slow-group', 'half-stopped', 'growing', 'fast-then-slow', 'silent', 'retried', 'many'], 6)(
    'is near the truth from three tenths of its time on, and does not jump: %s',
    (name) => {
      const { near, covered, jump } = qualityOf(replay(readRecording(name)));
      expect(near).toBeGreaterThanOrEqual(0.9);
      expect(covered).toBeGreaterThanOrEqual(0.8);
      expect(jump).toBeLessThan(1.3);
    },
  );

  tiered(['abcd', 'abcd-busy', 'abcd-four-slots', 'abcd-full'], 1)(
    'is a range that holds the truth where most runs are of groups of which none has ended: %s',
    (name) => {
      const { covered, typical, jump } = qualityOf(replay(readRecording(name)));
      expect(covered).toBeGreaterThanOrEqual(0.8);
      // By the pace of each run alone, it is off by factors of 2 to 8, and jumps by factors of 2 to 38.
      expect(typical).toBeLessThan(1.75);
      expect(jump).toBeLessThan(1.3);
    },
  );

  it('follows the number of slots as soon as it changes', () => {
    const looks = replay(readRecording('slots-changed'));
    const last = looks.filter(({ at }) => at > 101);
    expect(qualityOf(last).near).toBe(1);
    const [two, six] = [looks.find(({ at }) => at === 100)!, looks.find(({ at }) => at === 101)!];
    expect(two.told!.middle / six.told!.middle).toBeGreaterThan(2);
  });
});

describe('the time left of a sweep with values at which each run fails after a second', () => {
  const qualities = () => [1, 2, 3].map((seed) => qualityOf(replay(failingSweep({ seed, seeds: 12 }))));

  it('counts that those to come will fail as early', () => {
    const all = qualities();
    // Where failed runs tell nothing, the range holds 1 % of the truths, and the middle is off by a factor of 1.9.
    expect(median(all.map(({ covered }) => covered))).toBeGreaterThanOrEqual(0.8);
    expect(median(all.map(({ typical }) => typical))).toBeLessThan(1.2);
  });
});

describe('the time left of a sweep whose runs a rule ends early', () => {
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9];

  tiered(
    [
      { when: 'leaves out a run that hangs', hung: true, usual: 1.6 },
      { when: 'is near the truth', hung: false, usual: 1.45 },
    ],
    1,
  )('$when', ({ hung, usual }) => {
    const factors = seeds.map((seed) => medianError(replay(playedSweep({ seed, hung }))));
    // Each run by its own pace to the end of its budget, which nearly none uses up, gives factors of 7 to 17.
    expect(median(factors)).toBeLessThan(usual);
    expect(Math.max(...factors)).toBeLessThan(2.3);
  });

  it('is not told before anything is known', () => {
    expect(replay(playedSweep({ seed: 1, hung: false }))[0]!.told).toBeNull();
  });
});

/** By which factor the middle is off, from soon after the warm-up until the last ten seconds. */
function medianError(looks: readonly Look[]): number {
  const late = looks.filter(({ at, actual, told }) => at > 40 && actual >= 10 && told !== null);
  return Math.exp(median(late.map(({ told, actual }) => Math.abs(Math.log(Math.max(1, told!.middle) / actual))))!);
}
