import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collapseOf, type Collapse } from '../../../src/lab/evaluation/collapse.js';
import { diversityOf } from '../../../src/lab/evaluation/diversity.js';
import { looping, nameFirst, poolOfTen, questions, stuffed, stuttering, varied } from './story-samples.js';

const kinds = ({ flags }: Collapse) => [...new Set(flags.map(({ kind }) => kind))];
const measuresOf = ({ flags }: Collapse) => flags.map(({ measure }) => measure);

describe('varied stories', () => {
  it('have no sign of collapse', () => {
    expect(collapseOf(varied).flags).toEqual([]);
    expect(diversityOf(varied).degenerate).toBe(false);
  });

  it('stay far from every limit', () => {
    const { measures } = collapseOf(varied);
    expect(measures.distinctFirstSentences).toBe(1);
    expect(measures.sameOpening).toBeLessThan(0.02);
    expect(measures.sameShape).toBeLessThan(0.02);
    expect(measures.sharedSentences).toBeLessThan(0.02);
    expect(measures.distinct3).toBeGreaterThan(0.8);
    expect(measures.repeatedSentences).toBeLessThan(0.05);
    expect(measures.repeatedTrigrams).toBeLessThan(0.05);
    expect(measures.commas).toBeLessThan(0.15);
  });

  it('have no sign of collapse in small samples either', () => {
    for (const count of [0, 1, 2, 4, 6]) expect(collapseOf(varied.slice(0, count)).flags).toEqual([]);
  });
});

describe('collapse that small-rl’s flag misses', () => {
  it.each([
    ['five-token questions that differ in their nouns', questions, 'template', ['sameOpening', 'sameShape']],
    ['a frame with other words at its beginning', nameFirst, 'template', ['sameShape']],
    ['ten sentences in other orders', poolOfTen, 'template', ['sharedSentences', 'distinct3']],
    ['sentences said four times', stuttering, 'repetition', ['repeatedSentences', 'repeatedTrigrams']],
    ['a loop without a full stop', looping, 'repetition', ['repeatedTrigrams']],
    ['fragments between commas', stuffed, 'stuffing', ['commas']],
  ])('%s', (_, texts, kind, signs) => {
    const diversity = diversityOf(texts);
    expect(diversity.degenerate).toBe(false);
    expect(diversity.uniqueSamples).toBe(texts.length);
    const collapse = collapseOf(texts);
    expect(kinds(collapse)).toContain(kind);
    expect(measuresOf(collapse)).toEqual(expect.arrayContaining(signs));
  });

  it('has a Jaccard index like that of small-rl’s collapsed runs', () => {
    expect(diversityOf(questions).averageJaccard).toBeLessThan(0.5);
  });

  it('is reported in words, with the most frequent sentence', () => {
    const reasons = collapseOf(questions).flags.map(({ reason }) => reason);
    expect(reasons).toContainEqual(
      '100 % of pairs of sentences begin with the same two words; the most frequent: "is it", 48 times (limit 10 %)',
    );
    expect(reasons).toContainEqual(
      '100 % of pairs of sentences have one shape; the most frequent: "is it a _ at _", 48 times (limit 10 %)',
    );
  });

  it('is repetition, not a template, when each sample repeats only itself', () => {
    expect(kinds(collapseOf(stuttering))).toEqual(['repetition']);
  });

  it('is detected when a fifth of the stories are varied', () => {
    const mixed = [...questions.slice(0, 8), ...varied.slice(0, 2)];
    expect(kinds(collapseOf(mixed))).toContain('template');
  });

  it('is detected when most samples are empty', () => {
    expect(kinds(collapseOf(['', ' ', '...', varied[0]!]))).toEqual(['empty']);
    expect(diversityOf(['', ' ', '...', varied[0]!]).degenerate).toBe(false);
  });
});

describe('a reference from before the training', () => {
  /** Varied stories and this many told in one frame. */
  const withFramed = (framed: number) => [...varied, ...nameFirst.slice(0, framed)];
  const isShaped = (texts: readonly string[], reference?: readonly string[]) =>
    measuresOf(collapseOf(texts, reference)).includes('sameShape');

  it('keeps a model that always used templates from being flagged, until it is twice as bad', () => {
    const [before, now] = [9, 11].map((framed) => collapseOf(withFramed(framed)).measures.sameShape!);
    expect(now! / before!).toBeLessThan(2);
    expect([isShaped(withFramed(11)), isShaped(withFramed(11), withFramed(9))]).toEqual([true, false]);
    expect([isShaped(nameFirst, varied), isShaped(nameFirst, withFramed(12))]).toEqual([true, true]);
    expect(isShaped(nameFirst, nameFirst)).toBe(false);
  });

  it('is named in the reason when it moves the limit', () => {
    const before = [...varied.slice(0, 6), ...nameFirst.slice(0, 6)];
    const { flags } = collapseOf(nameFirst, before);
    expect(flags.find(({ measure }) => measure === 'sameShape')!.reason).toMatch(
      /limit [\d.]+ %, [\d.]+ % before the training/,
    );
  });
});

describe('the measures', () => {
  it('are probabilities over pairs of different samples, so repetitions within a sample do not count', () => {
    const sample = (word: string) => `${`${word} went home. `.repeat(5)}`;
    const { measures } = collapseOf(['a', 'b', 'c', 'd'].map(sample));
    expect(measures.sameOpening).toBe(0);
    expect(measures.repeatedSentences).toBeCloseTo(0.8, 12);
  });

  it('do not count a shape of mostly blanks as a template', () => {
    const word = (n: number) => `w${n}`;
    const shaped = (frame: string) =>
      Array.from({ length: 12 }, (_, at) => frame.replaceAll('_', () => `${word(at)}x${word((at * 7) % 12)}`));
    expect(collapseOf(shaped('_ _ the _ _.')).measures.sameShape).toBe(0);
    expect(collapseOf(shaped('_ is the _.')).measures.sameShape).toBe(1);
  });

  it('equal counts by hand', () => {
    const { measures } = collapseOf(['go on. stop. go on.', 'go on. wait.', 'stop! run.', 'sit? x']);
    // 3·2 + 3·2 + 3·2 + 2·2 + 2·2 + 2·2 = 30 pairs; "go on" 2·1, "stop" 1·1.
    expect(measures.sameOpening).toBeCloseTo(3 / 30, 12);
    // Of nine sentences, "go on" thrice and "stop" twice are in one other sample of three.
    expect(measures.sharedSentences).toBeCloseTo(5 / (3 * 9), 12);
    expect(measures.distinctFirstSentences).toBe(3 / 4);
    expect(measures.repeatedSentences).toBeCloseTo(1 / 3 / 4, 12);
  });

  it('lie between 0 and 1 and do not change with the order of the samples', () => {
    const words = fc
      .array(fc.constantFrom('a', 'b', 'c', 'one', '.', '?'), { maxLength: 30 })
      .map((all) => all.join(' '));
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (texts) => {
        const { measures } = collapseOf(texts);
        const turned = collapseOf(texts.toReversed()).measures;
        for (const [name, value] of Object.entries(measures)) {
          if (value === null) expect(turned[name as keyof typeof turned]).toBe(null);
          else {
            expect(value).toBeGreaterThanOrEqual(0);
            expect(value).toBeLessThanOrEqual(1);
            expect(turned[name as keyof typeof turned]).toBeCloseTo(value, 9);
          }
        }
      }),
    );
  });

  it('do not change with the number of samples of the same kind', () => {
    const some = collapseOf(questions.slice(0, 6)).measures;
    const all = collapseOf(questions).measures;
    for (const name of ['sameOpening', 'sameShape'] as const) expect(some[name]).toBe(all[name]);
  });
});
