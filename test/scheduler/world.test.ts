import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SchedulerAction, SchedulerEvent } from '../../src/scheduler/event.js';
import { restored, Snapshot, snapshotOf } from '../../src/scheduler/snapshot.js';
import { emptyState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { isSettled, waitingReason } from '../../src/scheduler/placement/waiting-reason.js';
import { judge } from './referee.js';
import { World } from './world.js';

const copied = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
const seeds = fc.integer({ min: 0, max: 2 ** 31 });

const portions = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });

function launches(actions: readonly SchedulerAction[]): string[] {
  return actions.filter(({ type }) => type === 'launch').map(({ id, attempt }) => `${id} ${attempt}`);
}

describe('eight GPUs, whatever happens to them,', () => {
  it('are never given too much, nor left idle, in 10,000 events', () => {
    const world = new World(20_261_121, judge);
    world.live(10_000);
    const kinds = new Set(world.actions.map(({ type }) => type));
    expect(kinds).toEqual(new Set(['launch', 'terminate', 'kill', 'pause', 'continue']));
    expect(launches(world.actions).length).toBeGreaterThan(500);
    const takenOver = world.actions.filter((action) => action.type === 'launch' && action.isUp);
    expect(takenOver.length).toBeGreaterThan(10);
  });

  it('are never given too much, nor left idle, from any other beginning', () => {
    fc.assert(
      fc.property(seeds, (seed) => new World(seed, judge).live(300)),
      { numRuns: 15 },
    );
  });

  it('are never given too much, nor left idle, where submissions are taken in by the portion', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 50 }), (seed, portion) => {
        const world = new World(seed, judge, portion);
        world.live(300);
        world.settle();
        expect(world.state.runs.size).toBe(60);
      }),
      { numRuns: 15 },
    );
  });

  it('start nothing twice', () => {
    fc.assert(
      fc.property(seeds, portions, (seed, portion) => {
        const world = new World(seed, null, portion);
        world.live(400);
        const made = launches(world.actions);
        expect(new Set(made).size).toBe(made.length);
        const orders = world.actions.filter(({ type }) => type === 'kill' || type === 'terminate');
        expect(new Set(orders.map(({ type, id, attempt }) => `${type} ${id} ${attempt}`)).size).toBe(orders.length);
        const known = new Set(made);
        expect(world.actions.filter(({ id, attempt }) => !known.has(`${id} ${attempt}`))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it('bring every run to its end once nothing stands in the way', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const world = new World(seed, judge);
        world.live(200);
        world.settle();
        const open = [...world.state.runs.values()].filter(({ state }) => state.phase !== 'ended');
        // One that asks for more memory than there is on enough GPUs says so, and so do those that wait for its group.
        const reasons = open.map(({ id }) => waitingReason(world.state, id)!);
        expect(reasons.filter((reason) => !/^(needs|waiting for (warmup|main) )/.test(reason))).toEqual([]);
        expect(isSettled(world.state)).toBe(true);
      }),
      // A run of unknown memory beside others that have outgrown their GPU.
      { numRuns: 10, examples: [[831505329]] },
    );
  });

  it('are the same after the events were written down and played again', () => {
    fc.assert(
      fc.property(seeds, portions, (seed, portion) => {
        const world = new World(seed, null, portion);
        world.live(400);
        const again = emptyState();
        const repeated = copied<SchedulerEvent[]>(world.events).flatMap((event) => step(again, event).actions);
        expect(repeated).toEqual(world.actions);
        expect(snapshotOf(again)).toEqual(snapshotOf(world.state));
      }),
      { numRuns: 20 },
    );
  });

  it('go on from a snapshot as if there had been none', () => {
    fc.assert(
      fc.property(seeds, fc.nat(300), portions, (seed, first, portion) => {
        const world = new World(seed, null, portion);
        world.live(first);
        const events = world.events.length;
        const actions = world.actions.length;
        const kept = copied(snapshotOf(world.state));
        expect(snapshotOf(restored(Snapshot.parse(kept)))).toEqual(kept);
        world.live(200);
        const state = restored(Snapshot.parse(kept));
        const repeated = world.events.slice(events).flatMap((event) => step(state, event).actions);
        expect(repeated).toEqual(world.actions.slice(actions));
        expect(snapshotOf(state)).toEqual(snapshotOf(world.state));
      }),
      { numRuns: 15 },
    );
  });
});
