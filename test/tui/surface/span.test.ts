import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textWidth } from '../../../src/text/display-width.js';
import { columnsOf, ends, fit, fitLine, fitRight, lineWidth, plainText, span } from '../../../src/tui/surface/span.js';

const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '你', 'é', 'e\u0301', '─'), maxLength: 20 });
const line = fc.array(words, { maxLength: 5 }).map((texts) => texts.map((text) => span(text)));
const width = fc.integer({ min: 0, max: 30 });

describe('fitting text into columns', () => {
  it('gives exactly the columns asked for, whatever the text', () => {
    fc.assert(
      fc.property(words, line, width, (text, spans, columns) => {
        expect(textWidth(fit(text, columns))).toBe(columns);
        expect(textWidth(fitRight(text, columns))).toBe(columns);
        expect(lineWidth(fitLine(spans, columns))).toBe(columns);
        expect(lineWidth(ends(spans, [span(text)], columns))).toBe(columns);
        expect(lineWidth(columnsOf(spans, 3, 3 + columns))).toBe(columns);
      }),
    );
  });

  it.each([
    ['name', 6, 'name  '],
    ['name', 4, 'name'],
    ['a long name', 6, 'a lon…'],
    ['你好吗', 4, '你 …'],
    ['name', 0, ''],
  ])('fits %j into %i columns as %j', (text, columns, expected) => {
    expect(fit(text, columns)).toBe(expected);
  });

  it('lets the left end give way to the right one', () => {
    expect(plainText(ends([span('left')], [span('right')], 12))).toBe('left   right');
    expect(plainText(ends([span('a long left')], [span('right')], 10))).toBe('a lo…right');
    expect(plainText(ends([span('left')], [span('right end')], 5))).toBe('righ…');
  });

  it('cuts half of a wide character into a space', () => {
    expect(plainText(columnsOf([span('你好')], 1, 3))).toBe('  ');
    expect(plainText(columnsOf([span('ab'), span('cd')], 1, 3))).toBe('bc');
  });
});
