import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzyScore, ranked } from '../../../src/tui/state/fuzzy.js';

function best(typed: string, ...texts: string[]): string[] {
  return ranked(typed, texts, (text) => fuzzyScore(typed, text));
}

describe('finding a text by a few of its letters', () => {
  it.each<{ when: string; typed: string; texts: string[]; order: string[] }>([
    { when: 'letters in their order, with gaps', typed: 'kg', texts: ['kill-group', 'gk'], order: ['kill-group'] },
    { when: 'what begins so comes first', typed: 'so', texts: ['resort', 'sort'], order: ['sort', 'resort'] },
    {
      when: 'even before letters that all start words',
      typed: 'res',
      texts: ['reverse-sort', 'resume'],
      order: ['resume', 'reverse-sort'],
    },
    {
      when: 'starts of words before letters within',
      typed: 'lx',
      texts: ['relax', 'log-x'],
      order: ['log-x', 'relax'],
    },
    {
      when: 'letters together before letters apart',
      typed: 'sto',
      texts: ['slot-o', 'stop'],
      order: ['stop', 'slot-o'],
    },
    { when: 'the shorter of two alike', typed: 'kill', texts: ['kill-group', 'kill'], order: ['kill', 'kill-group'] },
    { when: 'case and blanks do not count', typed: 'K G', texts: ['kill-group'], order: ['kill-group'] },
    { when: 'nothing typed keeps the order', typed: '', texts: ['b', 'a'], order: ['b', 'a'] },
    { when: 'a letter too many finds nothing', typed: 'killx', texts: ['kill'], order: [] },
  ])('$when', ({ typed, texts, order }) => {
    expect(best(typed, ...texts)).toEqual(order);
  });

  it('finds a text by any of its letters in their order, and by no others', () => {
    const text = fc.string({ unit: fc.constantFrom(...'abc-'), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (typed, whole) => {
        let rest = whole;
        const isWithin = [...typed].every((letter) => {
          const at = rest.indexOf(letter);
          rest = rest.slice(at + 1);
          return at >= 0;
        });
        expect(fuzzyScore(typed, whole) !== null).toBe(isWithin);
      }),
    );
  });
});
