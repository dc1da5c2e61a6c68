import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { busyMs, busyTimeOf, elapsedMs } from '../../../src/analysis/forecast/busy-time.js';

const done = (startedAt: number, endedAt: number) => ({ state: 'done' as const, startedAt, endedAt });
const up = (startedAt: number) => ({ state: 'running' as const, startedAt, endedAt: null });
const waiting = { state: 'queued' as const, startedAt: null, endedAt: null };

describe('the time in which runs were up', () => {
  it.each([
    { of: 'none', runs: [], busy: null },
    { of: 'runs that have not started', runs: [waiting], busy: null },
    { of: 'one after the other', runs: [done(0, 10), done(10, 30), waiting], busy: { ms: 30, since: null } },
    { of: 'runs side by side', runs: [done(5, 30), done(0, 10)], busy: { ms: 30, since: null } },
    { of: 'a pause between two launches', runs: [done(0, 10), done(1000, 1010)], busy: { ms: 20, since: null } },
    { of: 'runs that are up', runs: [done(0, 10), up(100), up(50)], busy: { ms: 10, since: 50 } },
    {
      of: 'the earlier attempts of runs as well',
      runs: [
        {
          ...up(100),
          earlier: [
            [0, 10],
            [20, 25],
          ] as const,
        },
        { ...waiting, earlier: [[5, 12]] as const },
      ],
      busy: { ms: 17, since: 100 },
    },
    { of: 'a run that is up since the start', runs: [up(0), done(5, 10), up(20)], busy: { ms: 0, since: 0 } },
  ])('$of', ({ runs, busy }) => {
    expect(busyTimeOf(runs)).toEqual(busy);
  });

  it('is at most the time from first to last, and at least the longest', () => {
    const run = fc.tuple(fc.nat(1000), fc.nat(1000)).map(([from, length]) => done(from, from + length));
    fc.assert(
      fc.property(fc.array(run, { minLength: 1 }), (runs) => {
        const ms = busyMs(busyTimeOf(runs)!, 5000);
        const [from, to] = [Math.min(...runs.map((r) => r.startedAt)), Math.max(...runs.map((r) => r.endedAt))];
        expect(ms).toBeLessThanOrEqual(to - from);
        expect(ms).toBeGreaterThanOrEqual(Math.max(...runs.map((r) => r.endedAt - r.startedAt)));
      }),
    );
  });

  it('goes on while one is up', () => {
    expect(busyMs({ ms: 10, since: 50 }, 80)).toBe(40);
    expect(busyMs({ ms: 10, since: null }, 80)).toBe(10);
  });

  it.each([
    { of: 'a run that has ended', run: done(10, 30), is: 20 },
    {
      of: 'a run that has ended at its third attempt',
      run: {
        ...done(50, 60),
        earlier: [
          [0, 10],
          [20, 25],
        ] as const,
      },
      is: 25,
    },
    { of: 'a run that waits for its next attempt', run: { ...waiting, earlier: [[0, 10]] as const }, is: 10 },
    { of: 'a run that is up', run: up(10), is: 90 },
    { of: 'a run that waits', run: waiting, is: null },
  ])('of $of alone: $is', ({ run, is }) => {
    expect(elapsedMs(run, 100)).toBe(is);
  });
});
