import { describe, expect, it } from 'vitest';
import { taggingIn } from '../../../src/cli/verbs/annotate.js';

describe('the words of `tag`', () => {
  it.each<[string, ReturnType<typeof taggingIn>]>([
    ['A_s0 +good -bad', { query: ['A_s0'], add: ['good'], remove: ['bad'] }],
    ['+good group:A not status:done', { query: ['group:A', 'not', 'status:done'], add: ['good'], remove: [] }],
    ['all -a -b', { query: ['all'], add: [], remove: ['a', 'b'] }],
  ])('%s', (line, tagging) => {
    expect(taggingIn(line.split(' '))).toEqual(tagging);
  });

  it.each<[string, RegExp]>([
    ['A_s0', /no tag to add or to remove/],
    ['A_s0 +', /it is empty/],
    ['A_s0 +a,b', /is not a tag: a tag is one word/],
    ['A_s0 +a --jsno', /tag has no option `--jsno`/],
  ])('are refused: %s', (line, problem) => {
    expect(() => taggingIn(line.split(' '))).toThrow(problem);
  });
});
