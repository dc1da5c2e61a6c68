/** What every executor must do, whatever its runs are: the words of `executors/executor.ts`, as tests. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import type { Ending, Executor, ExecutorListener, LaunchSpec } from '../../src/executors/executor.js';
import { waitFor } from '../supervisor/testbed.js';

/**
 * How a run behaves. `exits`: at once, with code 3. `waits`: until `finish`, then ends with code 4. `deaf`: for ever, and a polite
 * request does not end it. `missing`: there is no such command.
 */
export type Program = 'exits' | 'waits' | 'deaf' | 'missing';

/** A place where runs can be, for one test. */
export type World = {
  /** Another executor of the same place, as after the death of a supervisor. */
  open: (listener: ExecutorListener) => Executor;
  /** A run directory that nobody has used. */
  directory: () => string;
  spec: (program: Program, directory: string, attempt: number) => LaunchSpec;
  /** Whether the program of an attempt runs. */
  isUp: (directory: string, attempt: number) => boolean;
  isStill: (directory: string, attempt: number) => boolean;
  /** A kill is a polite request first, and force only where that is of no use, as it is in Slurm. */
  killAsksFirst?: true;
  /** Its runs can be typed into. */
  isTyped?: true;
  /** Lets one that waits end. */
  finish: (directory: string, attempt: number) => void;
};

type Told = { id: RunId; attempt: number; ending: Ending };

const run = RunId.parse('s/run');
const other = RunId.parse('s/other');

let world: World;
const open: Executor[] = [];

/** An executor, and the ends it told of, oldest first. */
function opened() {
  const told: Told[] = [];
  const executor = world.open({
    ended: (id, attempt, ending) => void told.push({ id, attempt, ending }),
    changed: () => undefined,
    troubled: () => undefined,
    mayGiveUp: () => true,
  });
  open.push(executor);
  const untilEnded = (count = 1) => waitFor(`${count} ends`, () => (told.length >= count ? told.at(-1)!.ending : null));
  return { executor, told, untilEnded };
}

/** An executor with a run that is up. */
async function withRun(program: 'waits' | 'deaf' = 'waits') {
  const directory = world.directory();
  const all = opened();
  expect(await all.executor.start(run, world.spec(program, directory, 1))).toMatchObject({ kind: 'started' });
  await waitFor('the run to be up', () => world.isUp(directory, 1));
  return { ...all, directory };
}

/** Ends that came twice would have come by then: a second run has ended after them. */
async function untilAnotherEnded(executor: Executor, told: readonly Told[]): Promise<void> {
  await executor.start(other, world.spec('exits', world.directory(), 1));
  await waitFor('the end of another run', () => told.some(({ id }) => id === other));
}

/** @param who The executor, as one says it. @param make A fresh place for each test. */
export function conforms(who: string, make: () => World): void {
  describe(`${who} as an executor`, () => {
    beforeEach(() => void (world = make()));
    afterEach(() => {
      for (const executor of open.splice(0)) executor.close();
    });
    describe('starting', starting);
    describe('ending', ending);
    describe('typing', typing);
    describe('pausing', pausing);
    describe('finding what an earlier one has started', adopting);
    describe('closing', closing);
  });
}

function starting(): void {
  it('offers room for runs', () => {
    expect(opened().executor.resources().slots).toBeGreaterThan(0);
  });

  it('tells the end of a run once, with its code, after the start was answered', async () => {
    const { executor, told, untilEnded } = opened();
    const answer = executor.start(run, world.spec('exits', world.directory(), 1));
    const before = told.length;
    expect(await answer).toMatchObject({ kind: 'started', pid: expect.any(Number) as number });
    expect([before, told.length]).toEqual([0, 0]);
    await untilEnded();
    await untilAnotherEnded(executor, told);
    const exited = { kind: 'exited', code: 3 };
    expect(told).toEqual([
      { id: run, attempt: 1, ending: exited },
      { id: other, attempt: 1, ending: exited },
    ]);
  });

  it('says why a command cannot be started, and that it is of no use to try again', async () => {
    const { executor, told, untilEnded } = opened();
    const start = await executor.start(run, world.spec('missing', world.directory(), 1));
    if (start.kind === 'refused') {
      expect(start).toMatchObject({ transient: false, reason: expect.stringContaining('not found') as string });
      await untilAnotherEnded(executor, told);
      expect(told.map(({ id }) => id)).toEqual([other]);
    } else {
      const reason = expect.stringContaining('not found') as string;
      expect(await untilEnded()).toEqual({ kind: 'not-begun', reason });
    }
  });

  it('begins an attempt once only, however often it is started', async () => {
    const { directory, told } = await withRun();
    const second = opened();
    await second.executor.start(run, world.spec('exits', directory, 1));
    expect(await second.untilEnded()).toEqual({ kind: 'not-claimed' });
    expect([told, world.isUp(directory, 1)]).toEqual([[], true]);
  });

  it('starts the next attempt of a run that has ended', async () => {
    const { executor, told, untilEnded } = opened();
    const directory = world.directory();
    for (const attempt of [1, 2]) {
      await executor.start(run, world.spec('exits', directory, attempt));
      await untilEnded(attempt);
    }
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('knows no process of a run that has ended', async () => {
    const { executor, directory, untilEnded } = await withRun();
    world.finish(directory, 1);
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect([executor.pidOf(run), executor.rootOf(run)]).toEqual([null, null]);
  });
}

function ending(): void {
  it('asks, and tells the signal that the run died of', async () => {
    const { executor, directory, untilEnded } = await withRun();
    executor.terminate(run);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
    expect(world.isUp(directory, 1)).toBe(false);
  });

  it('by force ends what does not listen', async () => {
    const { executor, directory, told, untilEnded } = await withRun('deaf');
    executor.terminate(run);
    await untilAnotherEnded(executor, told);
    expect([told.length, world.isUp(directory, 1)]).toEqual([1, true]);
    executor.kill(run);
    expect(await untilEnded(2)).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect(world.isUp(directory, 1)).toBe(false);
  });

  it('twice is the same as once', async () => {
    const { executor, told, untilEnded } = await withRun();
    executor.terminate(run);
    executor.terminate(run);
    executor.kill(run);
    executor.kill(run);
    await untilEnded();
    await untilAnotherEnded(executor, told);
    expect(told.map(({ id }) => id)).toEqual([run, other]);
  });

  it('of a run that it does not watch is nothing, and knows nothing of it', async () => {
    const { executor, directory, told, untilEnded } = await withRun();
    for (const order of ['terminate', 'kill', 'pause', 'continue'] as const) executor[order](other);
    expect([executor.pidOf(other), executor.rootOf(other)]).toEqual([null, null]);
    world.finish(directory, 1);
    await untilEnded();
    expect(told).toEqual([{ id: run, attempt: 1, ending: { kind: 'exited', code: 4 } }]);
  });
}

function typing(): void {
  it('says why nothing can be typed into a run whose input is empty, and one that it does not watch', async () => {
    const { executor } = await withRun();
    if (world.isTyped) expect(await executor.type(run, 'x')).toBeNull();
    else expect(await executor.type(run, 'x')).toMatch(/\S/);
    expect(await executor.type(other, 'x')).toMatch(/\S/);
    expect([executor.awaitsInput(run), executor.awaitsInput(other)]).toEqual([false, false]);
  });
}

function pausing(): void {
  it('makes a run stand still until it is let go on', async () => {
    const { executor, directory, told, untilEnded } = await withRun();
    executor.pause(run);
    await waitFor('it to stand still', () => world.isStill(directory, 1));
    world.finish(directory, 1);
    await untilAnotherEnded(executor, told);
    expect(told.map(({ id }) => id)).toEqual([other]);
    executor.continue(run);
    expect(await untilEnded(2)).toEqual({ kind: 'exited', code: 4 });
  });

  it.each([
    { order: 'terminate', signal: 'SIGTERM' },
    { order: 'kill', signal: 'SIGKILL' },
  ] as const)('does not keep a run from its end: $order', async ({ order, signal }) => {
    const { executor, directory, untilEnded } = await withRun();
    executor.pause(run);
    await waitFor('it to stand still', () => world.isStill(directory, 1));
    executor[order](run);
    const told = order === 'kill' && world.killAsksFirst ? 'SIGTERM' : signal;
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: told });
  });
}

function adopting(): void {
  it('follows the living to its end, which the earlier one is not told', async () => {
    const first = await withRun();
    first.executor.close();
    const next = opened();
    expect(await next.executor.adopt(run, first.directory, 1)).toMatchObject({ kind: 'alive' });
    world.finish(first.directory, 1);
    expect(await next.untilEnded()).toEqual({ kind: 'exited', code: 4 });
    expect([first.told, next.told.length]).toEqual([[], 1]);
  });

  it('can end it', async () => {
    const first = await withRun('deaf');
    first.executor.close();
    const next = opened();
    await next.executor.adopt(run, first.directory, 1);
    next.executor.kill(run);
    // Of what it is not the parent, no executor need know the signal.
    expect(['signalled', 'unknown']).toContain((await next.untilEnded()).kind);
    expect(world.isUp(first.directory, 1)).toBe(false);
  });

  it('knows how one has ended, and tells it no second time', async () => {
    const directory = world.directory();
    const first = opened();
    await first.executor.start(run, world.spec('exits', directory, 1));
    await first.untilEnded();
    const next = opened();
    const found = await next.executor.adopt(run, directory, 1);
    expect(found).toMatchObject({ kind: 'ended', ending: { kind: 'exited', code: 3 } });
    await untilAnotherEnded(next.executor, next.told);
    expect(next.told.map(({ id }) => id)).toEqual([other]);
  });

  it('makes sure that one that had not begun never will', async () => {
    const directory = world.directory();
    expect(await opened().executor.adopt(run, directory, 1)).toMatchObject({ kind: 'withdrawn' });
    const late = opened();
    await late.executor.start(run, world.spec('waits', directory, 1));
    expect(await late.untilEnded()).toEqual({ kind: 'not-claimed' });
    expect(world.isUp(directory, 1)).toBe(false);
  });

  it('goes on with one that nobody knew of as the attempt that was to be started', async () => {
    const first = await withRun();
    first.executor.close();
    const { executor, told, untilEnded } = opened();
    expect(await executor.orphanedAttemptOf(first.directory, 2)).toBe(1);
    const found = await executor.takeOver(run, first.directory, { orphan: 1, attempt: 2 });
    expect(found).toMatchObject({ kind: 'alive' });
    world.finish(first.directory, 1);
    await untilEnded();
    expect(told).toEqual([{ id: run, attempt: 2, ending: { kind: 'exited', code: 4 } }]);
    expect(await executor.orphanedAttemptOf(first.directory, 3)).toBeNull();
  });
}

function closing(): void {
  it('leaves runs alone, and tells nothing any more', async () => {
    const { executor, directory, told } = await withRun();
    executor.close();
    expect(world.isUp(directory, 1)).toBe(true);
    for (const order of ['terminate', 'kill', 'pause'] as const) executor[order](run);
    world.finish(directory, 1);
    const next = opened();
    await untilAnotherEnded(next.executor, next.told);
    await waitFor('the end of the run', () => !world.isUp(directory, 1));
    const found = await next.executor.adopt(run, directory, 1);
    expect(found).toMatchObject({ kind: 'ended', ending: { kind: 'exited', code: 4 } });
    expect(told).toEqual([]);
  });

  it('twice is the same as once', async () => {
    const { executor, directory } = await withRun();
    executor.close();
    executor.close();
    expect(world.isUp(directory, 1)).toBe(true);
  });
}
