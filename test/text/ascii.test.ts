import { describe, expect, it } from 'vitest';
import { stateLook, unhealthyGlyph } from '../../src/tui/model/state-look.js';
import { toAscii } from '../../src/text/ascii.js';

describe('where only ASCII can be shown', () => {
  it.each([
    ['0.5 ±0.01', '0.5+-0.01'],
    ['mean ± std', 'mean +-std'],
    ['3 ≤ 0 left out', '3 <=0 left out'],
    ['lr ≥ 1', 'lr >=1'],
    ['café …', 'cafe ~'],
  ])('%s is %s', (text, ascii) => {
    expect(toAscii(text)).toBe(ascii);
  });

  it('no two states have one sign, nor a state and what is wrong', () => {
    const signs = [...Object.values(stateLook).map(({ glyph }) => glyph), unhealthyGlyph].map(toAscii);
    expect(new Set(signs).size).toBe(signs.length);
  });
});
