import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationRange, durationText, parseDuration } from '../../src/text/duration.js';
import { memoryText, parseMemory } from '../../src/text/numbers.js';

describe('a duration', () => {
  it.each<[string, number | null]>([
    ['90s', 90],
    ['2h', 7200],
    ['1h30m', 5400],
    ['0.5d', 43_200],
    ['', null],
    ['5', null],
    ['5 m', null],
    ['-5m', null],
    ['5M', null],
    ['1e3s', null],
  ])('is read: %j', (text, seconds) => expect(parseDuration(text)).toBe(seconds));

  it('is written as it is read', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000 }), (seconds) => {
        expect(parseDuration(durationText(seconds))).toBe(seconds);
      }),
    );
    expect([0, 0.5, 60, 5400, 86_400, 90_061].map(durationText)).toEqual([
      '0s',
      '0.5s',
      '1m',
      '1h30m',
      '1d',
      '1d1h1m1s',
    ]);
  });
});

describe('a range of time', () => {
  it.each<{ low: number; middle: number; high: number; text: string }>([
    { low: 250, middle: 390, high: 530, text: '4-9m' },
    { low: 290, middle: 300, high: 330, text: '~5m' },
    { low: 100, middle: 102, high: 110, text: '~1.7m' },
    { low: 20, middle: 31, high: 52, text: '20-52s' },
    { low: 40, middle: 300, high: 540, text: '<9m' },
    { low: 25, middle: 60, high: 170, text: '25s-3m' },
    { low: 1500, middle: 4000, high: 9000, text: '25m-3h' },
    { low: 0.3, middle: 0.7, high: 1.4, text: '<1s' },
    { low: 4, middle: 100, high: 540, text: '<9m' },
    { low: 0, middle: 0.2, high: 0.4, text: '<1s' },
    { low: 0.6, middle: 1, high: 1.4, text: '~1s' },
    { low: 5000, middle: 7000, high: 12_000, text: '1-3h' },
    { low: 9000, middle: 9500, high: 10_000, text: '~2.6h' },
    { low: 86_400 * 5, middle: 86_400 * 6, high: 86_400 * 9, text: '5-9d' },
  ])('from $low to $high s is told as exactly as it is known: $text', ({ text, ...range }) =>
    expect(durationRange(range)).toBe(text),
  );
});

describe('an amount of memory', () => {
  it.each<[string, number | null]>([
    ['800MiB', 800],
    ['800 MiB', 800],
    ['1GiB', 1024],
    ['1.5gib', 1536],
    ['1048.576MB', 1000],
    ['20', null],
    ['20G', null],
    ['lots', null],
  ])('is read: %j', (text, mebibytes) => expect(parseMemory(text)).toBe(mebibytes));

  it('is written in the unit that suits it', () => {
    expect([800, 1024, 19_073.486].map(memoryText)).toEqual(['800 MiB', '1 GiB', '18.6 GiB']);
  });
});
