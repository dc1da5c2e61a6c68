import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBit, parseGuess, parseGuessLeniently } from '../../../../src/lab/environments/memory/parsing.js';

describe('reading a guess below 64', () => {
  it.each([
    ['42', 42, 42],
    [' 42\n', 42, 42],
    ['007', 7, 7],
    ['0', 0, 0],
    ['63', 63, 63],
    ['64', null, null],
    ['42.', null, 42],
    ['+42', null, 42],
    ['-1', null, 1],
    ['4 2', null, 4],
    ['42\n43', null, 42],
    ['Answer: 42', null, 42],
    ['3.9', null, 3],
    ['1024', null, null],
    ['', null, null],
    ['  ', null, null],
    ['no', null, null],
    ['²', null, null],
    ['٣', null, null],
    ['none\n5', null, null],
  ])('%j is %s strictly and %s leniently', (text, strict, lenient) => {
    expect(parseGuess(text, 64)).toBe(strict);
    expect(parseGuessLeniently(text, 64)).toBe(lenient);
  });

  it('accepts every number in range, with any white space around it', () => {
    fc.assert(
      fc.property(fc.nat({ max: 4095 }), fc.stringMatching(/^[ \t\n]*$/), (value, space) => {
        expect(parseGuess(`${space}${value}${space}`, 4096)).toBe(value);
      }),
    );
  });

  it('accepts leniently everything that it accepts strictly', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 5000 }), (text, N) => {
        const strict = parseGuess(text, N);
        if (strict !== null) expect(parseGuessLeniently(text, N)).toBe(strict);
      }),
    );
  });
});

describe('reading a bit', () => {
  it.each([
    ['0', 0],
    ['1', 1],
    [' 1', 1],
    ['10', 1],
    ['bit 0', 0],
    ['2', null],
    ['', null],
  ])('%j is %s', (text, bit) => expect(parseBit(text)).toBe(bit));
});
