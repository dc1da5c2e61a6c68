import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DeadlineClock } from '../../../src/supervisor/core/steady-clock.js';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

it('rings once when the moment has come, and never for one that was replaced', () => {
  const rings: number[] = [];
  const clock = new DeadlineClock(Date.now, () => rings.push(Date.now()));
  clock.set(500);
  clock.set(300);
  vi.advanceTimersByTime(1000);
  expect(rings).toEqual([300]);
  clock.set(1500);
  clock.set(null);
  vi.advanceTimersByTime(1000);
  expect(rings).toEqual([300]);
});

it('waits for months, though no timer of the system does', () => {
  const rings: number[] = [];
  const clock = new DeadlineClock(Date.now, () => rings.push(Date.now()));
  const later = 60 * 86_400_000;
  clock.set(later);
  vi.advanceTimersByTime(later - 1);
  expect(rings).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(rings).toEqual([later]);
});
