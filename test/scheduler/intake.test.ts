import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDeadline } from '../../src/scheduler/lifecycle/move.js';
import type { SchedulerEvent } from '../../src/scheduler/event.js';
import { restored, Snapshot, snapshotOf } from '../../src/scheduler/snapshot.js';
import type { SchedulerState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { isIdle, isSettled, waitingReason } from '../../src/scheduler/placement/waiting-reason.js';
import { asked, ended, id, play, slots, started, submitted } from './play.js';

const inPortions = (event: SchedulerEvent, portion: number) => ({ ...event, portion }) as SchedulerEvent;
const later: SchedulerEvent = { type: 'time-passed', at: 0 };
const names = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`);

/** Lets it be taken in to its end; the actions of that. */
function takeAll(state: SchedulerState) {
  const actions = [];
  while (state.intakes.length > 0) actions.push(...step(state, later).actions);
  return actions;
}

const sketches = fc.uniqueArray(
  fc.record({
    name: fc.integer({ min: 0, max: 30 }).map((n) => `r${n}`),
    group: fc.constantFrom('first', 'then', 'last'),
    priority: fc.nat(2),
    wish: fc.constantFrom('run' as const, 'done' as const, 'keep' as const, 'extend' as const, 'adopt' as const),
    attempts: fc.nat(2),
  }),
  { selector: ({ name }) => name, minLength: 1 },
);
const needs = { then: ['first'], last: ['then'] };

describe('a submission that is taken in by the portion', () => {
  it('leads to the same as one that is taken in at once, on top of whatever is there', () => {
    fc.assert(
      fc.property(sketches, sketches, fc.nat(3), fc.integer({ min: 1, max: 9 }), (before, now, cpus, portion) => {
        const there = [slots(cpus), submitted(before, { last: ['first'] }), started(before[0]!.name)];
        const [whole, parts] = [play(...there), play(...there)];
        const atOnce = step(whole.state, submitted(now, needs));
        const first = step(parts.state, inPortions(submitted(now, needs), portion));
        const actions = [...first.actions, ...takeAll(parts.state)];
        expect(snapshotOf(parts.state)).toEqual(snapshotOf(whole.state));
        expect(actions).toEqual(atOnce.actions);
        const reasons = ({ runs }: SchedulerState, of: SchedulerState) =>
          [...runs.keys()].map((run) => waitingReason(of, run));
        expect(reasons(parts.state, parts.state)).toEqual(reasons(whole.state, whole.state));
      }),
    );
  });

  it('starts nothing before the last of it is there, which may be the first in line', () => {
    const { state, actions } = play(slots(1), inPortions(submitted(['a', 'b', { name: 'c', priority: 1 }]), 1));
    expect(actions).toEqual([]);
    expect(step(state, asked('release', 'a')).actions).toEqual([]);
    expect(state.runs.size).toBe(1);
    expect(takeAll(state)).toMatchObject([{ type: 'launch', id: id('c') }]);
  });

  it('is due at once, and neither settled nor at rest until it is all there', () => {
    const { state } = play(inPortions(submitted(names(3)), 2));
    expect([nextDeadline(state), isSettled(state), isIdle(state, [])]).toEqual([0, false, false]);
    step(state, later);
    expect([nextDeadline(state), isSettled(state), isIdle(state, [])]).toEqual([null, true, true]);
  });

  it('does not let a group start whose needs are only partly there', () => {
    const runs = [
      { name: 'b', group: 'then' },
      { name: 'a', group: 'first', wish: 'done' as const },
      { name: 'c', group: 'first' },
    ];
    const { state } = play(slots(2), inPortions(submitted(runs, needs), 1), later, later);
    expect(state.intakes).toEqual([]);
    expect(state.runs.get(id('c'))!.state.phase).toBe('starting');
    expect(waitingReason(state, id('b'))).toBe('waiting for first (1 of 2 done)');
  });

  it('is dropped with its sweep', () => {
    const { state } = play(inPortions(submitted(names(5)), 2), { type: 'sweep-forgotten', at: 1, sweep: 's' }, later);
    expect([state.runs.size, state.groups.size, state.intakes]).toEqual([0, 0, []]);
  });

  it('is taken in after one that came before it', () => {
    const { state } = play(inPortions(submitted(names(5)), 2), inPortions(submitted(['x', 'y', 'z']), 2));
    expect([...state.runs.keys()]).toEqual([id('r0'), id('r1')]);
    takeAll(state);
    expect([...state.runs.keys()]).toEqual([...names(5), 'x', 'y', 'z'].map(id));
  });

  it('goes on from a snapshot as if there had been none', () => {
    const { state } = play(slots(2), inPortions(submitted(names(7)), 2), later);
    const again = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    expect(takeAll(again)).toEqual(takeAll(state));
    expect(snapshotOf(again)).toEqual(snapshotOf(state));
    expect(again.runs.size).toBe(7);
  });

  it('is left alone by news of what is there already', () => {
    const { state } = play(slots(1), submitted(['a']), started('a'), inPortions(submitted(names(3)), 1), ended('a'));
    expect(state.runs.get(id('a'))!.state.phase).toBe('ended');
    expect(takeAll(state)).toMatchObject([{ type: 'launch', id: id('r0') }]);
  });
});
