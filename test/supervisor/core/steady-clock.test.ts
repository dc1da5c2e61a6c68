import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { type Clocks, SteadyClock } from '../../../src/supervisor/core/steady-clock.js';

const START = 1_700_000_000_000;

/** A machine with a boot clock that runs and a wall clock that anyone may set, and the journal of its supervisors. */
function newMachine() {
  const state = emptyState();
  const machine = { wall: START, boot: 5000, bootId: 'a' };
  const events: SchedulerEvent[] = [];
  const note = (clock: SteadyClock) => {
    const news = clock.reading();
    if (news === null) return;
    events.push(news);
    step(state, news);
  };
  const life = () => {
    const clocks: Clocks = { wallMs: () => machine.wall, bootMs: () => machine.boot, bootId: machine.bootId };
    const clock = new SteadyClock(state.boots, clocks);
    note(clock);
    return clock;
  };
  const pass = (ms: number) => {
    machine.wall += ms;
    machine.boot += ms;
  };
  return { machine, state, events, life, note, pass };
}

describe('the line of times', () => {
  it('runs evenly through all lives of one boot, however the wall clock is set', () => {
    const moves = fc.array(
      fc.record({ pass: fc.nat(1e7), set: fc.integer({ min: -1e9, max: 1e9 }), isNew: fc.boolean() }),
    );
    fc.assert(
      fc.property(moves, (all) => {
        const { machine, life, pass } = newMachine();
        let clock = life();
        const [from, boot] = [clock.now(), machine.boot];
        for (const move of all) {
          pass(move.pass);
          machine.wall += move.set;
          if (move.isNew) clock = life();
          expect(clock.now() - from).toBe(machine.boot - boot);
        }
      }),
    );
  });

  it('goes on with the wall clock after a reboot, but not backwards', () => {
    const { machine, life, pass } = newMachine();
    life();
    pass(1000);
    Object.assign(machine, { boot: 10, bootId: 'b', wall: START + 90_000 });
    expect(life().now()).toBe(START + 90_000);
    // A machine without a battery for its clock.
    Object.assign(machine, { boot: 10, bootId: 'c', wall: 0 });
    expect(life().now()).toBe(START + 90_000);
  });

  it('follows the wall clock where boots cannot be told apart', () => {
    const { machine, life } = newMachine();
    machine.bootId = '';
    life();
    machine.wall += 5000;
    expect(life().now()).toBe(START + 5000);
  });

  it('does not go on with a boot clock that has gone backwards', () => {
    const { machine, life } = newMachine();
    life();
    Object.assign(machine, { boot: 1, wall: START + 60_000 });
    expect(life().now()).toBe(START + 60_000);
  });
});

describe('what people are shown', () => {
  it('is true as soon as the wall clock is, for what happened in that boot', () => {
    const { machine, life, note, pass } = newMachine();
    machine.wall = 0;
    const clock = life();
    const at = clock.now();
    pass(10_000);
    machine.wall = START;
    expect(clock.wallTime(at)).toBe(0);
    note(clock);
    expect(clock.wallTime(at)).toBe(START - 10_000);
    expect(clock.wallTime(clock.now())).toBe(START);
  });

  it('of an earlier boot stays as it was', () => {
    const { machine, life, pass } = newMachine();
    const old = life().now();
    pass(60_000);
    Object.assign(machine, { boot: 1, bootId: 'b', wall: START + 120_000 });
    const clock = life();
    machine.wall += 1e9;
    expect([clock.wallTime(old), life().wallTime(old)]).toEqual([START, START]);
  });

  it('is not written down for the little that two looks at clocks differ', () => {
    const { machine, life, events, pass } = newMachine();
    life();
    for (let n = 0; n < 10; n++) {
      pass(1000);
      machine.wall += 20;
      if (n % 2 === 0) life();
    }
    expect(events).toHaveLength(1);
  });
});
