import { describe, expect, it } from 'vitest';
import { type EndedRun, FailedRuns } from '../../../src/analysis/forecast/failed-runs.js';
import type { Parameters } from '../../../src/base/scalar.js';

const kindOf = (parameters: Parameters) => ({ sweep: 's', group: 'main', parameters, isPreparation: false });

/** So many runs with these parameters, of which the first fail after so many seconds; the others take twenty. */
function ended(parameters: Parameters, runs: number, failed: number, seconds = 1): EndedRun[] {
  return Array.from({ length: runs }, (_, seed) => ({
    ...{ kind: kindOf({ ...parameters, seed }), failed: seed < failed, seconds: seed < failed ? seconds : 20 },
  }));
}

const good = [ended({ lr: 0.1, batch: 1 }, 4, 0), ended({ lr: 0.1, batch: 2 }, 4, 0)].flat();
const atOne = [ended({ lr: 1, batch: 1 }, 3, 3), ended({ lr: 1, batch: 2 }, 3, 3)].flat();

describe('the probability that a run fails', () => {
  it.each<{ when: string; runs: EndedRun[]; of: Parameters; from: number; to: number }>([
    { when: 'each run of its learning rate has', runs: [...good, ...atOne], of: { lr: 1, batch: 2, seed: 9 }, from: 0.95, to: 1 },
    { when: 'its batch size failed for the rate alone', runs: [...good, ...atOne], of: { lr: 0.1, batch: 2, seed: 9 }, from: 0, to: 0.1 },
    { when: 'its rate has not been seen', runs: [...good, ...atOne], of: { lr: 0.5, batch: 4, seed: 9 }, from: 0, to: 0.15 },
    { when: 'two rates of three break', runs: [...good, ...atOne, ...ended({ lr: 3, batch: 1 }, 3, 3)], of: { lr: 3, batch: 2 }, from: 0.9, to: 1 },
    { when: 'one of twenty broke by chance, one of its setting', runs: [...ended({ lr: 1 }, 10, 0), ...ended({ lr: 2 }, 10, 1)], of: { lr: 2 }, from: 0.05, to: 0.15 },
    { when: 'one alone of its setting has ended, and broke', runs: [...ended({ lr: 1 }, 10, 0), ...ended({ lr: 2 }, 1, 1)], of: { lr: 2 }, from: 0.35, to: 0.65 },
    { when: 'all break', runs: ended({ lr: 1 }, 5, 5), of: { lr: 1, seed: 9 }, from: 0.6, to: 1 },
  ])('where $when', ({ runs, of, from, to }) => {
    const { share } = new FailedRuns(runs).of(kindOf(of))!;
    expect(share).toBeGreaterThanOrEqual(from);
    expect(share).toBeLessThanOrEqual(to);
  }); // prettier-ignore

  it('is unknown where none of the group has failed', () => {
    expect(new FailedRuns(good).of(kindOf({ lr: 1 }))).toBeNull();
    expect(new FailedRuns(atOne).of({ ...kindOf({ lr: 1 }), group: 'other' })).toBeNull();
  });

  it('comes with the times after which those of its value failed', () => {
    const runs = [...good, ...ended({ lr: 1 }, 3, 3, 2), ...ended({ lr: 3 }, 3, 3, 7)];
    expect(new FailedRuns(runs).of(kindOf({ lr: 3 }))!.seconds).toEqual([7, 7, 7]);
  });
});
