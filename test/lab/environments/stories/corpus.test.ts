import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stories, story, templates, type Split } from '../../../../src/lab/environments/stories/corpus.js';

/** The first stories of the training split. */
const many = Array.from({ length: 15_000 }, (_, index) => story(0, 'train', index));
const some = many.slice(0, 3000);

/** Words, digits and signs, as a tokenizer that knows every word splits them. */
const tokens = (text: string): string[] => text.toLowerCase().match(/[a-z]+|[^\sa-z]/g)!;

/** How many tokens each sentence has, its end not counted. */
function sentenceLengths(text: string): number[] {
  const lengths: number[] = [];
  let length = 0;
  for (const token of tokens(text)) {
    if (!/[.?!]/.test(token)) length++;
    else if (length > 0) {
      lengths.push(length);
      length = 0;
    }
  }
  return lengths;
}

const share = <T>(items: readonly T[], is: (item: T) => boolean) => items.filter(is).length / items.length;

describe('the stories of the grammar', () => {
  it('depend on seed, split and index alone, in any order', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom<Split>('train', 'test'), fc.nat({ max: 1e6 }), (seed, split, index) => {
        const text = story(seed, split, index);
        expect(story(seed, split, index)).toBe(text);
        expect(story(seed, split, index + 1)).not.toBe(text);
        expect(story(seed, split === 'train' ? 'test' : 'train', index)).not.toBe(text);
      }),
    );
    const first = stories(0, 'train');
    expect([first.next().value, first.next().value]).toEqual(some.slice(0, 2));
  });

  it('fill every slot of every template, and use each template', () => {
    // What stands between slots and choices must occur as it is.
    const text = many.slice(0, 10_000).join('\n').toLowerCase();
    const unused = templates().filter((template) => {
      const fixed = template.toLowerCase().split(/\{[^}]*\}|\([^)]*\)/);
      return !text.includes(fixed.toSorted((a, b) => b.length - a.length)[0]!.replace(/ an?$/, ''));
    });
    expect(unused).toEqual([]);
    expect(share(some, (each) => /[{}()|]|undefined/.test(each))).toBe(0);
  });

  it('have 4 to 10 sentences, capitalized, with "an" before a vowel', () => {
    expect(share(many, (each) => sentenceLengths(each).length < 4 || sentenceLengths(each).length > 10)).toBe(0);
    expect(share(many, (each) => /^"?[a-z]|[.?!] "?[a-z]| a [aeiou]| an [^aeiou]/.test(each))).toBe(0);
  });

  it('have sentences of 2 to 17 tokens, one in eight of them with ten', () => {
    const lengths = some.flatMap(sentenceLengths);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(17);
    expect(share(lengths, (length) => length === 10)).toBeCloseTo(0.12, 1);
    expect(new Set(lengths).size).toBeGreaterThan(12);
  });

  it('have "happy" in one of seven, twice at most', () => {
    const counts = some.map((each) => each.toLowerCase().split('happy').length - 1);
    const often = share(counts, (count) => count > 0);
    expect(often).toBeGreaterThan(0.1);
    expect(often).toBeLessThan(0.2);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('use some 650 words, and have more than 10,000 different beginnings of eight tokens', () => {
    const words = new Set(some.flatMap(tokens).filter((token) => /[a-z]/.test(token)));
    expect(words.size).toBeGreaterThan(600);
    expect(words.size).toBeLessThan(800);
    expect(new Set(many.map((each) => tokens(each).slice(0, 8).join(' '))).size).toBeGreaterThan(10_000);
    expect(new Set(many).size).toBe(many.length);
  });
});
