import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogSeek, Sought } from '../../../../src/tui/state/run-choice.js';
import { LogViewer, type LogWish } from '../../../../src/tui/widgets/log/log-viewer.js';
import { LogInMemory } from '../../../logs/log-bytes.js';

let opened: string[];
let log: LogInMemory;
let changes: number;
let found: Sought[];
let viewer: LogViewer;
beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  log = new LogInMemory('first\nsecond\nError: third\n');
  changes = 0;
  found = [];
  viewer = new LogViewer(
    (directory) => {
      opened.push(directory);
      return log;
    },
    { changed: () => changes++, sought: (_, offset) => found.push(offset) },
  );
});
afterEach(() => {
  viewer.close();
  vi.useRealTimers();
});

const place = { kind: 'end' } as const;
const wish = (over: Partial<LogWish> = {}): LogWish => ({
  directory: '/a',
  place,
  hasFailed: false,
  seek: null,
  ...over,
});
const seek = (over: Partial<LogSeek> = {}): LogSeek => ({
  of: 'pattern',
  pattern: 'second',
  from: 0,
  direction: 1,
  ...over,
});
const texts = (directory = '/a') => viewer.page(directory)?.lines.map(({ text }) => text);

describe('the log that is open', () => {
  it('is read once one has stayed, not while one goes through runs', () => {
    for (const directory of ['/a', '/b', '/c']) {
      viewer.want(wish({ directory }));
      vi.advanceTimersByTime(10);
    }
    expect(log.bytesRead).toBe(0);
    vi.advanceTimersByTime(30);
    expect(texts('/c')).toEqual(['first', 'second', 'Error: third']);
    expect(texts('/a')).toBeUndefined();
  });

  it('is looked at again, and what was written since is told', () => {
    viewer.want(wish());
    vi.advanceTimersByTime(100);
    const before = changes;
    vi.advanceTimersByTime(2000);
    expect(changes).toBe(before);
    log.append('fourth\n');
    vi.advanceTimersByTime(600);
    expect(changes).toBeGreaterThan(before);
    expect(texts()!.at(-1)).toBe('fourth');
  });

  it('is read anew when another file stands at its place', () => {
    viewer.want(wish());
    vi.advanceTimersByTime(100);
    log.replace('again\n');
    vi.advanceTimersByTime(600);
    expect(texts()).toEqual(['again']);
  });

  it('is left alone once nothing is open, and after the end of the window', () => {
    viewer.want(wish());
    vi.advanceTimersByTime(100);
    viewer.want(null);
    log.append('unseen\n');
    const read = log.bytesRead;
    vi.advanceTimersByTime(5000);
    expect(log.bytesRead).toBe(read);
    viewer.want(wish());
    viewer.close();
    vi.advanceTimersByTime(5000);
    expect(log.bytesRead).toBe(read);
  });
});

describe('a search', () => {
  it('tells where the line begins that it found, and nothing twice', () => {
    viewer.want(wish({ seek: seek() }));
    vi.advanceTimersByTime(1000);
    expect(found).toEqual(['first\n'.length]);
  });

  it.each<[string, Partial<LogSeek>, number | null]>([
    ['the first error', { of: 'error', pattern: '' }, 'first\nsecond\n'.length],
    ['upwards', { pattern: 'first', from: 'first\nsecond\n'.length, direction: -1 }, 0],
    ['what is not there', { pattern: 'tenth' }, null],
    ['what is no pattern', { pattern: '(' }, null],
  ])('finds %s', (_, over, offset) => {
    viewer.want(wish({ seek: seek(over) }));
    vi.advanceTimersByTime(1000);
    expect(found).toEqual([offset]);
  });

  it('for what takes years to tell is given up', () => {
    log.replace(`${'a'.repeat(60)}!\n`);
    viewer.want(wish({ seek: seek({ pattern: '(a+)+$' }) }));
    vi.advanceTimersByTime(1000);
    expect(found).toEqual(['too long']);
    expect(viewer.progress).toBeNull();
  });

  it('of a long log goes on over many turns, says how far it is, and can be given up', () => {
    log.replace('nothing here\n'.repeat(400_000));
    viewer.want(wish({ seek: seek() }));
    const seen: (number | null)[] = [];
    while (seen.length < 500 && (viewer.progress ?? 0) < 20) {
      vi.advanceTimersToNextTimer();
      seen.push(viewer.progress);
    }
    expect(seen.filter((done) => done !== null && done > 0).length).toBeGreaterThan(1);
    viewer.want(wish());
    expect(viewer.progress).toBeNull();
    vi.advanceTimersByTime(5000);
    expect(found).toEqual([]);
  });
});
