import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { RequestQueue } from '../../../src/lab/tinker/server/futures.js';
import { PATIENCE_MS } from '../../patience.js';

/** A queue that records which requests each call did. */
function row() {
  const queue = new RequestQueue();
  const calls: string[][] = [];
  const results = new Map<string, unknown>();
  const add = (session: string, name: string, group: string | null = null, bad = '') =>
    queue.add(session, {
      request: name,
      group,
      work: async (names: readonly string[]) => {
        calls.push([...names]);
        if (bad !== '' && names.includes(bad)) throw new Error(bad);
        return names.map((each) => `${each}!`);
      },
      done: (result) => results.set(name, result),
      failed: (error) => results.set(name, error),
    });
  const finished = (count: number) => vi.waitFor(() => expect(results.size).toBe(count), PATIENCE_MS);
  return { calls, results, add, finished };
}

it('requests of a group that arrive in sequence are computed in one call', async () => {
  const { add, calls, results, finished } = row();
  for (const name of ['a', 'b', 'c']) {
    add('s', name, 'g');
    await nextTick();
  }
  await finished(3);
  expect(calls).toEqual([['a', 'b', 'c']]);
  expect(results.get('b')).toBe('b!');
});

it('sessions do not wait for each other, and each gets its requests in order', async () => {
  const { add, calls, finished } = row();
  for (const name of ['a1', 'a2', 'a3']) add('a', name);
  add('b', 'b1');
  await finished(4);
  expect(calls.flat()).toEqual(['a1', 'b1', 'a2', 'a3']);
});

it('a call is cancelled only when all of its requests are, and the next request is then served', async () => {
  const queue = new RequestQueue();
  const results: string[] = [];
  const cancelled = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
  let signal: AbortSignal | null = null;
  const job = (name: string, work: (signal: AbortSignal) => Promise<readonly unknown[]>) => ({
    ...{
      request: name,
      group: ['first', 'second'].includes(name) ? 'g' : null,
      work: (_: unknown, given: AbortSignal) => work((signal = given)),
    },
    done: () => void results.push(name),
    failed: (error: unknown) => void results.push(`${name}: ${(error as Error).message}`),
  });
  const [first, second] = [queue.add('s', job('first', cancelled)), queue.add('s', job('second', cancelled))];
  queue.add(
    's',
    job('last', async () => ['done']),
  );
  const waiting = queue.add(
    's',
    job('waiting', async () => ['done']),
  );
  await vi.waitFor(() => expect(signal).not.toBeNull(), PATIENCE_MS);
  waiting();
  first();
  expect(signal!.aborted).toBe(false);
  second();
  expect(signal!.aborted).toBe(true);
  await vi.waitFor(() => expect(results).toEqual(['first: gone', 'second: gone', 'last']), PATIENCE_MS);
});

it('a failing request does not fail the others of its group', async () => {
  const { add, results, finished } = row();
  for (const name of ['a', 'b', 'c']) add('s', name, 'g', 'b');
  await finished(3);
  expect(results.get('a')).toBe('a!');
  expect(results.get('b')).toMatchObject({ message: 'b' });
  expect(results.get('c')).toBe('c!');
});
