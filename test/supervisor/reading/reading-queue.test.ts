import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Rank, type Reading, ReadingQueue } from '../../../src/supervisor/reading/reading-queue.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const KB = 1024;
let now = 0;
/** What was read: by turn, whose, and how many kB. */
let turns: [name: string, kilobytes: number][][];
let queue: ReadingQueue;
beforeEach(() => {
  now = 0;
  turns = [[]];
  queue = new ReadingQueue(() => now);
});

/** A file of so many kB; `msPerPart`: how slowly it is read. */
function file(name: string, kilobytes: number, msPerPart = 0): Reading {
  let left = kilobytes * KB;
  return {
    readPart: (maxBytes) => {
      const bytes = Math.min(left, maxBytes);
      left -= bytes;
      now += msPerPart;
      turns.at(-1)!.push([name, bytes / KB]);
      return { bytes, more: left > 0 };
    },
  };
}

function add(rank: Rank, ...readings: Reading[]): void {
  for (const reading of readings) queue.add(reading, rank);
}

/** Lets the next turns come until nothing is read any more. */
function readOn(most = 1000): void {
  while (most-- > 0) {
    turns.push([]);
    vi.advanceTimersToNextTimer();
    if (turns.at(-1)!.length === 0) return void turns.pop();
  }
}

const namesOf = (turn: [string, number][]) => turn.map(([name]) => name).join('');
const sumOf = (turn: [string, number][]) => turn.reduce((sum, [, kilobytes]) => sum + kilobytes, 0);

describe('files that are read in turns', () => {
  it('are read at once when they are short', () => {
    add('live', file('a', 1), file('b', 60), file('c', 0));
    expect(turns.map(namesOf)).toEqual(['abc']);
    expect(sumOf(turns[0]!)).toBe(61);
  });

  it('take 384 kB of a turn at most, and 64 kB of one file in a row', () => {
    add('live', file('a', 2000), file('b', 1000));
    readOn();
    expect(turns.map(sumOf).filter((kilobytes) => kilobytes > 384)).toEqual([]);
    expect(turns.map(sumOf).reduce((sum, each) => sum + each)).toBe(3000);
    expect(turns.flat().filter(([, kilobytes]) => kilobytes > 64)).toEqual([]);
    expect(turns.slice(1, 3).map(namesOf)).toEqual(['ababab', 'ababab']);
  });

  it('end a turn that has taken 4 ms, however little was read', () => {
    add('live', file('a', 1000, 3), file('b', 1000, 3));
    readOn();
    expect(Math.max(...turns.map(({ length }) => length))).toBe(2);
  });

  it('come the ended first, then the living, then the past, which gets one turn in four all the same', () => {
    add('past', file('p', 100_000, 6));
    turns = [[]];
    add('live', file('l', 300, 6));
    add('ended', file('e', 300, 6));
    readOn(20);
    expect(turns.map(namesOf).join('')).toMatch(/^eepeeeplllpllp+$/);
  });

  it('are not read on when they are taken away', () => {
    const long = file('a', 2000);
    add('live', long, file('b', 200));
    queue.remove(long);
    readOn();
    expect(
      turns
        .slice(1)
        .flat()
        .every(([name]) => name === 'b'),
    ).toBe(true);
    queue.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('may add others while they are read', () => {
    const second = file('b', 10);
    const first: Reading = {
      readPart: () => {
        turns.at(-1)!.push(['a', 0]);
        queue.add(second, 'past');
        return { bytes: 0, more: false };
      },
    };
    add('live', first);
    readOn();
    expect(turns.map(namesOf).join('')).toBe('ab');
  });
});
