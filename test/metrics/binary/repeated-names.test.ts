import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepeatedNames } from '../../../src/metrics/binary/repeated-names.js';

describe('repeated names', () => {
  it('are those in the bytes, in whatever order they come and however often', () => {
    const text = fc.oneof(
      fc.constantFrom('loss', 'loss ', 'los', 'train/loss', 'é', ''),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (texts) => {
        const names = new RepeatedNames();
        const read = texts.map((each) => {
          const bytes = Buffer.from(`<${each}>`);
          return names.at(bytes, 1, bytes.length - 1);
        });
        expect(read).toEqual(texts.map((each) => Buffer.from(each).toString()));
      }),
    );
  });

  it('are made once of each text', () => {
    const made: string[] = [];
    const names = new RepeatedNames((text) => (made.push(text), text.toUpperCase()));
    const bytes = Buffer.from('ababab');
    expect([0, 1, 2, 3, 4, 5].map((at) => names.at(bytes, at, at + 1)).join('')).toBe('ABABAB');
    expect(made).toEqual(['a', 'b']);
  });
});
