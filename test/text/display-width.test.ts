import { describe, expect, it } from 'vitest';
import { cellsOf, textWidth } from '../../src/text/display-width.js';

describe('the width of text', () => {
  it.each<[string, number, string]>([
    ['plain', 5, 'a letter is a column'],
    ['━╸─ ▁█ ⣿', 8, 'so are lines, blocks and braille'],
    ['你好', 4, 'ideographs are two'],
    ['ｆｕｌｌ', 8, 'full-width letters are two'],
    ['e\u0301te\u0301', 3, 'marks add nothing'],
    ['👩‍👩‍👧x', 3, 'of a joined emoji the first picture is kept'],
    ['👍🏽', 2, 'a skin tone adds nothing'],
    ['❤\ufe0f', 2, 'an emoji by its selector is two'],
    ['a\u200b\u202eb', 2, 'invisible characters add nothing'],
    ['', 0, 'nothing is nothing'],
  ])('%j is %i: %s', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it('keeps a letter and its marks in one cell, but not a pile of them', () => {
    expect(cellsOf(`z${'\u0301'.repeat(40)}y`).map(({ glyph }) => glyph)).toEqual(['z\u0301\u0301\u0301', 'y']);
    expect(cellsOf('\u0301x').map(({ glyph }) => glyph)).toEqual(['x']);
  });
});
