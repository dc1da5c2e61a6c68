import { describe, expect, it } from 'vitest';
import { toldOf, type ToldRun } from '../../../../src/lab/study/memory/told.js';
import type { Verdict } from '../../../../src/lab/study/memory/verdict.js';

const memorised = (episodes: number): Verdict => ({
  kind: 'memorised',
  step: episodes / 4,
  episodes,
  resolution: null,
});
const stuck: Verdict = { kind: 'stuck', answer: 1, bits: 0, episodes: 80_000 };
const failed: Verdict = { kind: 'unfinished', state: 'failed', bits: 0, episodes: 10 };

describe('episodes until revealed and until memorised', () => {
  it.each<{ what: string; runs: ToldRun[]; told: ReturnType<typeof toldOf> }>([
    {
      what: 'the ratio is that of each run, and then the middle one',
      runs: [
        { verdict: memorised(400), determinedAfter: 10 },
        { verdict: memorised(900), determinedAfter: 30 },
        { verdict: memorised(1000), determinedAfter: 20 },
      ],
      told: { runs: 3, median: 20, wasted: 40 },
    },
    {
      what: 'who did not memorise wasted all',
      runs: [
        { verdict: stuck, determinedAfter: 10 },
        { verdict: stuck, determinedAfter: 12 },
        { verdict: memorised(400), determinedAfter: 14 },
      ],
      told: { runs: 3, median: 12, wasted: Infinity },
    },
    {
      what: 'who was never told all is no measure of waste',
      runs: [
        { verdict: stuck, determinedAfter: null },
        { verdict: memorised(400), determinedAfter: null },
        { verdict: memorised(500), determinedAfter: 50 },
      ],
      told: { runs: 3, median: Infinity, wasted: 10 },
    },
    {
      what: 'none was told',
      runs: [{ verdict: stuck, determinedAfter: null }],
      told: { runs: 1, median: Infinity, wasted: null },
    },
    {
      what: 'who was not observed, or failed, does not count',
      runs: [
        { verdict: memorised(400), determinedAfter: undefined },
        { verdict: failed, determinedAfter: 5 },
        { verdict: { kind: 'queued' }, determinedAfter: 5 },
      ],
      told: null,
    },
  ])('$what', ({ runs, told }) => expect(toldOf(runs)).toEqual(told));
});
