import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import { memoryVocabularyFiles } from '../../../src/lab/hugging-face/export-model.js';
import { memoryTokenizer } from '../../../src/lab/text/memory-vocabulary.js';
import { createTokenizer, hasTokensOf, type Tokenizer } from '../../../src/lab/text/tokenizer.js';
import { tempDirectory } from '../temp-directory.js';
import { fixtures } from './fixtures.js';

function written(): Tokenizer {
  const directory = tempDirectory();
  for (const [name, text] of memoryVocabularyFiles()) writeFileSync(join(directory, name), text);
  return loadTokenizer(directory)!;
}

describe('the memory vocabulary as files of Hugging Face', () => {
  it('gives the same ids and texts', () => {
    const tokenizer = written();
    expect(tokenizer).toMatchObject({ size: memoryTokenizer.size, end: memoryTokenizer.end });
    fc.assert(
      fc.property(fc.array(fc.nat({ max: memoryTokenizer.size - 1 })), (ids) => {
        const text = memoryTokenizer.decode(ids);
        expect(tokenizer.encode(text)).toEqual(memoryTokenizer.encode(text));
        expect(tokenizer.encodeWhole(text)).toEqual(memoryTokenizer.encodeWhole(text));
        expect(tokenizer.decode(ids)).toBe(text);
        expect(tokenizer.decodePlain(ids)).toBe(memoryTokenizer.decodePlain(ids));
      }),
    );
  });

  it('refuses text that the memory vocabulary cannot encode', () => {
    expect(() => memoryTokenizer.encode('5 seven')).toThrow(/no token for/);
    expect(() => written().encode('5 seven')).toThrow(/no token for/);
  });

  it('is recognised when it is loaded again, and no other vocabulary is mistaken for it', () => {
    expect(hasTokensOf(written(), memoryTokenizer)).toBe(true);
    expect(hasTokensOf(loadTokenizer(join(fixtures, 'tokenizers/word-piece'))!, memoryTokenizer)).toBe(false);
    // The same tokens under other ids.
    const tokens = Array.from({ length: memoryTokenizer.size }, (_, id) => memoryTokenizer.decode([id])).reverse();
    const turned = createTokenizer({ tokens, beginning: tokens[0]!, ending: tokens[1]! });
    expect(hasTokensOf(turned, memoryTokenizer)).toBe(false);
  });
});
