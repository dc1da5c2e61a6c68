import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellQuote, shellWords } from '../../src/text/shell-words.js';

const argument = fc
  .oneof(
    fc.string({ maxLength: 12 }),
    fc
      .array(fc.constantFrom("'", '"', '\\', ' ', '$', '`', '#', '\t', 'a', '*', '~', '=', '!', '{'), { maxLength: 8 })
      .map((parts) => parts.join('')),
  )
  .filter((text) => !text.includes('\n') && !text.includes('\0'));

describe('a quoted command line', () => {
  it('is read back as the same words', () => {
    fc.assert(
      fc.property(fc.array(argument, { minLength: 1, maxLength: 5 }), (argv) => {
        const read = shellWords(shellQuote(argv));
        expect(read.kind === 'words' && read.words.map(({ text }) => text)).toEqual(argv);
      }),
      { numRuns: 500 },
    );
  });

  it('is read back by a real shell as the same words', () => {
    const argv = ["it's", '$HOME', '`x`', 'a b', '', '*', '~', '\\', '"', '#', 'plain', '!', 'é', '-n'];
    const printed = execFileSync('sh', ['-c', `for word in ${shellQuote(argv)}; do printf '%s\\n' "$word"; done`], {
      encoding: 'utf8',
    });
    expect(printed.split('\n').slice(0, -1)).toEqual(argv);
  });

  it('quotes only what needs it', () => {
    expect(shellQuote(['python', 'train.py', '--lr=0.1', 'a/b_c:1,2'])).toBe('python train.py --lr=0.1 a/b_c:1,2');
    expect(shellQuote(['a b', ''])).toBe("'a b' ''");
  });
});

describe('a line of a command list', () => {
  it.each([
    { line: 'a  b\tc', words: ['a', 'b', 'c'] },
    { line: '', words: [] },
    { line: '  # only a remark', words: [] },
    { line: 'a#b # c', words: ['a#b'] },
    { line: `"a 'b' \\" \\\\ \\x"'$c'`, words: [`a 'b' " \\ \\x$c`] },
    { line: `a\\ b ''`, words: ['a b', ''] },
    { line: '"~" \\~', words: ['~', '~'] },
  ])('is split as a shell does: $line', ({ line, words }) => {
    const read = shellWords(line);
    expect(read.kind === 'words' && read.words.map(({ text }) => text)).toEqual(words);
  });
});
