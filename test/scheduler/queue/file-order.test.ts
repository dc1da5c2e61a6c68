import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { restored, Snapshot, snapshotOf } from '../../../src/scheduler/snapshot.js';
import type { SchedulerState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { asked, ended, id, launched, play, slots, started, submitted } from '../play.js';

/** The runs of the sweep of these tests, as lists show them. */
const listed = ({ sweeps }: SchedulerState, sweep = 's') =>
  [...sweeps.get(sweep)!].map((run) => run.slice(sweep.length + 1));

/** Those that wait for their turn, the next one first. */
const queue = ({ runs }: SchedulerState) =>
  [...runs.values()]
    .filter(({ state }) => state.phase === 'waiting')
    .sort((a, b) => a.order - b.order)
    .map((run) => run.id);

/** The same submission for another sweep. */
const ofSweep = (sweep: string, event: SchedulerEvent) =>
  JSON.parse(
    JSON.stringify(event).replaceAll('"s/', `"${sweep}/`).replace('"sweep":"s"', `"sweep":"${sweep}"`),
  ) as SchedulerEvent;

const withOrder = (names: string[], event: SchedulerEvent) => ({ ...event, order: names.map(id) }) as SchedulerEvent;

describe('the order of runs in a sweep that is submitted again', () => {
  it.each<{ when: string; first: string[]; again: string[]; order: string[] }>([
    {
      when: 'a seed is added between others',
      first: ['a0', 'b0'],
      again: ['a0', 'a1', 'b0', 'b1'],
      order: ['a0', 'a1', 'b0', 'b1'],
    },
    { when: 'one is added before all', first: ['a', 'b'], again: ['x', 'a', 'b'], order: ['x', 'a', 'b'] },
    {
      when: 'the file has them in another order',
      first: ['a', 'b', 'c'],
      again: ['c', 'a', 'b'],
      order: ['c', 'a', 'b'],
    },
    {
      when: 'the file no longer names one',
      first: ['a', 'b', 'c'],
      again: ['a', 'c', 'd'],
      order: ['a', 'c', 'd', 'b'],
    },
    { when: 'only a later part of it is', first: ['a', 'b', 'c'], again: ['b', 'b1'], order: ['a', 'b', 'b1', 'c'] },
    { when: 'a clone comes', first: ['a', 'b'], again: ['a_2'], order: ['a', 'b', 'a_2'] },
  ])('is that of the file, in lists and in the queue: $when', ({ first, again, order }) => {
    const { state } = play(slots(0), submitted(first), submitted(again));
    expect(listed(state)).toEqual(order);
    expect(queue(state)).toEqual(order.map(id));
    expect([...state.runs.values()].every(({ id: own, place }) => order[place] === own.slice(2))).toBe(true);
  });

  it('is that of the whole file, where only some of its runs are submitted', () => {
    const { state } = play(
      slots(0),
      submitted(['a0', 'b0']),
      withOrder(['a0', 'a1', 'b0', 'b1'], submitted(['a1', 'b1'])),
    );
    expect(listed(state)).toEqual(['a0', 'a1', 'b0', 'b1']);
  });

  it('starts an added run before those behind it that still wait, and leaves alone what runs', () => {
    const events = [slots(1), submitted(['a0', 'b0', 'c0']), started('a0'), submitted(['a0', 'a1', 'b0', 'b1', 'c0'])];
    const { state, actions } = play(...events, ended('a0'));
    expect(launched(actions)).toEqual(['a0', 'a1']);
    expect(queue(state)).toEqual(['b0', 'b1', 'c0'].map(id));
  });

  it('gives way to priorities, and leaves what is held held', () => {
    const { state } = play(
      slots(0),
      submitted([{ name: 'a', priority: 1 }, 'b']),
      asked('hold', 'b'),
      submitted(['x', { name: 'a', priority: 1 }, 'b']),
    );
    expect(state.runs.get(id('b'))!.hold).toEqual({ by: 'person' });
    expect(state.queues.get('cpu/1')!.first()).toBe(id('a'));
  });

  it('is kept by a snapshot, also one that is taken while the runs are taken in', () => {
    const more = { ...submitted(['x', 'a', 'y', 'b', 'z']), portion: 2 } as SchedulerEvent;
    const tick: SchedulerEvent = { type: 'time-passed', at: 3 };
    const { state } = play(slots(0), submitted(['a', 'b']), more);
    const copy = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    const whole = play(slots(0), submitted(['a', 'b']), more, tick, tick).state;
    expect(listed(whole)).toEqual(['x', 'a', 'y', 'b', 'z']);
    expect(state.intakes).toHaveLength(1);
    // The rest is taken in by the state that was read again.
    for (const event of [tick, tick]) step(copy, event);
    expect(listed(copy)).toEqual(listed(whole));
    expect(queue(copy)).toEqual(queue(whole));
    expect(snapshotOf(copy)).toEqual(snapshotOf(whole));
  });

  it('takes no place in the queue from other sweeps, whatever is submitted in which order', () => {
    const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
    fc.assert(
      fc.property(names, names, names, (first, others, again) => {
        const before = [slots(0), submitted(first), ofSweep('t', submitted(others))];
        const { state } = play(...before, submitted(again));
        const isOwn = (run: string) => run.startsWith('s/');
        const fresh = again.filter((name) => !first.includes(name));
        const appended = [...first.map(id), ...others.map((name) => `t/${name}`), ...fresh.map(id)];
        expect(queue(state).map(isOwn)).toEqual(appended.map(isOwn));
        expect(queue(state).filter((run) => !isOwn(run))).toEqual(others.map((name) => `t/${name}`));
        const named = listed(state).filter((name) => again.includes(name));
        expect(named).toEqual(again);
        expect(new Set(listed(state))).toEqual(new Set([...first, ...again]));
        expect(queue(state).filter(isOwn)).toEqual(listed(state).map(id));
      }),
    );
  });
});
