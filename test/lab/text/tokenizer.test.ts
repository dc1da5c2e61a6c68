import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import {
  multiStepEnvironment,
  singleStepEnvironment,
} from '../../../src/lab/environments/memory/memory-environment.js';
import { memoryTokenizer as tokenizer } from '../../../src/lab/text/memory-vocabulary.js';

describe('the vocabulary of the memory games', () => {
  it('fits the tiny model', () => expect(tokenizer.size).toBeLessThanOrEqual(32));

  it('decodes exactly the text that it encoded, for every text of its tokens', () => {
    const ids = fc.array(fc.nat({ max: tokenizer.size - 1 }));
    fc.assert(
      fc.property(ids, (sequence) => {
        const text = tokenizer.decode(sequence);
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
  });

  it('encodes every prompt and answer of both games', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(), (N, pick) => {
        const setup = { N, secret: pick % N, prefix: [] };
        for (const game of [singleStepEnvironment(setup, { type: 'binary' }), multiStepEnvironment(setup)]) {
          const { tokens } = game.solution();
          const text = tokenizer.decode(tokens);
          expect(tokenizer.encode(text)).toEqual([...tokens]);
        }
      }),
    );
  });

  it('has one token for each digit', () => {
    expect(tokenizer.encode('1023')).toHaveLength(4);
    expect(tokenizer.encode('57\n\n')).toHaveLength(3);
  });

  it('adds the beginning-of-text token only on request, and knows the token that ends an answer', () => {
    expect(tokenizer.encodeWhole('57\n\n')).toEqual([0, ...tokenizer.encode('57\n\n')]);
    expect(tokenizer.encode('57\n\n').at(-1)).toBe(tokenizer.end);
    expect(tokenizer.decode(tokenizer.encodeWhole('57'))).toBe('<|begin_of_text|>57');
    expect(tokenizer.decodePlain(tokenizer.encodeWhole('57'))).toBe('57');
  });

  it('decodes an invalid id as a sign of its own, so that no answer is parsed from it', () => {
    expect(tokenizer.decode([tokenizer.id('5'), 31])).toBe('5\uFFFD');
  });

  it('names a text that it cannot encode', () => {
    expect(() => tokenizer.encode('5 seven')).toThrow(UserError);
    expect(() => tokenizer.encode('5 seven')).toThrow(/no token for " seven" \(at character 1/);
  });
});
