import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainAscii } from '../../src/text/ascii.js';
import { textWidth, truncate } from '../../src/text/display-width.js';
import { type Column, tableLines } from '../../src/text/table.js';
import { wrap, wrapCommand } from '../../src/text/wrap.js';

const column = (title: string, cells: string[], facts: Partial<Column> = {}): Column => ({
  title,
  cells,
  align: 'left',
  spare: 0,
  ...facts,
});

describe('a table', () => {
  const columns = [
    column('name', ['binary', 'dense, stepwise']),
    column('N', ['16', '1024'], { align: 'right' }),
    column('range', ['1 to 2', '400 to 800'], { align: 'right', spare: 2 }),
  ];

  it('aligns its columns under their titles', () => {
    expect(tableLines(columns, 80)).toEqual([
      'name                N       range',
      '─────────────────────────────────',
      'binary             16      1 to 2',
      'dense, stepwise  1024  400 to 800',
    ]);
  });

  it('leaves out what can be spared, then shortens, when it is too wide', () => {
    expect(tableLines(columns, 25)).toEqual([
      'name                N',
      '─────────────────────',
      'binary             16',
      'dense, stepwise  1024',
    ]);
    expect(tableLines(columns, 12)).toEqual(['name       N', '────────────', 'binary    16', 'dense…  1024']);
  });

  it('aligns wide and combined characters', () => {
    expect(tableLines([column('名', ['日本', 'é', '🙂']), column('n', ['1', '2', '3'])], 80)).toEqual([
      '名    n',
      '───────',
      '日本  1',
      'é     2',
      '🙂    3',
    ]);
  });

  it('never writes a line wider than the page, nor loses a row', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/\p{Cc}/gu, ''));
    const anyColumn = fc.record({
      title: cell,
      align: fc.constantFrom('left' as const, 'right' as const),
      cells: fc.array(cell, { minLength: 3, maxLength: 3 }),
      spare: fc.nat(3),
    });
    fc.assert(
      fc.property(
        fc.array(anyColumn, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 90 }),
        (all, width) => {
          const lines = tableLines(all, width);
          expect(lines).toHaveLength(5);
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

describe('the width of a text', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['±∞', 2],
    ['', 0],
  ])('%s is %d', (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it('is kept to by cutting', () => {
    expect([truncate('abcdef', 4), truncate('日本語', 4), truncate('ab', 2), truncate('ab', 0)]).toEqual([
      'abc…',
      '日…',
      'ab',
      '',
    ]);
  });
});

describe('text for narrow places', () => {
  it('is wrapped between words, further lines indented', () => {
    expect(wrap('one two three four', 9)).toEqual(['one two', '  three', '  four']);
    expect(wrap('unbreakable', 4)).toEqual(['unbreakable']);
    expect(wrap('one  two\nthree', 9, '')).toEqual(['one two', 'three']);
  });

  it('is wrapped by the columns it fills, not by its characters', () => {
    expect(wrap('学習率 二値 報酬', 11, '')).toEqual(['学習率 二値', '報酬']);
    expect(wrapCommand(['echo', '学習率', '二値'], 14)).toEqual(['echo 学習率 \\', '二値']);
  });

  it('has an ASCII form', () => {
    expect(plainAscii('a ± b – ∞ · N^2 ∝ R² 日')).toBe('a +- b - inf - N^2 ~ R^2 ?');
  });
});
