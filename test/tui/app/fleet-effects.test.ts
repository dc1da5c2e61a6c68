import { beforeEach, describe, expect, it } from 'vitest';
import { FleetEffects, isFleetEffect } from '../../../src/tui/app/fleet-effects.js';
import type { FleetEffect } from '../../../src/tui/state/ui-state.js';
import type { Ack } from '../../../src/tui/state/port.js';
import { aRun, SimulatedFleet } from '../simulated-fleet.js';

let fleet: SimulatedFleet;
let said: string[];
let orders: FleetEffects;
beforeEach(() => {
  fleet = new SimulatedFleet([], []);
  said = [];
  orders = new FleetEffects(fleet, ({ text, tone }) => said.push(`${tone}: ${text}`));
});

const ids = [aRun('A_x').id];

describe('an order to the supervisor', () => {
  it.each<[FleetEffect, string, string]>([
    [{ type: 'kill', ids, what: 'A_x' }, 'kill abcd/A_x', 'Killing A_x …'],
    [{ type: 'resume', ids, what: 'A_x' }, 'resume abcd/A_x', 'Resuming A_x …'],
    [{ type: 'priority', ids, what: 'A_x', priority: 5 }, 'priority 5 abcd/A_x', 'Giving A_x priority 5 …'],
    [{ type: 'more-slots', by: 1 }, 'slots {"slots":3}', 'Adding a slot …'],
    [{ type: 'more-slots', by: -1 }, 'slots {"slots":1}', 'Removing a slot …'],
    [{ type: 'set-slots', wish: { perGpu: 2 } }, 'slots {"perGpu":2}', 'Changing the slots …'],
    [{ type: 'drain', gpus: [0, 2], drained: true }, 'drain 0 2', 'Draining GPU 0, 2 …'],
    [{ type: 'drain', gpus: [0], drained: false }, 'undrain 0', 'Undraining GPU 0 …'],
    [{ type: 'stop-sweep', sweep: 'abcd' }, 'stop abcd', 'Stopping abcd …'],
  ])('$type is sent as it is meant, and told before and after', async (order, asked, doing) => {
    expect(isFleetEffect(order)).toBe(true);
    const sent = orders.send(order);
    expect(orders.pending).toEqual([doing]);
    await sent;
    expect(fleet.asked).toEqual([asked]);
    expect(orders.pending).toEqual([]);
    expect(said[0]).toBe(`dim: ${doing}`);
    expect(said[1]).toMatch(/^good: /);
  });

  it.each<[string, Ack, string]>([
    ['what was done, with what undoes it', { ok: true, message: 'it stops' }, 'good: it stops · r resumes'],
    ['why not, and what to do', { ok: false, message: 'It has ended.', fix: 'Look.' }, 'bad: It has ended. → Look.'],
    ['why not', { ok: false, message: 'It has\u001b[2J ended.', fix: null }, 'bad: It has ended.'],
  ])('is answered: %s', async (_, answer, words) => {
    fleet.answer = answer;
    await orders.send({ type: 'kill', ids, what: 'A_x', undo: 'r resumes' });
    expect(said.at(-1)).toBe(words);
  });

  it('that does not arrive is told', async () => {
    fleet.act = () => Promise.reject(new Error('socket closed'));
    await orders.send({ type: 'hold', ids, what: 'A_x' });
    expect(said.at(-1)).toBe('bad: hold did not reach the supervisor: socket closed');
    expect(orders.pending).toEqual([]);
  });

  it('is not what only the window can do', () => {
    expect(isFleetEffect({ type: 'leave' })).toBe(false);
    expect(isFleetEffect({ type: 'extend', sweep: 'abcd' })).toBe(false);
  });
});

describe('slots', () => {
  it('are counted from what was asked, not from what has been told so far', async () => {
    await Promise.all([1, 1, -1, 1].map((by) => orders.send({ type: 'more-slots', by })));
    expect(fleet.asked).toEqual([3, 4, 3, 4].map((slots) => `slots {"slots":${slots}}`));
  });

  it('never go below none, and it is said that nothing starts then', async () => {
    fleet.status = { ...fleet.status, cpu: { slots: 1, busy: 0 } };
    await Promise.all([-1, -1].map((by) => orders.send({ type: 'more-slots', by })));
    expect(fleet.asked).toEqual(['slots {"slots":0}', 'slots {"slots":0}']);
    expect(said.at(-1)).toContain('0 slots now; no new runs start');
  });

  it('that are taken away stay with the runs that have them', async () => {
    await orders.send({ type: 'more-slots', by: -1 });
    expect(said.at(-1)).toBe('good: 1 slot now; the 2 runs that hold one keep it until they end');
  });
});
