import { beforeEach, describe, expect, it } from 'vitest';
import { nextTurn } from '../../../src/processes/turn.js';
import { TurnQueue } from '../../../src/supervisor/runs/launcher.js';
import { waitFor } from '../testbed.js';

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('what is done in turns', () => {
  beforeEach(() => nextTurn());

  it('is done at once while it is little', () => {
    const done: number[] = [];
    const turns = new TurnQueue<number>((thing) => done.push(thing));
    [1, 2, 3].forEach((thing) => turns.give(thing));
    expect(done).toEqual([1, 2, 3]);
  });

  it('is done in its order, and others come in between, when it is much', async () => {
    const done: number[] = [];
    const turns = new TurnQueue<number>((thing) => {
      busyFor(6);
      done.push(thing);
    });
    const things = Array.from({ length: 12 }, (_, n) => n);
    things.forEach((thing) => turns.give(thing));
    expect(done.length).toBeLessThanOrEqual(2);
    setImmediate(() => done.push(-1));
    await waitFor('all to be done', () => done.length > things.length);
    expect(done.indexOf(-1)).toBeLessThan(things.length);
    expect(done.filter((thing) => thing >= 0)).toEqual(things);
  });

  it('is done in its order also when one leads to another', async () => {
    const done: number[] = [];
    const turns: TurnQueue<number> = new TurnQueue<number>((thing) => {
      done.push(thing);
      if (thing < 10) turns.give(thing + 10);
    });
    [1, 2].forEach((thing) => turns.give(thing));
    await waitFor('all to be done', () => done.length === 4);
    expect(done).toEqual([1, 11, 2, 12]);
  });

  it('is not done any more once it is closed', async () => {
    const done: number[] = [];
    const turns = new TurnQueue<number>((thing) => {
      busyFor(15);
      done.push(thing);
    });
    [1, 2, 3].forEach((thing) => turns.give(thing));
    turns.close();
    await nextTurn();
    await nextTurn();
    expect(done).toEqual([1]);
  });
});
