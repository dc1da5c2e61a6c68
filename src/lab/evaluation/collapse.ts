/**
 * Signs that a model has collapsed onto templates, which distinct texts with different words hide.
 *
 * small-rl's flag `degenerate` asks whether whole texts repeat (distinct texts, Jaccard of their words). A model that
 * generates "is it a cat at home ? is it a dog at school ?" passes: its nouns differ, and the Jaccard of its collapsed
 * runs was 0.13 to 0.36, where that of good ones was 0.11 to 0.14. The repetition is below the text, in its sentences;
 * so sentences of two different samples are compared, by the probability that two drawn at random agree. A probability
 * over pairs, unlike a number of distinct things, does not change with the number of samples or their lengths.
 *
 * The limits are for stories. A model trained on texts that repeat themselves anyway is compared with a reference:
 * samples from before the training.
 */

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
  /** Whether values below the limit are bad; otherwise values above it. */
  readonly isTooLow: boolean;
  /** The example after the number in the reason. */
  readonly says: (samples: readonly Sample[]) => string;
};

/**
 * Limits of the signs. Agreement of 10 % is that of ten equally likely templates. Agreement of openings is 0.4 % in the
 * beginnings of SimpleStories and 0 to 1.5 % in prose, where also 93 % and more of the trigrams are distinct. In
 * small-rl's LoRA runs, 13 to 20 of 20 first sentences were distinct in good samples, 5 to 9 in collapsed ones.
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

/** Measures of samples. null when the samples are too few or too short for a measure. */
type Measures = {
  /** Share of samples without any word. */
  readonly empty: number;
  /**
   * Distinct first sentences, divided by the samples that have one. Sentences end with `.`, `?` or `!`, unlike in
   * small-rl.
   */
  readonly distinctFirstSentences: number | null;
  /** Probability that sentences of two samples begin with the same two words. */
  readonly sameOpening: number | null;
  /**
   * Probability that sentences of two samples have the same shape: the words that many samples share, with a blank for
   * each other one. A shape counts only if at least half of it are such words: `_ _ the _` is English, and no
   * template.
   */
  readonly sameShape: number | null;
  /** Probability that a sentence is also in another sample. */
  readonly sharedSentences: number | null;
  /**
   * Distinct trigrams of words divided by all (distinct-3; Li et al. 2016), of the first 60 in each of the first 20
   * samples. A trigram repeated within a sample counts once: `repeatedTrigrams` measures that.
   */
  readonly distinct3: number | null;
  /** Share of a sample's sentences that occur earlier in it; the mean over samples. */
  readonly repeatedSentences: number | null;
  /**
   * Share of a sample's trigrams that occur earlier in it (seq-rep-3; Welleck et al. 2020): loops without full stops.
   */
  readonly repeatedTrigrams: number | null;
  /** Commas, semicolons and colons for each word: high for fragments strung together to fill a length. */
  readonly commas: number | null;
};

/**
 * Minimum sizes, below which agreement is chance: samples to be compared, sentences in all, trigrams or words of a
 * sample.
 */
const fewest = { samples: 4, sentences: 8, trigrams: 20, words: 20 } as const;

function measuresOf(samples: readonly Sample[]): Measures {
  const spoken = samples.filter(({ sentences }) => sentences.length > 0);
  const isEnough = spoken.length >= fewest.samples;
  const shapes = shapesIn(spoken);
  const firsts = spoken.map(({ sentences }) => wholeOf(sentences[0]!));
  return {
    empty: samples.length === 0 ? 0 : 1 - spoken.length / samples.length,
    distinctFirstSentences: isEnough ? new Set(firsts).size / firsts.length : null,
    sameOpening: agreement(spoken.map(({ sentences }) => sentences.map(openingOf))),
    sameShape: agreement(spoken.map(({ sentences }) => shapes(sentences))),
    sharedSentences: sharedShare(spoken),
    distinct3: distinctTrigrams(spoken),
    repeatedSentences: meanOf(
      spoken
        .filter(({ sentences }) => sentences.length > 1)
        .map(({ sentences }) => repeatedShare(sentences.map(wholeOf))),
    ),
    repeatedTrigrams: meanOf(
      spoken
        .map((sample) => trigramsOf(sample))
        .filter(({ length }) => length >= fewest.trigrams)
        .map(repeatedShare),
    ),
    commas: commaRate(spoken),
  };
}

/** Keys of the sentences of one sample; null for a sentence that agrees with none. */
type Keys = (sentences: readonly Sentence[]) => (string | null)[];

/**
 * The shapes of sentences among these samples: `is it a _ at _`. Frame words are those that at least a quarter, a half
 * or three quarters of the samples have, and no fewer than three samples; null for a sentence of which less than half
 * are frame words. Of the three shares the one is taken by which most sentences agree: words that fill the blanks of a
 * template may be frequent too.
 */
function shapesIn(samples: readonly Sample[]): Keys {
  const holders = countsOf(samples.flatMap((sample) => [...new Set(wordsOf(sample))]));
  const candidates = [0.25, 0.5, 0.75].map((share): { keys: Keys; agreed: number } => {
    const least = Math.max(3, Math.ceil(share * samples.length));
    const keys = (sentences: readonly Sentence[]) => sentences.map((words) => shapeOf(words, holders, least));
    return { keys, agreed: agreement(samples.map(({ sentences }) => keys(sentences))) ?? 0 };
  });
  return candidates.reduce((best, each) => (each.agreed > best.agreed ? each : best)).keys;
}

function shapeOf(words: Sentence, holders: ReadonlyMap<string, number>, least: number): string | null {
  const shape = words.map((word) => ((holders.get(word) ?? 0) >= least ? word : '_'));
  return 2 * shape.filter((word) => word !== '_').length >= words.length ? shape.join(' ') : null;
}

/** The most frequent key of the samples' sentences, in quotes, with its count. */
function mostFrequent(samples: readonly Sample[], keys: Keys): string {
  const counts = countsOf(samples.flatMap(({ sentences }) => keys(sentences)).filter((key) => key !== null));
  const [first] = [...counts].sort(([, left], [, right]) => right - left);
  return first === undefined ? 'none' : `"${first[0]}", ${first[1]} times`;
}

/** The probability that two keys, drawn from two different samples, are equal; null when there are too few. */
function agreement(samples: readonly (readonly (string | null)[])[]): number | null {
  const lengths = samples.map(({ length }) => length);
  const total = sumOf(lengths);
  if (samples.length < fewest.samples || total < fewest.sentences) return null;
  const equal = new Map<string, { all: number; within: number }>();
  for (const sample of samples) {
    for (const [key, count] of countsOf(sample.filter((each) => each !== null))) {
      const known = equal.get(key) ?? { all: 0, within: 0 };
      equal.set(key, { all: known.all + count, within: known.within + count ** 2 });
    }
  }
  const agreeing = sumOf([...equal.values()].map(({ all, within }) => all ** 2 - within));
  return agreeing / (total ** 2 - sumOf(lengths.map((length) => length ** 2)));
}

/** The mean over all sentences of the share of other samples that have it too. */
function sharedShare(samples: readonly Sample[]): number | null {
  const sets = samples.map(({ sentences }) => sentences.map(wholeOf));
  const all = sets.flat();
  if (samples.length < fewest.samples || all.length < fewest.sentences) return null;
  const holders = countsOf(sets.flatMap((set) => [...new Set(set)]));
  return sumOf(all.map((sentence) => holders.get(sentence)! - 1)) / ((samples.length - 1) * all.length);
}

/** Limits of the trigrams counted, so that the share does not fall with the number of samples or their lengths. */
const counted = { samples: 20, trigrams: 60 } as const;

function distinctTrigrams(samples: readonly Sample[]): number | null {
  const all = samples
    .slice(0, counted.samples)
    .flatMap((sample) => [...new Set(trigramsOf(sample))].slice(0, counted.trigrams));
  return samples.length < fewest.samples || all.length < fewest.trigrams ? null : new Set(all).size / all.length;
}

function trigramsOf(sample: Sample): string[] {
  const words = wordsOf(sample);
  return words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`);
}

function repeatedShare(items: readonly string[]): number {
  return 1 - new Set(items).size / items.length;
}

function commaRate(samples: readonly Sample[]): number | null {
  const words = sumOf(samples.map((sample) => wordsOf(sample).length));
  return words < fewest.words ? null : sumOf(samples.map(({ commas }) => commas)) / words;
}

function countsOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : sumOf(values) / values.length;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Lower-cased words, without punctuation. At least one. */
type Sentence = readonly string[];

/** A text as its sentences. `commas`: also semicolons and colons. */
type Sample = { readonly sentences: readonly Sentence[]; readonly commas: number };

/**
 * The sentences of a text: each ended by `.`, `?` or `!`, and an unfinished last one, without those that have no word.
 */
function sentencesOf(text: string): Sample {
  const sentences = text
    .toLowerCase()
    .split(/[.!?]+/)
    .map((part) => part.match(/[\p{L}\p{N}]+/gu) ?? []);
  return {
    sentences: sentences.filter(({ length }) => length > 0),
    commas: text.match(/[,;:]/g)?.length ?? 0,
  };
}

/** The first two words of a sentence. */
function openingOf(sentence: Sentence): string {
  return sentence.slice(0, 2).join(' ');
}

function wholeOf(sentence: Sentence): string {
  return sentence.join(' ');
}

/** All words of a sample, in order. */
function wordsOf({ sentences }: Sample): string[] {
  return sentences.flat();
}
