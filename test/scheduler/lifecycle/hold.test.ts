import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import {
  after,
  asked,
  ended,
  endedAs,
  id,
  launched,
  placements,
  play,
  prioritised,
  resumeAsked,
  slots,
  started,
  stopAsked,
  submitted,
  time,
} from '../play.js';

describe('holding a run', () => {
  const two = [slots(1), submitted(['a', 'b', 'c'])];

  it('lets others pass, until it is released', () => {
    const held = [...two, asked('hold', 'b'), started('a'), ended('a')];
    expect(launched(play(...held).actions)).toEqual(['a', 'c']);
    const released = [...held, asked('release', 'b'), started('c'), ended('c')];
    expect(launched(play(...released).actions)).toEqual(['a', 'c', 'b']);
  });

  it('says so', () => {
    expect(waitingReason(play(...two, asked('hold', 'b')).state, id('b'))).toBe('held');
  });

  it('leaves nothing to do when all that waits is held', () => {
    const { state } = play(slots(0), submitted(['a']), asked('hold', 'a'), slots(1));
    expect(isSettled(state)).toBe(true);
  });

  const waiting = [slots(0), submitted(['a'])];
  const starting = [slots(1), submitted(['a'])];
  it.each<{ what: string; events: SchedulerEvent[]; isHeld: boolean }>([
    { what: 'of a run that is starting does nothing', events: [...starting, asked('hold', 'a')], isHeld: false },
    {
      what: 'of a run that is up does nothing',
      events: [...starting, started('a'), asked('hold', 'a')],
      isHeld: false,
    },
    {
      what: 'of an ended run does nothing, even when it is resumed',
      events: [...starting, started('a'), ended('a'), asked('hold', 'a'), slots(0), resumeAsked('a')],
      isHeld: false,
    },
    {
      what: 'outlasts a submit',
      events: [...waiting, asked('hold', 'a'), submitted([{ name: 'a', wish: 'keep' }]), submitted(['a'])],
      isHeld: true,
    },
    {
      what: 'does not outlast a stop',
      events: [...waiting, asked('hold', 'a'), stopAsked('a'), resumeAsked('a')],
      isHeld: false,
    },
    { what: 'twice is once', events: [...waiting, asked('hold', 'a'), asked('hold', 'a')], isHeld: true },
    {
      what: 'is over after one release',
      events: [...waiting, asked('hold', 'a'), asked('hold', 'a'), asked('release', 'a'), asked('release', 'a')],
      isHeld: false,
    },
  ])('$what', ({ events, isHeld }) => {
    expect(after('a', ...events).hold).toEqual(isHeld ? { by: 'person' } : null);
  });

  it('stands still through a backoff, which is not begun again by the release', () => {
    const retry = { max: 1, backoffMs: 5000, on: ['crash' as const] };
    const failed = [
      slots(1),
      submitted([{ name: 'a', retry }]),
      started('a'),
      endedAs('a', { kind: 'failed', code: 1 }),
    ];
    const held = [...failed, asked('hold', 'a'), time(6000)];
    expect(launched(play(...held).actions)).toEqual(['a']);
    expect(launched(play(...held, asked('release', 'a', 7000), time(7000)).actions)).toEqual(['a', 'a']);
  });

  it('of a run whose group has to wait counts when the group may start', () => {
    const runs = [{ name: 'w', group: 'warmup' }, 'a', 'b'];
    const events = [slots(3), submitted(runs, { main: ['warmup'] }), asked('hold', 'a'), started('w'), ended('w')];
    expect(launched(play(...events).actions)).toEqual(['w', 'b']);
    expect(launched(play(...events, asked('release', 'a')).actions)).toEqual(['w', 'b', 'a']);
  });
});

describe('priorities', () => {
  it('go first, and file order decides among equals', () => {
    const runs = [{ name: 'a' }, { name: 'b', priority: 1 }, { name: 'c', priority: 2 }, { name: 'd', priority: 1 }];
    const events = [slots(0), submitted(runs), slots(1)];
    for (const name of ['c', 'b', 'd']) events.push(started(name), ended(name));
    expect(launched(play(...events).actions)).toEqual(['c', 'b', 'd', 'a']);
  });

  it('can be changed while a run waits', () => {
    const { state, actions } = play(
      ...[
        slots(1),
        submitted(['a', 'b', 'c', 'd']),
        prioritised('d', 5),
        prioritised('b', -1),
        started('a'),
        ended('a'),
      ],
      ...[started('d'), ended('d')],
    );
    expect(launched(actions)).toEqual(['a', 'd', 'c']);
    expect(state.runs.get(id('b'))!.priority).toBe(-1);
  });

  it('count across runs that need different things', () => {
    const gpu = (name: string, gpus: number, priority = 0) => ({ name, priority, need: { gpus } });
    const runs = [gpu('a', 1), gpu('b', 2), gpu('c', 1, 1)];
    expect(placements(slots(0, 0), submitted(runs), slots(0, 2))).toEqual(['c: gpu 0', 'a: gpu 1']);
  });

  it('never let a large run be overtaken by a small one of the same priority', () => {
    const gpu = (name: string, gpus: number, priority: number) => ({ name, priority, need: { gpus } });
    const runs = [gpu('small', 1, 1), gpu('large', 2, 1), gpu('smaller', 1, 1), gpu('low', 1, 0)];
    const events = [slots(0, 2), submitted(runs), started('small')];
    expect(placements(...events)).toEqual(['small: gpu 0']);
    expect(placements(...events, ended('small'))).toEqual(['small: gpu 0', 'large: gpu 0,1']);
  });
});
