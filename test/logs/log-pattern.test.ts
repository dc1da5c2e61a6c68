import { describe, expect, it } from 'vitest';
import { readLogPattern } from '../../src/logs/log-search.js';

const finds = (pattern: string, text: string): boolean => {
  const read = readLogPattern(pattern);
  return read.kind === 'pattern' && text.search(read.regexp) >= 0;
};

describe('what is searched for', () => {
  it.each<[pattern: string, text: string, isFound: boolean]>([
    ['nan', 'loss is NaN', true],
    ['NaN', 'loss is nan', false],
    ['NaN', 'loss is NaN', true],
    [String.raw`\S+error`, 'ValueError: no', true],
    ['step \\d{4}$', 'at step 7240', true],
    ['step \\d{4}$', 'at step 72401', false],
    ['Ä', 'ä', false],
  ])('%s in “%s”: %s', (pattern, text, isFound) => {
    expect(finds(pattern, text)).toBe(isFound);
  });

  it.each(['(loss', '[a', '*', 'a{2,1}'])('is refused with a way out: %s', (pattern) => {
    const read = readLogPattern(pattern);
    if (read.kind !== 'problem') throw new Error('was taken');
    expect(read.problem).toContain(`“${pattern}” is not a regular expression: `);
    expect(read.fix).toContain('\\(');
  });
});
