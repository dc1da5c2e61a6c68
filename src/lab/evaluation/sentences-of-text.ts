/** Lower-cased words, without punctuation. At least one. */
export type Sentence = readonly string[];

/** A text as its sentences. `commas`: also semicolons and colons. */
export type Sample = { readonly sentences: readonly Sentence[]; readonly commas: number };

/**
 * The sentences of a text: each ended by `.`, `?` or `!`, and an unfinished last one, without those that have no word.
 */
export function sentencesOf(text: string): Sample {
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
export function openingOf(sentence: Sentence): string {
  return sentence.slice(0, 2).join(' ');
}

export function wholeOf(sentence: Sentence): string {
  return sentence.join(' ');
}

/** All words of a sample, in order. */
export function wordsOf({ sentences }: Sample): string[] {
  return sentences.flat();
}
