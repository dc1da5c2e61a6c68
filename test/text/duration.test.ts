import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationText, parseDuration } from '../../src/text/duration.js';
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
