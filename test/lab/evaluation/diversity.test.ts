import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { averageJaccard, diversityOf } from '../../../src/lab/evaluation/diversity.js';
import { roundedAsPython } from '../../../src/lab/evaluation/rounding.js';

describe('the diversity of texts', () => {
  it.each([
    [['the cat sat. ok', 'the cat sat. no', 'a dog ran', 'a dog ran'], 3, 2, 0.267, false],
    [['a b. c', 'a b. c', 'a b. c', 'a b. c'], 1, 1, 1, true],
    [['', '', 'a b'], 2, 2, 0, false],
    [['', ''], 1, 1, 0, false],
    [[], 0, 0, 0, false],
    [['a cat'], 1, 1, 0, false],
    [['is it a cat ?', 'is it a dog ?'], 2, 2, 0.667, false],
    [[' A cat. x', 'A cat . y'], 2, 1, 0.167, false],
  ])('of %j: %i distinct, %i first sentences, Jaccard %f, degenerate: %s', (texts, ...expected) => {
    const found = diversityOf(texts);
    expect(found.samples).toBe(texts.length);
    const { uniqueSamples, uniqueFirstSentences, averageJaccard: jaccard, degenerate } = found;
    expect([uniqueSamples, uniqueFirstSentences, jaccard, degenerate]).toEqual(expected);
  });

  it('flags degenerate texts below one half distinct, not at exactly one half', () => {
    expect(diversityOf(['a', 'a', 'b', 'b']).degenerate).toBe(false);
    expect(diversityOf(['a', 'a', 'b', 'b', 'b']).degenerate).toBe(true);
  });

  it('flags degenerate texts above a Jaccard index of 0.7, not at exactly 0.7', () => {
    // 7 of 10 words, then 8 of 11.
    const shared = 'a b c d e f g';
    expect(averageJaccard([`${shared} h i`, `${shared} j`])).toBe(0.7);
    expect(diversityOf([`${shared} h i`, `${shared} j`]).degenerate).toBe(false);
    expect(diversityOf([`${shared} x h i`, `${shared} x j`]).degenerate).toBe(true);
  });

  it('applies the limit to the average before rounding', () => {
    // 701 of 1001 words: 0.7003, which is written 0.7.
    const words = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `w${from + at}`).join(' ');
    const diversity = diversityOf([words(0, 1001), words(0, 701)]);
    expect([diversity.averageJaccard, diversity.degenerate]).toEqual([0.7, true]);
  });

  it('has a symmetric Jaccard index from 0 to 1, which is 1 for equal texts', () => {
    const text = fc.array(fc.constantFrom('a', 'B', 'b', 'c.', ' '), { maxLength: 6 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(text, text, (left, right) => {
        const found = averageJaccard([left, right]);
        expect(averageJaccard([right, left])).toBe(found);
        expect(found).toBeGreaterThanOrEqual(0);
        expect(found).toBeLessThanOrEqual(1);
        expect(averageJaccard([left, left])).toBe(left.trim() === '' ? 0 : 1);
      }),
    );
  });
});

describe('rounding', () => {
  it.each([
    [0.0625, 3, 0.062],
    [0.1875, 3, 0.188],
    [0.3125, 3, 0.312],
    [0.0005, 3, 0.001],
    [0.2675, 3, 0.268],
    [0.96875, 4, 0.9688],
    [0.03125, 4, 0.0312],
    [-0.0625, 3, -0.062],
    [1, 3, 1],
    [2 / 3, 3, 0.667],
  ])('%f to %i decimals is %f, as in Python', (value, decimals, rounded) => {
    expect(roundedAsPython(value, decimals)).toBe(rounded);
  });
});
