/**
 * Signs that a model has collapsed onto templates, which distinct texts with different words hide.
 *
 * The source system's flag asks whether whole texts repeat (distinct texts, Jaccard of their words). A model that
 * generates "is it a cat at home ? is it a dog at school ?" passes: its nouns differ, and the Jaccard of its collapsed
 * runs was 0.13 to 0.36, where that of good ones was 0.11 to 0.14. The repetition is below the text, in its sentences;
 * so sentences of two different samples are compared, by the probability that two drawn at random agree. A probability
 * over pairs, unlike a number of distinct things, does not change with the number of samples or their lengths.
 *
 * The limits are for stories. A model trained on texts that repeat themselves anyway is compared with a reference:
 * samples from before the training.
 */
import { measuresOf, mostFrequent, shapesIn, type Measures } from './collapse-measures.js';
import { openingOf, sentencesOf, wholeOf, type Sample } from './sentences-of-text.js';

/** `template`: samples are alike. `repetition`: a sample repeats itself. */
type CollapseFlag = {
  readonly kind: 'template' | 'repetition' | 'stuffing' | 'empty';
  readonly measure: keyof Measures;
  /** The measure and its limit, in words. */
  readonly reason: string;
};

export type Collapse = { readonly measures: Measures; readonly flags: readonly CollapseFlag[] };

/**
 * @param texts Completions without their prompts: those differ by design.
 * @param reference Samples of the model before the training, with the same prompts. A sign counts only if it is twice
 * as bad as in the reference; if the reference itself has collapsed, no sign counts.
 */
export function collapseOf(texts: readonly string[], reference: readonly string[] = []): Collapse {
  const samples = texts.map(sentencesOf);
  const measures = measuresOf(samples);
  const before = measuresOf(reference.map(sentencesOf));
  const flags = limits.flatMap(({ measure, kind, limit, isTooLow, says }): CollapseFlag[] => {
    const found = measures[measure];
    const known = before[measure];
    if (found === null) return [];
    const factor = isTooLow ? 0.5 : 2;
    const furthest = isTooLow ? Math.min : Math.max;
    const bound = known === null ? limit : furthest(limit, factor * known);
    if (isTooLow ? found >= bound : found <= bound) return [];
    const beside = bound === limit ? '' : `, ${percent(known!)} before the training`;
    const reason = `${percent(found)} ${says(samples)} (limit ${percent(bound)}${beside})`;
    return [{ kind, measure, reason }];
  });
  return { measures, flags };
}

type Limit = {
  readonly measure: keyof Measures;
  readonly kind: CollapseFlag['kind'];
  readonly limit: number;
  /** Whether a value below the limit is bad, instead of one above it. */
  readonly isTooLow: boolean;
  /** The example after the number in the reason. */
  readonly says: (samples: readonly Sample[]) => string;
};

/**
 * Limits of the signs. Agreement of 10 % is that of ten equally likely templates. Agreement of openings is 0.4 % in
 * the beginnings of SimpleStories and 0 to 1.5 % in prose, where also 93 % and more of the trigrams are distinct. In
 * the source system's LoRA runs, 13 to 20 of 20 first sentences were distinct in good samples, 5 to 9 in collapsed
 * ones.
 */
const limits: readonly Limit[] = [
  { measure: 'empty', kind: 'empty', limit: 0.5, isTooLow: false, says: () => 'of the samples hold no word' },
  {
    ...{ measure: 'distinctFirstSentences', kind: 'template', limit: 0.5, isTooLow: true },
    says: (samples) =>
      `of the first sentences are distinct; the most frequent: ${mostFrequent(samples, (all) => all.slice(0, 1).map(wholeOf))}`,
  },
  {
    ...{ measure: 'sameOpening', kind: 'template', limit: 0.1, isTooLow: false },
    says: (samples) =>
      `of pairs of sentences begin with the same two words; the most frequent: ${mostFrequent(samples, (all) => all.map(openingOf))}`,
  },
  {
    ...{ measure: 'sameShape', kind: 'template', limit: 0.1, isTooLow: false },
    says: (samples) =>
      `of pairs of sentences have one shape; the most frequent: ${mostFrequent(samples, shapesIn(samples))}`,
  },
  {
    ...{ measure: 'sharedSentences', kind: 'template', limit: 0.1, isTooLow: false },
    says: (samples) =>
      `is the chance that a sentence is in another sample too; the most frequent: ${mostFrequent(samples, (all) => all.map(wholeOf))}`,
  },
  {
    ...{ measure: 'distinct3', kind: 'template', limit: 0.6, isTooLow: true },
    says: () => 'of the groups of three words are distinct',
  },
  {
    ...{ measure: 'repeatedSentences', kind: 'repetition', limit: 0.3, isTooLow: false },
    says: () => 'of a sample’s sentences repeat one that it has said',
  },
  {
    ...{ measure: 'repeatedTrigrams', kind: 'repetition', limit: 0.4, isTooLow: false },
    says: () => 'of a sample’s groups of three words repeat one that it has said',
  },
  {
    ...{ measure: 'commas', kind: 'stuffing', limit: 0.3, isTooLow: false },
    says: () => 'as many commas, semicolons and colons as words',
  },
];

function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}
