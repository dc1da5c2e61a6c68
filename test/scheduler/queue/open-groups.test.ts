import { describe, expect, it } from 'vitest';
import { GroupId } from '../../../src/base/ids.js';
import type { Breaker, EventOf, SchedulerEvent } from '../../../src/scheduler/event.js';
import { isSettled } from '../../../src/scheduler/placement/waiting-reason.js';
import { groupInNeed, growingGroups } from '../../../src/scheduler/queue/groups.js';
import { restored, Snapshot, snapshotOf } from '../../../src/scheduler/snapshot.js';
import { asked, ended, endedAs, launched, play, type Sketch, slots, started, submitted } from '../play.js';

const group = GroupId.parse('s/main');

/** A submit of a group that comes to `cap` runs. */
function opened(runs: (Sketch | string)[], cap: number, breaker: Breaker | null = null): SchedulerEvent {
  const event = submitted(runs, {}, breaker) as EventOf<'runs-submitted'>;
  return { ...event, groups: event.groups.map((each) => ({ ...each, open: { cap } })) };
}

function proposed(name: string): SchedulerEvent {
  return { ...(submitted([name]) as EventOf<'runs-submitted'>), plan: `p-${name}`, groups: [], proposed: true };
}

const closed: SchedulerEvent = { type: 'groups-closed', at: 1, groups: [group], reason: 'stopped' };
const failed = (name: string) => [started(name), endedAs(name, { kind: 'failed', code: 1 })];
const breaker = { failures: 2, withinMs: 1e9 };

describe('an open group', () => {
  it.each<{ when: string; events: SchedulerEvent[]; needs: boolean }>([
    { when: 'there is a free slot', events: [slots(2), opened(['a'], 3)], needs: true },
    { when: 'all slots are taken', events: [slots(1), opened(['a'], 3)], needs: false },
    { when: 'one of its runs waits', events: [slots(0), opened(['a'], 3)], needs: false },
    { when: 'a slot became free', events: [slots(1), opened(['a'], 3), started('a'), ended('a')], needs: true },
    { when: 'it is full', events: [slots(3), opened(['a'], 2), proposed('b')], needs: false },
    { when: 'it was closed', events: [slots(2), opened(['a'], 3), closed], needs: false },
    {
      when: 'a person holds one of its runs',
      events: [slots(1), opened(['a', 'b'], 3), asked('hold', 'b'), started('a'), ended('a')],
      needs: false,
    },
    {
      when: 'its runs fail at once',
      events: [slots(1), opened(['a'], 9, breaker), ...failed('a'), proposed('b'), ...failed('b')],
      needs: false,
    },
    {
      when: 'a person tries one of those again that failed at once',
      events: [
        slots(2),
        opened(['a'], 9, breaker),
        ...failed('a'),
        proposed('b'),
        ...failed('b'),
        asked('resume', 'b'),
      ],
      needs: true,
    },
  ])('needs a run: $needs, when $when', ({ events, needs }) => {
    expect(groupInNeed(play(...events).state)?.id ?? null).toBe(needs ? group : null);
  });

  it('keeps the rest from being settled until it is full and its runs have ended', () => {
    const events = [slots(1), opened(['a'], 2), started('a'), ended('a')];
    expect(isSettled(play(...events).state)).toBe(false);
    const all = [...events, proposed('b'), started('b'), ended('b')];
    expect(isSettled(play(...all).state)).toBe(true);
    expect(growingGroups(play(...all).state)).toEqual([]);
  });

  it('starts a run that is proposed, once, and not one that is proposed too late', () => {
    const events = [slots(5), opened(['a'], 3), proposed('b'), proposed('b')];
    expect(launched(play(...events).actions)).toEqual(['a', 'b']);
    expect(play(...events, proposed('c'), proposed('d')).state.runs.size).toBe(3);
    expect(play(...events, closed, proposed('c')).state.runs.size).toBe(2);
    expect(play(slots(5), submitted(['a']), proposed('b')).state.runs.size).toBe(1);
  });

  it('is not done while it may get further runs: who needs it waits', () => {
    const more = submitted([{ name: 'z', group: 'late' }], { late: ['main'] }) as EventOf<'runs-submitted'>;
    const events = [slots(1), opened(['a'], 2), more, started('a'), ended('a')];
    expect(launched(play(...events).actions)).toEqual(['a']);
    expect(launched(play(...events, closed).actions)).toEqual(['a', 'z']);
  });

  it('is the same after a snapshot', () => {
    const { state } = play(slots(2), opened(['a'], 3), closed);
    const copy = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    expect(copy.groups.get(group)!.open).toEqual({ cap: 3, plan: 'p', closed: { by: 'request', reason: 'stopped' } });
  });
});
