import { describe, expect, it } from 'vitest';
import { inQuietTurn, isTurnOver, nextTurn, passTurn } from '../../src/processes/turn.js';

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('a turn of the event loop', () => {
  it('is over when it has been at work for some time, and not before', async () => {
    await nextTurn();
    expect(isTurnOver()).toBe(false);
    busyFor(15);
    expect(isTurnOver()).toBe(true);
    await nextTurn();
    expect(isTurnOver()).toBe(false);
  });

  it('does not get older by waiting', async () => {
    await nextTurn();
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(isTurnOver()).toBe(false);
  });

  it('is passed on by long work only when it is over', async () => {
    await nextTurn();
    const seen: string[] = [];
    setImmediate(() => seen.push('others'));
    await passTurn();
    seen.push('first piece');
    busyFor(15);
    await passTurn();
    seen.push('second piece');
    expect(seen).toEqual(['first piece', 'others', 'second piece']);
  });
});

describe('work for a quiet turn', () => {
  /** What was done in each of five turns, of pieces named `a`, `b`, … that take so long, ms. */
  async function turnsOf(...pieces: readonly number[]): Promise<string[]> {
    await nextTurn();
    let done = '';
    pieces.forEach((ms, index) =>
      inQuietTurn(() => {
        busyFor(ms);
        done += 'abc'[index]!;
      }),
    );
    const turns: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      await nextTurn();
      turns.push(done);
      done = '';
    }
    return turns;
  }

  it('shares a turn while it is little', async () => {
    expect(await turnsOf(0, 0, 0)).toEqual(['abc', '', '', '', '']);
  });

  it('has a turn to itself when it is much, and comes in its order', async () => {
    expect((await turnsOf(15, 15, 15)).filter(Boolean)).toEqual(['a', 'b', 'c']);
  });

  it('is done in the end beside work that never leaves a turn quiet', async () => {
    let isDone = false;
    const busy = () => {
      busyFor(15);
      if (!isDone) setImmediate(busy);
    };
    await nextTurn();
    setImmediate(busy);
    await new Promise<void>((resolve) => inQuietTurn(resolve));
    isDone = true;
  });
});
