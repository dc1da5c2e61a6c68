import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Throttle } from '../../../src/tui/model/throttle.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** A task that takes so many ms, and the times at which it was begun. */
function task(cost: number, leastPause = 0): { share: Throttle; begun: number[] } {
  const begun: number[] = [];
  const share = new Throttle(
    function* () {
      begun.push(Date.now() - 1_000_000);
      vi.setSystemTime(Date.now() + cost);
    },
    Date.now,
    leastPause,
  );
  return { share, begun };
}

function askEvery(share: Throttle, period: number, times: number): void {
  for (let time = 0; time < times; time++) {
    share.ask();
    vi.advanceTimersByTime(period);
  }
}

describe('a share of the time', () => {
  it('is done at once each time while it costs little', () => {
    const { share, begun } = task(0);
    askEvery(share, 10, 20);
    expect(begun).toEqual(Array.from({ length: 20 }, (_, time) => time * 10));
  });

  it('is no more than a fifth, however often it is asked for', () => {
    const { share, begun } = task(50);
    askEvery(share, 10, 200);
    const gaps = begun.slice(1).map((at, index) => at - begun[index]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
    expect(begun.length).toBeGreaterThan(5);
  });

  it('keeps the pause it was given, however cheap the task', () => {
    const { share, begun } = task(0, 100);
    askEvery(share, 10, 31);
    expect(begun).toEqual([0, 100, 200, 300]);
  });

  it('does what was asked for in a pause at its end, once', () => {
    const { share, begun } = task(20);
    askEvery(share, 1, 3);
    vi.advanceTimersByTime(1000);
    expect(begun).toEqual([0, 100]);
  });

  it('is done at once where there is hurry, and the next time as well', () => {
    const { share, begun } = task(0, 100);
    askEvery(share, 10, 2);
    share.hurry();
    share.hurry();
    askEvery(share, 10, 2);
    vi.advanceTimersByTime(1000);
    expect(begun).toEqual([0, 20, 20, 120]);
  });

  it('does not make up for the time in which the machine slept', () => {
    const { share, begun } = task(3_600_000);
    askEvery(share, 10, 1);
    share.ask();
    vi.advanceTimersByTime(1000);
    expect(begun).toHaveLength(2);
  });

  it('does nothing any more after it was closed', () => {
    const { share, begun } = task(50);
    askEvery(share, 1, 2);
    share.close();
    share.ask();
    vi.advanceTimersByTime(1000);
    expect(begun).toEqual([0]);
  });

  it('gives each step but the first a turn of its own, and what is asked for meanwhile is done once, after the pause', () => {
    const done: string[] = [];
    const share = new Throttle(function* () {
      for (const step of ['a', 'b', 'c']) {
        done.push(step);
        vi.setSystemTime(Date.now() + 10);
        yield;
      }
    }, Date.now);
    share.ask();
    expect(done).toEqual(['a']);
    share.ask();
    share.ask();
    vi.advanceTimersToNextTimer().advanceTimersToNextTimer().advanceTimersToNextTimer();
    expect(done).toEqual(['a', 'b', 'c']);
    vi.advanceTimersByTime(100);
    expect(done).toEqual(['a', 'b', 'c']);
    vi.advanceTimersByTime(1000);
    expect(done).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('does all steps at once where there is hurry, those that were asked for meanwhile as well', () => {
    const done: string[] = [];
    const share = new Throttle(function* () {
      for (const step of ['a', 'b']) {
        done.push(step);
        yield;
      }
    }, Date.now);
    share.ask();
    share.ask();
    share.hurry();
    expect(done).toEqual(['a', 'b', 'a', 'b']);
  });
});
