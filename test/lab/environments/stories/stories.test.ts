import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTokenizer } from '../../../../src/lab/hugging-face/tokenizer.js';
import { stories, story } from '../../../../src/lab/environments/stories/corpus.js';
import { storyPrompts } from '../../../../src/lab/environments/stories/stories.js';
import { trainWordPiece } from '../../../../src/lab/environments/stories/train-word-piece.js';

const texts = Array.from({ length: 2000 }, (_, index) => story(0, 'train', index));
const tokenizer = openTokenizer(trainWordPiece(texts, 1280), 'memory');
const wish = { count: 100, length: 8, seed: 42, dropShort: true };

describe('prompts from stories', () => {
  it('are distinct beginnings of stories, without an end token', () => {
    const prompts = storyPrompts(texts, tokenizer, wish);
    expect(new Set(prompts).size).toBe(100);
    const begins = new Set(texts.map((text) => tokenizer.decodePlain(tokenizer.encode(text).slice(0, 8))));
    for (const prompt of prompts) {
      expect(begins).toContain(prompt);
      expect(tokenizer.encode(prompt)).toHaveLength(8);
      expect(tokenizer.encode(prompt)).not.toContain(tokenizer.end);
    }
  });

  it('depend on the seed, which also chooses the stories', () => {
    const of = (seed: number) => storyPrompts(texts, tokenizer, { ...wish, seed });
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
    expect(of(1)).not.toEqual(of(1).toSorted());
  });

  it('read no more of an endless source than they need', () => {
    let read = 0;
    const source = (function* () {
      for (const text of stories(0, 'train')) {
        read++;
        yield text;
      }
    })();
    expect(storyPrompts(source, tokenizer, wish)).toHaveLength(100);
    expect(read).toBe(200);
  });

  it('skip short stories, or take them whole, as configured', () => {
    const short = ['The end.', 'The sun.', '[EOS] the end of the day was near now.', ' '];
    expect(() => storyPrompts(short, tokenizer, { ...wish, count: 1 })).toThrow(/begin in only 0 different ways/);
    const kept = storyPrompts(short, tokenizer, { ...wish, count: 2, dropShort: false });
    expect(kept.toSorted()).toEqual(['the end.', 'the sun.']);
  });

  it(
    'are refused when the source has too few distinct ones, even an endless source that repeats itself',
    { tags: ['long'] },
    () => {
      const same = {
        *[Symbol.iterator]() {
          for (;;) yield texts[0]!;
        },
      };
      expect(() => storyPrompts(same, tokenizer, wish)).toThrow(/only 1 different ways, and 100 prompts/);
      expect(() => storyPrompts(same, tokenizer, { ...wish, count: 1e9 })).toThrow(/only 1 different ways/);
      expect(() => storyPrompts([], tokenizer, wish)).toThrow(/only 0 different ways/);
    },
  );

  it('have exactly the requested length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), (length, seed) => {
        const [prompt] = storyPrompts(texts, tokenizer, { count: 1, length, seed, dropShort: true });
        expect(tokenizer.encode(prompt!)).toHaveLength(length);
      }),
      { numRuns: 30 },
    );
  });
});
