import { describe, expect, it } from 'vitest';
import { tickText } from '../../src/report/page/figure.js';
import { asInfinite, ticksOf, valueAxis } from '../../src/report/page/value-axis.js';

const calm = [
  [1.4, 0.7, 0.02],
  [1.3, 0.6, 0.01],
  [1.2, 0.5, 0.02],
];

describe('the axis of values on a page', () => {
  it.each<{ what: string; curves: number[][]; type: string; domain: [number, number]; note: string }>([
    { what: 'calm curves', curves: calm, type: 'linear', domain: [0, 1.4695], note: '' },
    {
      what: 'calm curves and one that explodes: what is outside is said',
      curves: [...calm, [1.4, 1e9, 1.8e20]],
      type: 'linear',
      domain: [0, 1.4695],
      note: '▲ 1 run leaves the axis, up to 1.8e20.',
    },
    {
      what: 'two that are infinite in the end, to either side',
      curves: [...calm, [1.4, asInfinite], [1.4, -asInfinite]],
      type: 'linear',
      domain: [0, 1.4695],
      note: '▲ 1 run leaves the axis, up to inf. ▼ 1 run leaves the axis, down to -inf.',
    },
    {
      what: 'a loss that falls by decades',
      curves: [[10, 0.1, 1e-3, 1e-4, 1e-4]],
      type: 'log',
      domain: [1e-4 / 10 ** 0.25, 10 * 10 ** 0.25],
      note: 'Logarithmic, as the values span decades.',
    },
    {
      what: 'a rate that rises to 1 from next to nothing',
      curves: [[1e-6, 0.9, 1, 1, 1]],
      type: 'linear',
      domain: [0, 1.05],
      note: '',
    },
    { what: 'one value', curves: [[2]], type: 'linear', domain: [1.9, 2.1], note: '' },
    { what: 'nothing', curves: [], type: 'linear', domain: [0, 1.05], note: '' },
  ])('of $what', ({ curves, type, domain, note }) => {
    const axis = valueAxis(curves, 'run');
    expect(axis.scale.type).toBe(type);
    expect(axis.domain[0]).toBeCloseTo(domain[0], 6);
    expect(axis.domain[1]).toBeCloseTo(domain[1], 6);
    expect(axis.note).toBe(note);
  });

  it('draws nothing farther away than an image can say', () => {
    const { drawn, side } = valueAxis([...calm, [1e30]], 'run');
    expect([drawn(0.5), drawn(1e30), drawn(-asInfinite)].map((value) => Math.abs(value) < 10)).toEqual([
      true,
      true,
      true,
    ]);
    expect([0.5, 1e30, -1].map(side)).toEqual([0, 1, -1]);
    expect(valueAxis([[1e-6, 1e-5, 10]], 'run').drawn(-1)).toBeNaN();
  });

  it.each([
    { values: [0, 1.4], isLog: false, texts: ['0', '0.2', '1.4'], of: [0, 0.2, 1.4] },
    { values: [0, 2e36], isLog: false, texts: ['0', '0.5e36', '2.0e36'], of: [0, 5e35, 2e36] },
    { values: [0, 160e6], isLog: false, texts: ['0', '50M', '150M'], of: [0, 5e7, 1.5e8] },
    { values: [0.001, 1], isLog: true, texts: ['0.001', '0.1', '1'], of: [0.001, 0.1, 1] },
    { values: [1, 1e20], isLog: true, texts: ['1', '1e10', '1e20'], of: [1, 1e10, 1e20] },
  ])('numbers from $values.0 to $values.1 are written alike', ({ values, isLog, of, texts }) => {
    expect(of.map(ticksOf(values, isLog))).toEqual(texts);
  });

  it.each([
    [0, '0'],
    [0.002, '0.002'],
    [0.0005, '5e-4'],
    [500, '500'],
    [160e6, '160M'],
    [1e20, '1e20'],
    [-3e15, '-3e15'],
  ])('a number alone: %d is %s', (value, text) => {
    expect(tickText(value)).toBe(text);
  });
});
