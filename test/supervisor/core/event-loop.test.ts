import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SchedulerAction, SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { EventLoop, type Observer } from '../../../src/supervisor/core/event-loop.js';
import { ended, id, short, slots, started, stopAsked, submitted } from '../../scheduler/play.js';
import { PATIENCE_MS } from '../../patience.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A loop that writes down what it is given and what it tells; the disk refuses while `full` is set. */
function newWorld() {
  const world = { full: false, recorded: [] as SchedulerEvent[], actions: [] as SchedulerAction[], batches: 0 };
  const troubles: (string | null)[] = [];
  const loop = new EventLoop(emptyState(), {
    record: async (events) => {
      await Promise.resolve();
      if (world.full) throw new Error('no space');
      world.batches += 1;
      world.recorded.push(...events);
    },
  });
  loop.subscribe({
    perform: (action) => world.actions.push(action),
    trouble: (cause) => troubles.push(cause?.message ?? null),
  });
  return { world, troubles, loop };
}

/** An observer that notes what it is told, under its name. */
function noting(name: string, told: string[]): Observer {
  return {
    heard: ({ type }, touched) => told.push(`${name} heard ${type} of ${[...touched].join()}`),
    follow: (touched) => told.push(`${name} follows ${[...touched].join()}`),
    changed: (ids) => told.push(`${name} sees ${[...ids].join()}`),
    perform: ({ type }) => told.push(`${name} performs ${type}`),
  };
}

describe('the event loop', () => {
  it('acts on an event only when it is written down', async () => {
    const { world, loop } = newWorld();
    loop.tell(slots(1));
    const asked = loop.ask(submitted(['a']));
    expect([world.recorded, world.actions]).toEqual([[], []]);
    await asked;
    expect(world.recorded.map(({ type }) => type)).toEqual(['slots-changed', 'runs-submitted']);
    expect(short(world.actions)).toEqual(['launch a']);
  });

  it('writes what came in meanwhile in one go', async () => {
    const { world, loop } = newWorld();
    const all = [slots(1), submitted(['a']), started('a'), ended('a')].map((event) => loop.ask(event));
    await Promise.all(all);
    expect(world.batches).toBe(2);
  });

  it('lets a mention wait for company, but not long', async () => {
    const { world, loop } = newWorld();
    await loop.ask(slots(1));
    await loop.ask(submitted(['a', 'b']));
    loop.mention(started('a'));
    await vi.advanceTimersByTimeAsync(1);
    expect(world.batches).toBe(2);
    await loop.ask(ended('a'));
    expect(world.batches).toBe(3);
    loop.mention(started('b'));
    await vi.advanceTimersByTimeAsync(20);
    expect(world.batches).toBe(4);
    expect(world.recorded.at(-1)).toEqual(started('b'));
  });

  it('refuses a request that it cannot write down, and does not act on it later', async () => {
    const { world, troubles, loop } = newWorld();
    await loop.ask(slots(1));
    await loop.ask(submitted(['a']));
    await loop.ask(started('a'));
    world.full = true;
    await expect(loop.ask(stopAsked('a'))).rejects.toMatchObject({
      ...{ name: 'UserError', message: 'It could not be recorded, so it was not done: no space.' },
    });
    world.full = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect(short(world.actions)).toEqual(['launch a']);
    expect(troubles.at(-1)).toBe('no space');
  });

  it('says when all has been acted upon, and waits for no disk', async () => {
    const { world, loop } = newWorld();
    await loop.untilQuiet();
    void loop.ask(slots(1));
    void loop.ask(submitted(['a']));
    await loop.untilQuiet();
    expect(short(world.actions)).toEqual(['launch a']);
    world.full = true;
    loop.tell(started('a'));
    await loop.untilQuiet();
    expect(loop.isQuiet).toBe(false);
  });

  it('keeps a fact until it can be written down, and what follows it in order', async () => {
    const { world, troubles, loop } = newWorld();
    await loop.ask(slots(1));
    await loop.ask(submitted(['a', 'b']));
    world.full = true;
    loop.tell(started('a'));
    await vi.advanceTimersByTimeAsync(2500);
    loop.tell(ended('a'));
    await vi.advanceTimersByTimeAsync(2500);
    expect(short(world.actions)).toEqual(['launch a']);
    expect(loop.isQuiet).toBe(false);
    world.full = false;
    await vi.advanceTimersByTimeAsync(1500);
    expect(world.recorded.map(({ type }) => type)).toEqual([
      'slots-changed',
      'runs-submitted',
      'run-started',
      'run-ended',
    ]);
    expect(short(world.actions)).toEqual(['launch a', 'launch b']);
    expect(loop.isQuiet).toBe(true);
    expect(troubles.at(-1)).toBeNull();
  });

  it('keeps facts in order that were told while one before them was refused', async () => {
    const { world, loop } = newWorld();
    await loop.ask(slots(1));
    await loop.ask(submitted(['a', 'b']));
    world.full = true;
    loop.tell(started('a'));
    // The disk has not yet refused the first.
    loop.tell(ended('a'));
    await vi.advanceTimersByTimeAsync(10);
    world.full = false;
    await vi.advanceTimersByTimeAsync(1500);
    expect(world.recorded.slice(2).map(({ type }) => type)).toEqual(['run-started', 'run-ended']);
    expect(short(world.actions)).toEqual(['launch a', 'launch b']);
  });

  it('tells all observers of an event, in the order in which they subscribed, before its actions are taken', async () => {
    const { loop } = newWorld();
    await loop.ask(slots(1));
    const told: string[] = [];
    loop.subscribe(noting('first', told), {}, noting('second', told));
    await loop.ask(submitted(['a']));
    expect(told).toEqual([
      ...['first heard runs-submitted of s/a', 'second heard runs-submitted of s/a'],
      ...['first follows s/a', 'second follows s/a'],
      ...['first performs launch', 'second performs launch'],
    ]);
  });

  it('passes on what is new by no event, and writes nothing down for it', async () => {
    const { world, loop } = newWorld();
    const told: string[] = [];
    loop.subscribe(noting('one', told), noting('other', told));
    loop.follow(new Set([id('a'), id('b')]));
    loop.changed([id('b')]);
    expect(told).toEqual(['one follows s/a,s/b', 'other follows s/a,s/b', 'one sees s/b', 'other sees s/b']);
    expect(world.batches).toBe(0);
  });

  it('lets nothing into the journal that was not redacted', async () => {
    const recorded: SchedulerEvent[] = [];
    const loop = new EventLoop(emptyState(), {
      record: async (events) => void recorded.push(...events),
      redact: (event) => (event.type === 'launch-failed' ? { ...event, reason: '***' } : event),
    });
    await loop.ask(slots(1));
    await loop.ask(submitted(['a']));
    loop.tell({ type: 'launch-failed', at: 1, id: id('a'), attempt: 1, reason: 'no token-1234 here' });
    await vi.waitFor(() => expect(loop.isQuiet).toBe(true), PATIENCE_MS);
    expect(recorded.at(-1)).toMatchObject({ type: 'launch-failed', reason: '***' });
  });
});
