import { describe, expect, it } from 'vitest';
import { type ForecastRun, forecastOf, type ForecastSetting } from '../../../src/analysis/forecast/forecast.js';
import { median } from '../../../src/analysis/statistics.js';
import { medianError, playedSweep } from './played-sweep.js';

const now = 1_000_000;

function aRun(id: string, known: Partial<ForecastRun> = {}): ForecastRun {
  return {
    ...{ id, sweep: 's', group: 'main', parameters: { seed: id }, state: 'queued', attempt: 0, priority: 0 },
    ...{ startedAt: null, endedAt: null, progress: null, etaSeconds: null },
    ...known,
  };
}

const done = (id: string, seconds: number, known: Partial<ForecastRun> = {}) =>
  aRun(id, { state: 'done', attempt: 1, startedAt: now - 1000 * seconds, endedAt: now, ...known });
const running = (id: string, elapsed: number, etaSeconds: number | null, known: Partial<ForecastRun> = {}) =>
  aRun(id, { state: 'running', attempt: 1, startedAt: now - 1000 * elapsed, etaSeconds, ...known });

function left(runs: ForecastRun[], setting: Partial<ForecastSetting> = {}, asked = runs): number | null {
  return forecastOf(runs, { cpuSlots: 2, gpus: 0, needs: () => [], now, ...setting })(asked);
}

describe('when runs will have ended', () => {
  it.each<{ when: string; runs: ForecastRun[]; setting?: Partial<ForecastSetting>; seconds: number | null }>([
    { when: 'nothing is known', runs: [aRun('a'), running('b', 5, null)], seconds: null },
    { when: 'all have ended', runs: [done('a', 10)], seconds: null },
    { when: 'the last that is up ends', runs: [running('a', 5, 20), running('b', 5, 40)], seconds: 40 },
    { when: 'those that wait take as long as those that are done', runs: [done('a', 10), aRun('b'), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'a slot is free when a run ends', runs: [done('a', 10), running('b', 7, 3), running('c', 1, 9), aRun('d'), aRun('e')], seconds: 19 },
    { when: 'there is one slot', runs: [done('a', 10), aRun('b'), aRun('c')], setting: { cpuSlots: 1 }, seconds: 20 },
    { when: 'there are none', runs: [done('a', 10), aRun('b')], setting: { cpuSlots: 0 }, seconds: null },
    { when: 'one takes all slots', runs: [done('a', 10), aRun('b', { cores: 2 }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'one will be long, as those of its setting', runs: [done('a', 10, { parameters: { N: 1 } }), done('b', 90, { parameters: { N: 2 } }), aRun('c', { parameters: { N: 2, seed: 1 } })], seconds: 90 },
    { when: 'a held run is not waited for', runs: [done('a', 10), aRun('b', { state: 'held' }), aRun('c')], seconds: 10 },
    { when: 'a run has come half of its way before', runs: [done('a', 10), aRun('b', { progress: 0.5 })], seconds: 5 },
    { when: 'one of those that are up stands still: the others are waited for, on what slots there are', runs: [done('a', 10), running('b', 50, null, { progress: 0.3 }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'a run that is up does not say how far it is: as those like it', runs: [done('a', 10), running('b', 4, null)], seconds: 6 },
    { when: 'a paused run keeps its slot', runs: [done('a', 10), running('b', 3, null, { state: 'paused' }), aRun('c'), aRun('d')], seconds: 20 },
    { when: 'failed runs teach nothing', runs: [done('a', 10, { state: 'failed' }), aRun('b')], seconds: null },
    { when: 'resumed runs teach nothing', runs: [done('a', 10, { attempt: 2 }), aRun('b')], seconds: null },
    { when: 'runs of GPUs and of the CPU are apart', runs: [done('a', 10), aRun('b', { gpuCount: 1 }), aRun('c', { gpuCount: 1 }), aRun('d')], setting: { gpus: 1 }, seconds: 20 },
    { when: 'a run takes two GPUs', runs: [done('a', 10), aRun('b', { gpuCount: 2 }), aRun('c', { gpuCount: 1 })], setting: { gpus: 2 }, seconds: 20 },
    { when: 'runs share a GPU', runs: ['a', 'b', 'c'].map((id) => running(id, 5, 5, { gpuCount: 1 })).concat(aRun('d', { gpuCount: 1 })), setting: { gpus: 1 }, seconds: 15 },
    { when: 'the more urgent goes first', runs: [done('a', 10), aRun('b', { parameters: { N: 1 }, group: 'x' }), aRun('c', { priority: 1 })], setting: { cpuSlots: 1 }, seconds: 20 },
  ])('$when: $seconds s', ({ runs, setting, seconds }) => {
    expect(left(runs, setting)).toBe(seconds);
  }); // prettier-ignore

  it('is told of each group by the slots that all share', () => {
    const runs = [done('a', 10), aRun('b'), aRun('c'), aRun('d', { group: 'late' }), aRun('e', { group: 'late' })];
    expect(left(runs, { cpuSlots: 1 }, runs.slice(0, 3))).toBe(20);
    expect(left(runs, { cpuSlots: 1 }, runs.slice(3))).toBe(40);
  });

  it('waits for what is needed first, and learns nothing of others from it', () => {
    const needs = (_: string, group: string) => (group === 'main' ? ['warmup'] : []);
    const warm = { group: 'warmup' };
    const runs = [done('w', 100, warm), running('v', 30, 30, warm), aRun('a'), aRun('b')];
    expect(left(runs, { needs })).toBeNull();
    expect(left(runs, { needs }, runs.slice(0, 2))).toBe(30);
    expect(left([...runs, done('c', 5)], { needs })).toBe(35);
    expect(left([done('w', 100, { ...warm, state: 'failed' }), done('c', 5), aRun('a')], { needs })).toBeNull();
  });

  it('takes little time for ten thousand runs', () => {
    const runs = Array.from({ length: 10_000 }, (_, n) =>
      n < 5000 ? done(`r${n}`, 10 + (n % 7)) : aRun(`r${n}`, { parameters: { N: n % 100, seed: n } }),
    );
    const before = performance.now();
    expect(left(runs, { cpuSlots: 100 })).toBeGreaterThan(500);
    // Some 40 ms; a square of ten thousand would take a minute.
    expect(performance.now() - before).toBeLessThan(5000);
  });
});

describe('the forecast of a sweep whose runs are ended early', () => {
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9];

  it('is near the truth once a tenth of them have ended', () => {
    const played = seeds.map((seed) => playedSweep({ seed, hung: false }));
    for (const looks of played) {
      expect(looks.filter(({ share, actual, left }) => share >= 0.1 && actual > 0 && left === null)).toEqual([]);
    }
    const factors = played.map((looks) => Math.exp(medianError(looks)));
    // Each run by its own pace to the end of its budget, which nearly none uses up, gives factors of 7 to 17.
    expect(median(factors)).toBeLessThan(1.4);
    expect(Math.max(...factors)).toBeLessThan(2);
  });

  it('claims nothing before the first has ended', () => {
    const [first] = playedSweep({ seed: 1, hung: false });
    expect(first).toMatchObject({ share: 0, left: null });
  });

  it('leaves out a run that hangs, and says nothing when there is none but that', () => {
    const played = seeds.map((seed) => playedSweep({ seed, hung: true }));
    for (const looks of played) expect(looks.at(-1)).toMatchObject({ actual: 0, left: null });
    expect(median(played.map((looks) => Math.exp(medianError(looks))))).toBeLessThan(1.6);
  });
});
