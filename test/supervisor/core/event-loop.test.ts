import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SchedulerAction } from '../../../src/scheduler/action.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { type Ports, EventLoop } from '../../../src/supervisor/core/event-loop.js';
import { ended, short, slots, started, stopAsked, submitted } from '../../scheduler/play.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Ports that write down what they are given; the disk refuses while `full` is set. */
function newWorld() {
  const world = { full: false, recorded: [] as SchedulerEvent[], actions: [] as SchedulerAction[], batches: 0 };
  const troubles: (string | null)[] = [];
  const ports: Ports = {
    record: async (events) => {
      await Promise.resolve();
      if (world.full) throw new Error('no space');
      world.batches += 1;
      world.recorded.push(...events);
    },
    perform: (action) => world.actions.push(action),
    publish: () => undefined,
    trouble: (cause) => troubles.push(cause?.message ?? null),
  };
  return { world, troubles, supervisor: new EventLoop(emptyState(), ports) };
}

describe('the supervisor', () => {
  it('acts on an event only when it is written down', async () => {
    const { world, supervisor } = newWorld();
    supervisor.tell(slots(1));
    const asked = supervisor.ask(submitted(['a']));
    expect([world.recorded, world.actions]).toEqual([[], []]);
    await asked;
    expect(world.recorded.map(({ type }) => type)).toEqual(['slots-changed', 'runs-submitted']);
    expect(short(world.actions)).toEqual(['launch a']);
  });

  it('writes what came in meanwhile in one go', async () => {
    const { world, supervisor } = newWorld();
    const all = [slots(1), submitted(['a']), started('a'), ended('a')].map((event) => supervisor.ask(event));
    await Promise.all(all);
    expect(world.batches).toBe(2);
  });

  it('lets a mention wait for company, but not long', async () => {
    const { world, supervisor } = newWorld();
    await supervisor.ask(slots(1));
    await supervisor.ask(submitted(['a', 'b']));
    supervisor.mention(started('a'));
    await vi.advanceTimersByTimeAsync(1);
    expect(world.batches).toBe(2);
    await supervisor.ask(ended('a'));
    expect(world.batches).toBe(3);
    supervisor.mention(started('b'));
    await vi.advanceTimersByTimeAsync(20);
    expect(world.batches).toBe(4);
    expect(world.recorded.at(-1)).toEqual(started('b'));
  });

  it('refuses a request that it cannot write down, and does not act on it later', async () => {
    const { world, troubles, supervisor } = newWorld();
    await supervisor.ask(slots(1));
    await supervisor.ask(submitted(['a']));
    await supervisor.ask(started('a'));
    world.full = true;
    await expect(supervisor.ask(stopAsked('a'))).rejects.toMatchObject({
      ...{ name: 'UserError', message: 'It could not be written down, so it is not done: no space.' },
    });
    world.full = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(short(world.actions)).toEqual(['launch a']);
    expect(troubles.at(-1)).toBe('no space');
  });

  it('keeps a fact until it can be written down, and what follows it in order', async () => {
    const { world, troubles, supervisor } = newWorld();
    await supervisor.ask(slots(1));
    await supervisor.ask(submitted(['a', 'b']));
    world.full = true;
    supervisor.tell(started('a'));
    await vi.advanceTimersByTimeAsync(2500);
    supervisor.tell(ended('a'));
    await vi.advanceTimersByTimeAsync(2500);
    expect(short(world.actions)).toEqual(['launch a']);
    expect(supervisor.isQuiet).toBe(false);
    world.full = false;
    await vi.advanceTimersByTimeAsync(1500);
    expect(world.recorded.map(({ type }) => type)).toEqual([
      'slots-changed',
      'runs-submitted',
      'run-started',
      'run-ended',
    ]);
    expect(short(world.actions)).toEqual(['launch a', 'launch b']);
    expect(supervisor.isQuiet).toBe(true);
    expect(troubles.at(-1)).toBeNull();
  });
});
