import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisNumbers, countText, factorText, narrowNumber, shortNumber } from '../../src/text/numbers.js';

describe('a number in a column of a screen', () => {
  it.each([
    [0, '0'],
    [9.31, '9.310'],
    [9.99996, '10.00'],
    [-0.0312345, '-0.0312'],
    [0.00099996, '0.0010'],
    [20_000, '20000'],
    [99_999.9, '100.0k'],
    [123_456.7, '123.5k'],
    [999_960, '1.000M'],
    [3_400_000, '3.400M'],
    [999_999_999, '1.000G'],
    [999.97e9, '1.0e12'],
    [1.2e-5, '1.2e-5'],
    [3e15, '3.0e15'],
    [178447265679863680000, '1.8e20'],
    [8.04e78, '8.0e78'],
    [-1.2e-99, '-1.2e-99'],
    [-1.2e200, '-1e200'],
    [Number.NaN, 'NaN'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
  ])('%d is %s', (value, text) => {
    expect(narrowNumber(value)).toBe(text);
  });

  it('never needs more than eight characters, and is the number but for its last digits', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e307, max: 1e307 }), (value) => {
        const text = narrowNumber(value);
        expect(text.length).toBeLessThanOrEqual(8);
        const letter = { k: 1e3, M: 1e6, G: 1e9 }[text.at(-1)!] ?? 1;
        const read = Number.parseFloat(text) * letter;
        expect(Math.abs(read - value)).toBeLessThanOrEqual(Math.abs(value) * 0.5 + 5e-5);
      }),
    );
  });
});

describe('a number in a report', () => {
  it.each([
    [0.000918, '0.000918'],
    [7.678, '7.68'],
    [123.456, '123'],
    [1, '1'],
    [0, '0'],
    [0.1, '0.100'],
    [1.2e-7, '1.20e-7'],
    [-2.5e9, '-2.50e9'],
    [178447265679863680000, '1.78e20'],
    [NaN, 'NaN'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [null, '–'],
  ])('%s is %s', (value, text) => {
    expect(shortNumber(value)).toBe(text);
  });

  it.each([
    [10820, '10,820'],
    [2.5, '2.5'],
    [178447265679863680000, '1.78e20'],
    [Infinity, '∞'],
    [null, '–'],
  ])('%s counts as %s', (value, text) => {
    expect(countText(value)).toBe(text);
  });

  it.each([
    [0.1, '×0.1'],
    [3.0000001, '×3'],
    [1234.5, '×1230'],
    [1.784e20, '×1.78e20'],
    [1e-9, '×1.00e-9'],
  ])('%s is a factor of %s', (value, text) => {
    expect(factorText(value)).toBe(text);
  });
});

describe('the numbers of an axis', () => {
  it.each<{ marks: number[]; isLog?: boolean; step: number | null; texts: string }>([
    { marks: [0, 0.5, 1], step: 0.5, texts: '0 0.5 1.0' },
    { marks: [-2, 0, 2], step: 2, texts: '-2 0 2' },
    { marks: [100_002, 100_004], step: 2, texts: '100.002k 100.004k' },
    { marks: [0, 5000, 10_000, 15_000], step: 5000, texts: '0 5k 10k 15k' },
    { marks: [0, 500_000, 1e6, 1.5e6], step: 500_000, texts: '0 0.5M 1M 1.5M' },
    { marks: [0, 1e9, 2e9], step: 1e9, texts: '0 1G 2G' },
    { marks: [0, 5e35, 1e36, 1.5e36, 2e36], step: 5e35, texts: '0 0.5e36 1.0e36 1.5e36 2.0e36' },
    { marks: [-2e20, -1e20, 0], step: 1e20, texts: '-2e20 -1e20 0' },
    { marks: [0, 0.0002, 0.0004, 0.0006], step: 0.0002, texts: '0 2e-4 4e-4 6e-4' },
    { marks: [0, 1e300, 2e300], step: 1e300, texts: '0 1e300 2e300' },
    { marks: [0, 1e-310], step: 1e-310, texts: '0 1.0e-310' },
    { marks: [0, 1234.5678], step: null, texts: '0 1230' },
    { marks: [0, 178447265679863680000], step: null, texts: '0 1.78e20' },
    {
      marks: [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000],
      isLog: true,
      step: null,
      texts: '0.001 0.01 0.1 1 10 100 1000 10k',
    },
    { marks: [0.05, 0.1, 0.2, 0.5, 1, 2], isLog: true, step: null, texts: '0.05 0.1 0.2 0.5 1 2' },
    { marks: [1, 1e5, 1e10, 1e15, 1e21], isLog: true, step: null, texts: '1 1e5 1e10 1e15 1e21' },
    { marks: [1e-10, 1e-5, 1, 20, 5e5], isLog: true, step: null, texts: '1e-10 1e-5 1 20 5e5' },
  ])('are written alike: $texts', ({ marks, isLog = false, step, texts }) => {
    const text = axisNumbers({ low: Math.min(...marks), high: Math.max(...marks), isLog }, step);
    expect(marks.map(text).join(' ')).toBe(texts);
  });
});
