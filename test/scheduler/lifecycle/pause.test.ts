import { describe, expect, it } from 'vitest';
import { nextDeadline } from '../../../src/scheduler/lifecycle/move.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import {
  after,
  asked,
  endedAs,
  GRACE_MS,
  id,
  play,
  short,
  slots,
  started,
  stopAsked,
  submitted,
  time,
} from '../play.js';

const up = [slots(1), submitted(['a']), started('a')];

describe('pausing a run', () => {
  it.each<{ when: string; events: SchedulerEvent[]; orders: string[] }>([
    { when: 'makes it stand still', events: [...up, asked('pause', 'a')], orders: ['pause a'] },
    { when: 'twice is once', events: [...up, asked('pause', 'a'), asked('pause', 'a')], orders: ['pause a'] },
    {
      when: 'lasts until it is to go on',
      events: [...up, asked('pause', 'a'), asked('continue', 'a'), asked('continue', 'a')],
      orders: ['pause a', 'continue a'],
    },
    { when: 'does nothing to one that is not up yet', events: [...up.slice(0, 2), asked('pause', 'a')], orders: [] },
    {
      when: 'does nothing to one that is stopping',
      events: [...up, stopAsked('a'), asked('pause', 'a')],
      orders: ['terminate a'],
    },
    {
      when: 'does not keep it from being stopped',
      events: [...up, asked('pause', 'a'), stopAsked('a')],
      orders: ['pause a', 'terminate a'],
    },
    {
      when: 'does not keep it from being killed',
      events: [...up, asked('pause', 'a'), asked('stop', 'a', 10), time(10 + GRACE_MS)],
      orders: ['pause a', 'terminate a', 'kill a'],
    },
    { when: 'was never asked for: nothing goes on', events: [...up, asked('continue', 'a')], orders: [] },
  ])('$when', ({ events, orders }) => {
    expect(short(play(...events).actions)).toEqual(['launch a', ...orders]);
  });

  it('keeps the slot', () => {
    const { state } = play(slots(1), submitted(['a', 'b']), started('a'), asked('pause', 'a'));
    expect(state.runs.get(id('b'))!.state.phase).toBe('waiting');
  });

  it('adds up', () => {
    const pauses = [
      asked('pause', 'a', 10),
      asked('continue', 'a', 25),
      asked('pause', 'a', 30),
      asked('continue', 'a', 31),
    ];
    expect(after('a', ...up, ...pauses).state).toMatchObject({ pausedAt: null, pausedMs: 16 });
    expect(after('a', ...up, ...pauses.slice(0, 3)).state).toMatchObject({ pausedAt: 30, pausedMs: 15 });
  });
});

describe('a timeout', () => {
  const limited = [slots(1), submitted([{ name: 'a', timeoutMs: 60_000 }]), started('a', 1, 1000)];

  it('ends the run politely, then by force, as one that timed out after time', () => {
    const over = [...limited, time(61_000)];
    expect(short(play(...limited, time(60_999)).actions)).toEqual(['launch a']);
    expect(short(play(...over).actions)).toEqual(['launch a', 'terminate a']);
    expect(short(play(...over, time(61_000 + GRACE_MS)).actions)).toEqual(['launch a', 'terminate a', 'kill a']);
    const gone = endedAs('a', { kind: 'done' }, { at: 61_001 });
    expect(after('a', ...over, gone).state).toMatchObject({ outcome: { kind: 'timeout', seconds: 60 } });
  });

  it('does not count pauses', () => {
    const paused = [...limited, asked('pause', 'a', 11_000)];
    expect(nextDeadline(play(...paused).state)).toBeNull();
    expect(short(play(...paused, time(1e9)).actions)).toEqual(['launch a', 'pause a']);
    expect(nextDeadline(play(...paused, asked('continue', 'a', 500_000)).state)).toBe(61_000 + 489_000);
  });

  it('counts from the start of each attempt', () => {
    const again = [
      ...limited,
      endedAs('a', { kind: 'failed', code: 1 }),
      asked('resume', 'a'),
      started('a', 2, 90_000),
    ];
    expect(nextDeadline(play(...again).state)).toBe(150_000);
  });

  it('can be retried, but not once a person stopped the run', () => {
    const retry = { max: 1, backoffMs: 0, on: ['timeout' as const] };
    const over = [slots(1), submitted([{ name: 'a', timeoutMs: 10, retry }]), started('a'), time(20)];
    const gone = endedAs('a', { kind: 'signal', signal: 'SIGTERM' });
    expect(short(play(...over, gone).actions)).toEqual(['launch a', 'terminate a', 'launch a']);
    expect(after('a', ...over, stopAsked('a'), gone).state).toMatchObject({ outcome: { kind: 'killed' } });
  });

  it('is nothing to a run that ended before', () => {
    const { state, actions } = play(...limited, endedAs('a', { kind: 'done' }), time(99_000));
    expect(short(actions)).toEqual(['launch a']);
    expect(nextDeadline(state)).toBeNull();
  });

  it('is waited for along with kills and retries, the first of them first', () => {
    const retry = { max: 1, backoffMs: 5000, on: ['crash' as const] };
    const { state } = play(
      ...[slots(3), submitted([{ name: 'a', timeoutMs: 60_000 }, { name: 'b', retry }, 'c'])],
      ...[started('a'), started('b'), started('c'), endedAs('b', { kind: 'failed', code: 1 }), stopAsked('c')],
    );
    expect(nextDeadline(state)).toBe(2 + 5000);
    expect(nextDeadline(play(slots(1), submitted(['a']), started('a')).state)).toBeNull();
  });
});
