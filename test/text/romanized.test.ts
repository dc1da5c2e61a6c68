import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { romanized } from '../../src/text/romanized.js';

describe('a text in the letters of ASCII', () => {
  it.each([
    { text: 'plain (v2)', is: 'plain (v2)' },
    { text: 'café', is: 'cafe' },
    { text: 'cafe\u0301', is: 'cafe' },
    { text: 'Größe', is: 'Grosse' },
    { text: 'Ærø', is: 'Aero' },
    { text: 'β1', is: 'beta1' },
    { text: 'µ', is: 'mu' },
    { text: 'Σ', is: 'sigma' },
    { text: 'λόγος', is: 'logos' },
    { text: 'Шум', is: 'Shum' },
    { text: 'Чайковский', is: 'Chaikovskii' },
    { text: '模型', is: 'u6a21-u578b' },
    { text: 'model-大', is: 'model-u5927' },
    { text: 'GPT‑4', is: 'GPT-4' },
    { text: '10²', is: '102' },
    { text: '2×4', is: '2x4' },
    { text: '🚀', is: 'u1f680' },
    { text: '“quoted”', is: 'quoted' },
  ])('of $text is $is', ({ text, is }) => {
    expect(romanized(text)).toBe(is);
  });

  it('is ASCII whatever the text, the same for both forms of it, and stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = romanized(text);

        expect(once).toMatch(/^[\x00-\x7f]*$/);
        expect(romanized(once)).toBe(once);
        expect(romanized(text.normalize('NFD'))).toBe(romanized(text.normalize('NFC')));
      }),
    );
  });
});
