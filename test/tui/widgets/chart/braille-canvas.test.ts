import { describe, expect, it } from 'vitest';
import { plainText, tones } from '../../../../src/tui/surface/span.js';
import { BrailleCanvas, dashesOf, dotted, lineSign, solid } from '../../../../src/tui/widgets/chart/braille-canvas.js';

describe('the canvas', () => {
  it('shows the dots of the topmost layer alone, in its tone', () => {
    const canvas = new BrailleCanvas(2, 1);
    canvas.stroke(0, 0, 3, 'faint');
    canvas.stroke(2, 0, 3, 'faint');
    canvas.raise();
    canvas.dot(1, 0, 'curve1');
    expect(canvas.row(0)).toEqual([
      { text: '⠈', tone: 'curve1' },
      { text: '⡇', tone: 'faint' },
    ]);
  });

  it('lets lines of one layer share a character', () => {
    const canvas = new BrailleCanvas(1, 1);
    canvas.dot(0, 0, 'curve0');
    canvas.dot(1, 3, 'curve1');
    expect(canvas.row(0)).toEqual([{ text: '⢁', tone: 'curve1' }]);
  });

  it('cuts off what is outside, and keeps the slope of a line that leaves', () => {
    const canvas = new BrailleCanvas(4, 1);
    canvas.line({ column: -1e9, row: 0 }, { column: 1e9, row: 0 }, 'curve0');
    expect(plainText(canvas.row(0))).toBe('⠉⠉⠉⠉');
    const steep = new BrailleCanvas(4, 1);
    steep.dot(0, 3, 'curve0');
    steep.line({ column: 0, row: 3 }, { column: 7, row: -1e9 }, 'curve0');
    expect(plainText(steep.row(0))).toBe('⡸   ');
  });

  it('draws a rule only where no curve is', () => {
    const canvas = new BrailleCanvas(1, 2);
    canvas.raise();
    canvas.dot(0, 0, 'curve0');
    const rule = { column: 0, glyph: '│', tone: 'faint' } as const;
    expect([canvas.row(0, rule), canvas.row(1, rule)].map(plainText)).toEqual(['⠁', '│']);
  });

  it('knows where it is free, and that nothing outside is', () => {
    const canvas = new BrailleCanvas(4, 1);
    expect(canvas.isFree(0, 0, 4)).toBe(true);
    canvas.dotBehind(7, 0, 'faint');
    expect([canvas.isFree(0, 0, 3), canvas.isFree(0, 0, 4), canvas.isFree(2, 0, 3)]).toEqual([true, false, false]);
    canvas.write(0, 0, 'a', 'faint');
    expect([canvas.isFree(0, 0, 1), canvas.isFree(1, 0, 2)]).toEqual([false, true]);
    expect([canvas.isFree(0, -1, 1), canvas.isFree(0, 1, 1)]).toEqual([false, false]);
  });

  it('fills bands behind all lines: as a background where they cover a character or a line goes through', () => {
    const canvas = new BrailleCanvas(3, 2);
    for (let column = 0; column < 4; column++) canvas.fill(column, 2, 7, 'curve1');
    canvas.stroke(2, 5, 5, 'curve1');
    expect(canvas.row(0)).toEqual([{ text: '⣤⣤ ', tone: 'band1' }]);
    expect(canvas.row(1)).toEqual([
      { text: '░', tone: 'band1', ground: 'band1' },
      { text: '⠂', tone: 'curve1', ground: 'band1' },
      { text: ' ', tone: 'curve1' },
    ]);
  });

  it('dashes lines in step, whatever their pieces', () => {
    const canvas = new BrailleCanvas(4, 1);
    canvas.dash(dotted);
    canvas.stroke(0, 0, 0, 'plain');
    canvas.line({ column: 0, row: 0 }, { column: 3, row: 0 }, 'plain');
    canvas.dash(solid);
    canvas.line({ column: 3, row: 0 }, { column: 7, row: 0 }, 'plain');
    expect(
      canvas
        .row(0)
        .map(({ text }) => text)
        .join(''),
    ).toBe('⠁⠁⠉⠉');
  });
});

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
