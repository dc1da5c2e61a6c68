import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorWords, isErrorLine } from '../../src/logs/failure-line.js';
import { firstLine, lastLine, plainText } from '../../src/logs/log-plain-text.js';
import { readLogPattern } from '../../src/logs/log-search.js';
import { displayText } from '../../src/text/display-text.js';

describe('text that needs no care', () => {
  it('is what would be drawn as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        const text = plainText(Buffer.from(`${line}\n`));
        if (text !== null) for (const drawn of text.slice(0, -1).split('\n')) expect(displayText(drawn)).toBe(drawn);
      }),
    );
  });

  it.each([
    ['a return', 'a\rb'],
    ['a colour', '\u001b[1ma'],
    ['a tab', 'a\tb'],
    ['no text', Buffer.from([0xff, 0x61])],
  ])('is not %s', (_, bytes) => {
    expect(plainText(Buffer.from(bytes))).toBeNull();
  });
});

describe('the first and last line of a text', () => {
  const patterns = [
    'a',
    '^a',
    'b$',
    '^$',
    'a.b',
    '[^a]b',
    'a\\s*b',
    '(?!a)b',
    '(?<!a)b',
    '\\bab\\b',
    'A',
    'x*',
    'b\\B',
  ];

  it('are those that a look at every line finds', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'A', ' ', 'é', '\n'), { maxLength: 30 })
      .map((all) => `${all.join('')}\n`);
    fc.assert(
      fc.property(text, fc.constantFrom(...patterns), (lines, pattern) => {
        const read = readLogPattern(pattern);
        if (read.kind === 'problem') throw new Error(read.problem);
        const matches = (line: string) => line.search(read.regexp) >= 0;
        const starts = [0, ...[...lines.matchAll(/\n/g)].map(({ index }) => index + 1)].slice(0, -1);
        const expected = starts.filter((start) => matches(lines.slice(start, lines.indexOf('\n', start))));
        const test = { matches, hint: read.hint };
        expect([firstLine(lines, test), lastLine(lines, test)]).toEqual([expected[0] ?? null, expected.at(-1) ?? null]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the words of errors', () => {
  it('stand in every line that says something broke', () => {
    const pieces = [
      'Error',
      'ValueError: no',
      'Killed',
      ' ',
      'fatal: x',
      'ERROR',
      ': ',
      'CUDA error',
      'at',
      '[rank1]: Traceback (most recent call last)',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 4 }), (parts) => {
        const line = parts.join('');
        if (isErrorLine(line)) expect(line.search(errorWords)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
