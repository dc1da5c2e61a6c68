import { describe, expect, it } from 'vitest';
import { addedTime, type BudgetedRun } from '../../../src/analysis/forecast/added-time.js';
import type { ForecastSetting } from '../../../src/analysis/forecast/forecast.js';

const now = 1_000_000;

function aRun(id: string, known: Partial<BudgetedRun> = {}): BudgetedRun {
  return {
    ...{ id, sweep: 's', group: 'main', parameters: { seed: id }, state: 'queued', attempt: 0, priority: 0 },
    ...{ startedAt: null, endedAt: null, progress: null, etaSeconds: null, units: 10, unit: 'steps' },
    ...known,
  };
}

const done = (id: string, seconds: number, units = 10) =>
  aRun(id, { state: 'done', attempt: 1, startedAt: now - 1000 * seconds, endedAt: now, units });
const epochs = { ...done('a', 5, 2), unit: 'epochs' };
const running = (id: string, elapsed: number, etaSeconds: number | null, known: Partial<BudgetedRun> = {}) =>
  aRun(id, { state: 'running', attempt: 1, startedAt: now - 1000 * elapsed, etaSeconds, ...known });

/** Of an edit on so many slots, before and after. */
function added(before: BudgetedRun[], after: BudgetedRun[], slots: [number, number] = [2, 2]) {
  const setting = (cpuSlots: number): ForecastSetting => ({ cpuSlots, gpus: 0, needs: () => [], now });
  return addedTime({
    sweep: 's',
    before: { runs: before, setting: setting(slots[0]) },
    after: { runs: after, setting: setting(slots[1]) },
  });
}

describe('the time that an edit adds', () => {
  it.each<{ when: string; before: BudgetedRun[]; after: BudgetedRun[]; slots?: [number, number]; time: [number, number] | null }>([
    { when: 'nothing is known of how long runs take', before: [aRun('a')], after: [aRun('a'), aRun('b')], time: null },
    { when: 'the sweep was at rest', before: [done('a', 5)], after: [done('a', 5), aRun('b'), aRun('c'), aRun('d')], time: [10, 10] },
    { when: 'new runs come behind those that wait', before: [done('a', 5), aRun('b'), aRun('c')], after: [done('a', 5), aRun('b'), aRun('c'), aRun('d')], time: [10, 5] },
    { when: 'a slot is free for what is added', before: [done('a', 5), aRun('b')], after: [done('a', 5), aRun('b'), aRun('c')], time: [5, 0] },
    { when: 'a run that waits has twice the budget', before: [done('a', 5), aRun('b')], after: [done('a', 5), aRun('b', { units: 20 })], time: [10, 5] },
    { when: 'one that is done goes on from there', before: [done('a', 5)], after: [aRun('a', { units: 20, progress: 0.5 })], time: [5, 5] },
    { when: 'one that runs goes on after its attempt', before: [done('a', 5), running('b', 3, 2)], after: [done('a', 5), running('b', 3, 2, { moreUnits: 10 })], time: [7, 5] },
    { when: 'it does not say when its attempt ends: as those like it', before: [done('a', 5), running('b', 3, null)], after: [done('a', 5), running('b', 3, null, { moreUnits: 10 })], time: [7, 5] },
    { when: 'there is another slot', before: [done('a', 5), aRun('b'), aRun('c')], after: [done('a', 5), aRun('b'), aRun('c')], slots: [1, 2], time: [5, -5] },
    { when: 'nobody can tell what a larger budget means', before: [done('a', 5)], after: [done('a', 5), aRun('b', { units: null })], time: null },
    { when: 'a run with another unit tells it only as a whole', before: [epochs], after: [epochs, aRun('b', { units: 20000 })], time: [5, 5] },
    { when: 'a run of another size tells it', before: [done('a', 5, 100)], after: [done('a', 5, 100), aRun('b', { units: 10 })], time: [0.5, 0.5] },
    { when: 'a run can never start', before: [done('a', 5)], after: [done('a', 5), aRun('b'), aRun('c', { gpuCount: 1 })], time: null },
    { when: 'it is another sweep that waits', before: [done('a', 5), aRun('x', { sweep: 't' })], after: [done('a', 5), aRun('b'), aRun('x', { sweep: 't' })], slots: [2, 2], time: null },
  ])('$when', ({ before, after, slots, time }) => {
    const result = added(before, after, slots);
    if (result === null || time === null) return expect(result).toBe(time);
    const [total, more] = time;
    expect(result.total.low).toBeLessThanOrEqual(total);
    expect(result.total.high).toBeGreaterThanOrEqual(total);
    expect(Math.abs(result.total.middle - total)).toBeLessThan(0.35 * total);
    expect(Math.abs(result.added - more)).toBeLessThan(0.2 * total);
  }); // prettier-ignore
});
