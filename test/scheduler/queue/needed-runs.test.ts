import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { isIdle, isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import { restored, Snapshot, snapshotOf } from '../../../src/scheduler/snapshot.js';
import { step } from '../../../src/scheduler/step.js';
import { asked, ended, id, launched, play, type Sketch, slots, started, submitted } from '../play.js';

const run = (name: string, group: string, ...needs: string[]): Sketch =>
  needs.length === 0 ? { name, group } : { name, group, needs: needs.map(id) };

/** Two runs of `main`, each with a run of `prepare` to itself. */
const pairs = submitted([
  run('p16', 'prepare'),
  run('p64', 'prepare'),
  run('m16', 'main', 'p16'),
  run('m64', 'main', 'p64'),
]);
const forgotten: SchedulerEvent = { type: 'sweep-forgotten', at: 9, sweep: 's' };

describe('a run that needs others', () => {
  it.each<{ when: string; events: SchedulerEvent[]; starts: string[] }>([
    {
      when: 'waits for those alone',
      events: [slots(2), pairs, started('p16'), ended('p16')],
      starts: ['p16', 'p64', 'm16'],
    },
    { when: 'waits whatever room there is', events: [slots(4), pairs], starts: ['p16', 'p64'] },
    {
      when: 'waits for all of them',
      events: [
        ...[slots(4), submitted([run('a', 'prepare'), run('b', 'prepare'), run('m', 'main', 'a', 'b')])],
        ...[started('a'), ended('a'), started('b'), ended('b')],
      ],
      starts: ['a', 'b', 'm'],
    },
    {
      when: 'waits for one that comes later in the file',
      events: [slots(4), submitted([run('m', 'main', 'a'), run('a', 'prepare')]), started('a'), ended('a')],
      starts: ['a', 'm'],
    },
    {
      when: 'does not wait for one that is done already',
      events: [slots(4), submitted([{ ...run('a', 'prepare'), wish: 'done' }, run('m', 'main', 'a')])],
      starts: ['m'],
    },
    {
      when: 'does not start while one has failed, and does when it is done after all',
      events: [
        ...[slots(4), pairs, started('p16'), ended('p16', 'failed'), asked('resume', 'p16')],
        ...[started('p16', 2), ended('p16', 'done', 2)],
      ],
      starts: ['p16', 'p64', 'p16', 'm16'],
    },
    {
      when: 'waits again when one has to be done again before it has started',
      events: [
        ...[slots(1), submitted([run('a', 'prepare'), run('z', 'other'), run('m', 'main', 'a')])],
        ...[started('a'), ended('a'), asked('resume', 'a'), started('z'), ended('z')],
      ],
      starts: ['a', 'z', 'a'],
    },
    {
      when: 'needs no longer what a later launch does not say',
      events: [slots(4), pairs, submitted([{ ...run('m16', 'main'), wish: 'keep' }])],
      starts: ['p16', 'p64', 'm16'],
    },
  ])('$when', ({ events, starts }) => {
    expect(launched(play(...events).actions)).toEqual(starts);
  });

  it.each<{ reason: string; events: SchedulerEvent[] }>([
    { reason: 'waiting for p64', events: [slots(4), pairs] },
    { reason: 'waiting for p64', events: [slots(4), pairs, started('p16'), ended('p16')] },
    {
      reason: 'needs p64, which failed',
      events: [slots(4), pairs, started('p64'), ended('p64', 'failed')],
    },
    {
      reason: 'waiting for b (1 of 2 done)',
      events: [
        ...[slots(4), submitted([run('a', 'prepare'), run('b', 'prepare'), run('m64', 'main', 'a', 'b')])],
        ...[started('a'), ended('a')],
      ],
    },
  ])('says so: $reason', ({ reason, events }) => {
    const { state } = play(...events);
    expect(waitingReason(state, id('m64'))).toBe(reason);
    expect(isIdle(state, [id('m64')])).toBe(true);
  });

  it('is not waited for where what it needs has failed', () => {
    const two = submitted([run('a', 'prepare'), run('m', 'main', 'a')]);
    expect(isSettled(play(slots(1), two, started('a')).state)).toBe(false);
    expect(isSettled(play(slots(1), two, started('a'), ended('a', 'failed')).state)).toBe(true);
  });

  it('tells that its reason has changed', () => {
    const { state } = play(slots(4), pairs, started('p64'));
    expect(step(state, ended('p64', 'failed')).touched).toContain(id('m64'));
  });

  it('is the same after a snapshot, and leaves nothing behind when it is forgotten', () => {
    const { state } = play(slots(4), pairs, started('p16'), ended('p16'), started('p64'), asked('hold', 'm16'));
    const again = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    expect(snapshotOf(again)).toEqual(snapshotOf(state));
    expect(launched(step(again, ended('p64')).actions)).toEqual(['m64']);
    const left = play(slots(0), pairs, forgotten).state;
    expect([left.runs.size, left.dependents.size, left.queued.size]).toEqual([0, 0, 0]);
  });
});

/** A launch of `names` of a group, and of what needs it. */
function launch(names: string[], isWhole = true): SchedulerEvent {
  const event = submitted([...names.map((name) => run(name, 'prepare')), run('m', 'main')], { main: ['prepare'] });
  if (event.type !== 'runs-submitted' || !isWhole) return event;
  const groups = event.groups.map((group) => (group.id === 's/prepare' ? { ...group, whole: true as const } : group));
  return { ...event, groups };
}

describe('a group of which a run that failed has left the file', () => {
  const failed = [slots(4), launch(['a', 'b']), started('a'), ended('a'), started('b'), ended('b', 'failed')];
  const again = launch(['a', 'c']);

  it('keeps nothing from starting any more, also after a snapshot', () => {
    const { state } = play(...failed, again);
    expect(waitingReason(state, id('m'))).toBe('waiting for prepare (1 of 2 done)');
    const kept = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    expect(snapshotOf(kept)).toEqual(snapshotOf(state));
    step(kept, started('c'));
    expect(launched(step(kept, ended('c')).actions)).toEqual(['m']);
  });

  it.each([
    { when: 'the launch has only some of its runs', events: [launch(['a', 'c'], false)] },
    { when: 'it is in the file again', events: [again, { ...launch(['a', 'b', 'c']), order: undefined }] },
  ])('keeps the others waiting where $when', ({ events }) => {
    const { state } = play(...failed, ...(events as SchedulerEvent[]), started('c'), ended('c'));
    expect(state.runs.get(id('m'))!.state.phase).toBe('waiting');
  });

  it('is waited for while that run still runs', () => {
    const { state } = play(slots(4), launch(['a', 'b']), started('a'), ended('a'), started('b'), launch(['a']));
    expect(waitingReason(state, id('m'))).toBe('waiting for prepare (1 of 2 done)');
    expect(launched(step(state, ended('b', 'failed')).actions)).toEqual(['m']);
  });
});
