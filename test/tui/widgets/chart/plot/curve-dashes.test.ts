import { describe, expect, it } from 'vitest';
import { tones } from '../../../../../src/tui/surface/span.js';
import { dotted, solid } from '../../../../../src/tui/widgets/chart/plot/braille-canvas.js';
import { dashesOf, lineSign } from '../../../../../src/tui/widgets/chart/plot/curve-dashes.js';

const curves = tones.filter((tone) => tone.startsWith('curve'));

describe('the dashes of curves', () => {
  it('differ from curve to curve, wherever they begin, and from a line that is half there', () => {
    const turned = (pattern: number): number[] =>
      Array.from({ length: 8 }, (_, by) => ((pattern << by) | (pattern >> (8 - by))) & 0xff);
    const patterns = [...curves.map(dashesOf), dotted];
    expect(new Set(patterns.map((pattern) => Math.min(...turned(pattern)))).size).toBe(curves.length + 1);
  });

  it('leave what is no curve as it is', () => {
    expect(dashesOf('faint')).toBe(solid);
  });

  it('stand in the legend as they are drawn; with colours, a line is a line', () => {
    expect(curves.map((tone) => lineSign(tone, true))).toEqual([
      ...['⠒⠒⠒⠒ ', '⠒⠒⠂  ', '⠒⠒ ⠂ ', '⠒ ⠒  ', '⠒⠂   ', '⠂ ⠂  ', '⠒⠒⠂⠂ ', '⠒⠂⠐  '],
    ]);
    expect(new Set(curves.map((tone) => lineSign(tone, false)))).toEqual(new Set(['━ ']));
  });
});
