import { describe, expect, it } from 'vitest';
import {
  forecastOf,
  type ForecastRun,
  type ForecastSetting,
  leftText,
  pauseBetween,
} from '../../../src/analysis/forecast/forecast.js';
import type { TimeRange } from '../../../src/analysis/forecast/time-range.js';
import { timesAsMuch } from '../../times-as-much.js';

const now = 1_000_000;

function aRun(id: string, known: Partial<ForecastRun> = {}): ForecastRun {
  return {
    ...{ id, sweep: 's', group: 'main', parameters: { seed: id }, state: 'queued', attempt: 0, priority: 0 },
    ...{ startedAt: null, endedAt: null, progress: null, etaSeconds: null },
    ...known,
  };
}

/** Ten that took as long, as one alone says little. */
const done = (id: string, seconds: number, known: Partial<ForecastRun> = {}) =>
  Array.from({ length: 10 }, (_, n) => {
    const times = { startedAt: now - 1000 * seconds, endedAt: now };
    return aRun(`${id}${n}`, { state: 'done', attempt: 1, ...times, ...known });
  });
const running = (id: string, elapsed: number, etaSeconds: number | null, known: Partial<ForecastRun> = {}) =>
  aRun(id, { state: 'running', attempt: 1, startedAt: now - 1000 * elapsed, etaSeconds, ...known });

function left(runs: ForecastRun[], setting: Partial<ForecastSetting> = {}, asked = runs): TimeRange | null {
  return forecastOf(runs, { cpuSlots: 2, gpus: 0, needs: () => [], now, ...setting })(asked);
}

/** The middle within a quarter, and the truth in the range. */
function expectNear(told: TimeRange | null, seconds: number | null): void {
  if (seconds === null || told === null) return expect(told).toBe(seconds);
  expect(Math.abs(Math.log(told.middle / seconds))).toBeLessThan(Math.log(1.25));
  expect(told.low).toBeLessThanOrEqual(1.05 * seconds);
  expect(told.high).toBeGreaterThanOrEqual(seconds);
}

describe('when runs will have ended', () => {
  it.each<{ when: string; runs: ForecastRun[]; setting?: Partial<ForecastSetting>; seconds: number | null }>([
    { when: 'nothing is known', runs: [aRun('a'), running('b', 5, null)], seconds: null },
    { when: 'all have ended', runs: done('a', 10), seconds: null },
    { when: 'the last that is up ends', runs: [running('a', 5, 20), running('b', 5, 40)], seconds: 40 },
    { when: 'those that wait take as long as those that are done', runs: [...done('a', 10), aRun('b'), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'a slot is free when a run ends', runs: [...done('a', 10), running('b', 7, 3), running('c', 1, 9), aRun('d'), aRun('e')], seconds: 19 },
    { when: 'there is one slot', runs: [...done('a', 10), aRun('b'), aRun('c')], setting: { cpuSlots: 1 }, seconds: 20 },
    { when: 'there are none', runs: [...done('a', 10), aRun('b')], setting: { cpuSlots: 0 }, seconds: null },
    { when: 'one takes all slots', runs: [...done('a', 10), aRun('b', { cores: 2 }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'one will be long, as those of its setting', runs: [...done('a', 10, { parameters: { model: 'small' } }), ...done('b', 90, { parameters: { model: 'large' } }), aRun('c', { parameters: { model: 'large', seed: 1 } })], seconds: 90 },
    { when: 'one will be long, as more steps take longer', runs: [...done('a', 10, { parameters: { steps: 10 } }), ...done('b', 20, { parameters: { steps: 20 } }), ...done('c', 40, { parameters: { steps: 40 } }), aRun('c', { parameters: { steps: 160 } })], seconds: 160 },
    { when: 'a held run is not waited for', runs: [...done('a', 10), aRun('b', { state: 'held' }), aRun('c')], seconds: 10 },
    { when: 'a run has come half of its way before', runs: [...done('a', 10), aRun('b', { progress: 0.5 })], seconds: 5 },
    { when: 'a failed run is started again later', runs: [...done('a', 10), aRun('b', { retryAt: now + 30_000 })], seconds: 40 },
    { when: 'a run waits for its start time', runs: [...done('a', 10), aRun('b', { startsAt: now + 30_000 })], seconds: 40 },
    { when: 'others take its place meanwhile', runs: [...done('a', 10), aRun('b', { retryAt: now + 15_000 }), aRun('c'), aRun('d')], setting: { cpuSlots: 1 }, seconds: 30 },
    { when: 'one of those that are up stands still: the others are waited for, on what slots there are', runs: [...done('a', 10), running('b', 50, null, { progress: 0.3 }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'a run that is up does not say how far it is: as those like it', runs: [...done('a', 10), running('b', 4, null)], seconds: 6 },
    { when: 'a paused run keeps its slot', runs: [...done('a', 10), running('b', 3, null, { state: 'paused' }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'failed runs teach nothing', runs: [...done('a', 10, { state: 'failed' }), aRun('b')], seconds: null },
    { when: 'a resumed run teaches nothing by its last attempt alone', runs: [...done('a', 10, { attempt: 2 }), aRun('b')], seconds: null },
    { when: 'a resumed run took all its attempts', runs: [...done('a', 10, { attempt: 2, earlier: [[0, 20_000]] }), aRun('b')], seconds: 30 },
    { when: 'runs of GPUs and of the CPU are apart', runs: [...done('a', 10), aRun('b', { gpuCount: 1 }), aRun('c', { gpuCount: 1 }), aRun('d')], setting: { gpus: 1 }, seconds: 20 },
    { when: 'a run takes two GPUs', runs: [...done('a', 10), aRun('b', { gpuCount: 2 }), aRun('c', { gpuCount: 1 })], setting: { gpus: 2 }, seconds: 20 },
    { when: 'runs share a GPU', runs: [...['a', 'b', 'c'].map((id) => running(id, 5, 5, { gpuCount: 1 })), aRun('d', { gpuCount: 1 })], setting: { gpus: 1 }, seconds: 15 },
    { when: 'the more urgent goes first', runs: [...done('a', 10), aRun('b', { parameters: { N: 1 }, group: 'x' }), aRun('c', { priority: 1 })], setting: { cpuSlots: 1 }, seconds: 20 },
  ])('$when: $seconds s', ({ runs, setting, seconds }) => {
    expectNear(left(runs, setting), seconds);
  }); // prettier-ignore

  it('is told of each group by the slots that all share', () => {
    const late = [aRun('d', { group: 'late' }), aRun('e', { group: 'late' })];
    const runs = [...done('a', 10), ...done('z', 10, { group: 'late' }), aRun('b'), aRun('c'), ...late];
    expectNear(left(runs, { cpuSlots: 1 }, runs.slice(0, -2)), 20);
    expectNear(left(runs, { cpuSlots: 1 }, late), 40);
  });

  it('is less certain of a group of which nothing is known yet', () => {
    const width = ({ low, high }: TimeRange) => high / low;
    const known = left([...done('a', 10), aRun('b')])!;
    const unknown = left([...done('a', 10), aRun('b', { group: 'other' })])!;
    expect(width(known)).toBeLessThan(1.6);
    expect(width(unknown)).toBeGreaterThan(4);
  });

  it('waits for what is needed first, and learns nothing of others from it', () => {
    const needs = (_: string, group: string) => (group === 'main' ? ['warmup'] : []);
    const warm = { group: 'warmup' };
    const runs = [...done('w', 100, warm), running('v', 30, 30, warm), aRun('a'), aRun('b')];
    expect(left(runs, { needs })).toBeNull();
    expectNear(left(runs, { needs }, runs.slice(0, -2)), 30);
    expectNear(left([...runs, ...done('c', 5)], { needs }), 35);
    expect(left([...done('w', 100, { ...warm, state: 'failed' }), ...done('c', 5), aRun('a')], { needs })).toBeNull();
  });

  it('counts what a start takes, where runs are short', () => {
    // 100 runs of 10 ms each on one slot, of which one starts every 40 ms.
    const runs = Array.from({ length: 200 }, (_, n) => {
      const startedAt = now - 4000 + 40 * n;
      return n < 100 ? aRun(`r${n}`, { state: 'done', attempt: 1, startedAt, endedAt: startedAt + 10 }) : aRun(`r${n}`);
    });
    expectNear(left(runs, { cpuSlots: 1 }), 4);
  });

  it('changes no more than the time from one second to the next while nothing happens', () => {
    const at = (seconds: number) => {
      const runs = [
        ...done('a', 10),
        ...Array.from({ length: 30 }, (_, n) => aRun(`b${n}`)),
        running('c', seconds, 60 - seconds),
      ];
      return left(runs, { now: now + 1000 * seconds })!.middle;
    };
    for (let seconds = 1; seconds < 50; seconds++)
      expect(Math.abs(at(seconds) / at(seconds + 1) - 1)).toBeLessThan(0.05);
  });

  it('takes little time for ten thousand runs', () => {
    const sweepOf = (length: number) =>
      Array.from({ length }, (_, n) =>
        n < length / 2
          ? aRun(`r${n}`, { state: 'done', attempt: 1, startedAt: now - 10_000 - (n % 7), endedAt: now })
          : aRun(`r${n}`, { parameters: { N: n % 100, seed: n } }),
      );
    const [few, many] = [sweepOf(2000), sweepOf(10_000)];
    expect(left(many, { cpuSlots: 100 })!.middle).toBeGreaterThan(400);
    // Five times the runs; a square would be 25 times the work.
    const growth = timesAsMuch(
      () => left(many, { cpuSlots: 100 }),
      () => left(few, { cpuSlots: 100 }),
    );
    expect(growth).toBeLessThan(14);
  });
});

describe('what a row says of its end', () => {
  it.each<{ run: Partial<ForecastRun>; text: string }>([
    { run: { etaSeconds: 30, etaRange: [20, 50] }, text: '20-50s' },
    { run: { etaSeconds: 300 }, text: '~5m' },
    { run: { etaSeconds: null }, text: '' },
    { run: { etaSeconds: 30, state: 'stopping' }, text: '' },
  ])('$text', ({ run, text }) => expect(leftText({ state: 'running', etaSeconds: null, ...run })).toBe(text));
});

/** Runs that start one after another, ms. */
const inRow = (count: number, every: number, took: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ startedAt: from + every * n, endedAt: from + every * n + took }));

describe('the pause between two runs', () => {
  it('is the time for which a slot is free', () => {
    expect(pauseBetween(inRow(50, 40, 30), 1)).toBeCloseTo(0.01);
  });

  it('is longer on more slots, where starts come one at a time', () => {
    // Each of four slots gets every fourth run: 160 ms, of which it is busy for 30.
    expect(pauseBetween(inRow(50, 40, 30), 4)).toBeCloseTo(0.13);
  });

  it('is not a night, nor the time for which nothing waited', () => {
    const day = inRow(50, 40, 30);
    expect(pauseBetween([...day, ...inRow(50, 40, 30, 40_000_000)], 1)).toBeCloseTo(0.01);
  });

  it('is not the time for which a slot was not there yet', () => {
    const two = [...inRow(20, 2000, 1990), ...inRow(20, 2000, 1990, 1)];
    const six = [0, 1, 2, 3, 4, 5].flatMap((slot) => inRow(3, 2000, 1990, 40_000 + slot));
    expect(pauseBetween([...two, ...six], 6)).toBeCloseTo(0.01);
  });

  it('is not told by few runs', () => {
    expect(pauseBetween(inRow(9, 40, 30), 1)).toBe(0);
    expect(pauseBetween([], 1)).toBe(0);
  });

  it('knows the attempts before the last', () => {
    const runs = inRow(25, 80, 30).map((run, n) => ({ ...run, earlier: [[40 + 80 * n, 70 + 80 * n]] as const }));
    expect(pauseBetween(runs, 1)).toBeCloseTo(0.01);
  });
});
