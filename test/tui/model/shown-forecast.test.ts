import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { forecastOf, forecastSetting } from '../../../src/analysis/forecast/forecast.js';
import { ShownForecast } from '../../../src/tui/model/list-model.js';
import { aRun, aSweep, SimulatedFleet } from '../simulated-fleet.js';

const now = 10_000_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setImmediate', 'clearImmediate'] }));
afterEach(() => void vi.useRealTimers());

/** Runs of which a tenth is done, a tenth is up and the rest waits. */
function aFleet(count: number): SimulatedFleet {
  const runs = Array.from({ length: count }, (_, at) => {
    const began = { attempt: 1, startedAt: now - 60_000 - at };
    if (at % 10 === 0) return aRun(`A_${at}`, { ...began, state: 'done', endedAt: now - at });
    return at % 10 === 1 ? aRun(`A_${at}`, { ...began, state: 'running', etaSeconds: 30 }) : aRun(`A_${at}`);
  });
  const groups = [{ name: 'A', title: null, needs: [] }];
  const status = { settled: false, recalled: true, cpu: { slots: 200, busy: 200 }, gpus: [], problem: null };
  return Object.assign(new SimulatedFleet([aSweep({ groups })], runs), { status });
}

it('tells the time left of a few runs at once', () => {
  const fleet = aFleet(100);
  const forecast = new ShownForecast(fleet, () => undefined);
  forecast.refresh(now);
  expect(forecast.current(fleet.runs.values())?.middle).toBeGreaterThan(0);
});

it('tells the time left of many runs some turns later, the same as at once', () => {
  const fleet = aFleet(2000);
  const changed = vi.fn<() => void>();
  const forecast = new ShownForecast(fleet, changed);
  forecast.refresh(now);
  expect(forecast.current(fleet.runs.values())).toBeNull();
  vi.runAllTimers();
  expect(changed).toHaveBeenCalledTimes(1);
  const atOnce = forecastOf([...fleet.runs.values()], forecastSetting(fleet, now));
  expect(forecast.current(fleet.runs.values())).toEqual(atOnce(fleet.runs.values()));
  expect(atOnce(fleet.runs.values())).not.toBeNull();
});

it('keeps the last forecast of many runs while the next one is computed, and computes none after it is closed', () => {
  const fleet = aFleet(2000);
  const changed = vi.fn<() => void>();
  const forecast = new ShownForecast(fleet, changed);
  forecast.refresh(now);
  vi.runAllTimers();
  const last = forecast.current;
  forecast.refresh(now + 2000);
  expect(forecast.current).toBe(last);
  forecast.close();
  vi.runAllTimers();
  expect(changed).toHaveBeenCalledTimes(1);
});
