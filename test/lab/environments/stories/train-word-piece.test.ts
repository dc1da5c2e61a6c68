import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTokenizer } from '../../../../src/lab/hugging-face/tokenizer.js';
import { story } from '../../../../src/lab/environments/stories/corpus.js';
import { trainWordPiece } from '../../../../src/lab/environments/stories/train-word-piece.js';
import type { Tokenizer } from '../../../../src/lab/text/tokenizer.js';
import { fixtures } from '../../hugging-face/fixtures.js';

const stories = Array.from({ length: 3000 }, (_, index) => story(0, 'train', index));
const trained = (texts: readonly string[], size: number): Tokenizer =>
  openTokenizer(trainWordPiece(texts, size), 'memory');
const full = trained(stories, 1280);
/** Specials, 68 signs and small letters, 26 letters inside words, seven affixes. */
const least = 103;

describe('a tokenizer trained on texts', () => {
  it('merges the most frequent pair of pieces, with ties in alphabetical order', () => {
    // p ##u 17 times; then pu ##n 12; then ##u ##g and h ##u 10 each; then h ##ug.
    const words = { hug: 10, pug: 5, pun: 12, bun: 4 };
    const text = Object.entries(words).flatMap(([word, count]) => Array.from({ length: count }, () => word));
    const tokenizer = trained([text.join(' ')], least + 4);
    const learnt = [0, 1, 2, 3].map((at) => tokenizer.token(least + at));
    expect(learnt).toEqual(['pu', 'pun', '##ug', 'hug']);
    expect(tokenizer.encode('hug pug')).toEqual([tokenizer.id('hug'), tokenizer.id('pu'), tokenizer.id('##g')]);
  });

  it('is the same each time, whatever the order of the texts', () => {
    const files = trainWordPiece(stories, 700);
    expect(trainWordPiece(stories, 700)).toEqual(files);
    expect(trainWordPiece(stories.toReversed(), 700)).toEqual(files);
  });

  it('has every word of the grammar as one token, and stops when nothing is left to merge', () => {
    expect(full.size).toBeLessThanOrEqual(1280);
    const test = Array.from({ length: 300 }, (_, index) => story(0, 'test', index));
    for (const text of test)
      expect(full.encode(text)).toHaveLength(text.toLowerCase().match(/[a-z]+|[^\sa-z]/g)!.length);
    expect(trained(['a a a'], 5000).size).toBe(least);
  });

  it.each([least, 300, 1280])('with at most %i tokens encodes any ASCII text without an unknown word', (size) => {
    const tokenizer = trained(stories.slice(0, 500), size);
    expect(tokenizer.size).toBeLessThanOrEqual(size);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), (text) => {
        const ids = tokenizer.encode(text.replace(/\[(UNK|EOS)\]/g, ''));
        expect(ids).not.toContain(0);
        expect(ids).not.toContain(1);
      }),
    );
  });

  it('has the layout and behaviour of the tokenizer of SimpleStories', () => {
    const real = gunzipSync(readFileSync(join(fixtures, 'tokenizers/simplestories-4096/tokenizer.json.gz'))).toString();
    const layout = (text: string) => {
      const { model, ...rest } = JSON.parse(text) as { model: { vocab: unknown } };
      return { ...rest, model: { ...model, vocab: null } };
    };
    expect(layout(trainWordPiece(stories, 300).get('tokenizer.json')!)).toEqual(layout(real));
    expect(full.end).toBe(1);
    expect(full.encodeWhole('A happy girl.')).toEqual([
      ...['a', 'happy', 'girl', '.'].map((token) => full.id(token)),
      1,
    ]);
    expect(full.decodePlain(full.encodeWhole('"Is it 42?" said Mia.'))).toBe('" is it 4 2? " said mia.');
    expect(full.encode('Zürich')).toEqual([0]);
  });

  it('is refused with fewer tokens than characters', () => {
    expect(() => trainWordPiece(stories, least - 1)).toThrow(/102 tokens has no room/);
  });
});
