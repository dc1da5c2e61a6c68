import { openingOf, wholeOf, wordsOf, type Sample, type Sentence } from './sentences-of-text.js';

/** Measures of samples. null when the samples are too few or too short for a measure. */
export type Measures = {
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

export function measuresOf(samples: readonly Sample[]): Measures {
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
export function shapesIn(samples: readonly Sample[]): Keys {
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
export function mostFrequent(samples: readonly Sample[], keys: Keys): string {
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
