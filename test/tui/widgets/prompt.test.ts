import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineWithCursor } from '../../../src/tui/widgets/prompt.js';
import { lineWidth, plainText } from '../../../src/tui/surface/span.js';

describe('a line that is typed, on the screen', () => {
  it.each<[text: string, at: number, width: number, shown: string]>([
    ['abc', 3, 8, 'abc▏    '],
    ['abc', 1, 8, 'a▏bc    '],
    ['abcdefghijkl', 12, 7, 'ghijkl▏'],
    ['abcdefghijkl', 0, 7, '▏abcdef'],
    ['abcdefghijkl', 8, 7, 'efgh▏ij'],
    ['', 0, 1, '▏'],
    ['abc', 3, 0, ''],
  ])('%j with the cursor at %i in %i columns', (text, at, width, shown) => {
    expect(plainText(lineWithCursor({ text, at }, width))).toBe(shown);
  });

  it('has its width, and the cursor in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(30),
        fc.integer({ min: 1, max: 40 }),
        (text, place, width) => {
          const line = lineWithCursor({ text, at: Math.min(place, text.length) }, width);
          expect(lineWidth(line)).toBe(width);
          expect(plainText(line)).toContain('▏');
        },
      ),
    );
  });
});
