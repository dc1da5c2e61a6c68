import type { Tokenizer } from '../text/tokenizer.js';
import { UserError } from '../../base/user-error.js';

/** The part of a tokenizer that rewards of token ids need. */
export type Vocabulary = Pick<Tokenizer, 'id'>;

/**
 * The ids of the tokens that end a sentence: `.`, and `?` and `!` if the vocabulary has them.
 *
 * @throws UserError when there is no `.`: no sentence would ever be counted, and every reward would be 0.
 */
export function sentenceEnds(vocabulary: Vocabulary): ReadonlySet<number> {
  const period = idOf(vocabulary, '.');
  if (period === null) {
    throw new UserError(
      'This reward counts the tokens of sentences, and the tokenizer has no token `.` to end one.',
      'Use a tokenizer with tokens for `.`, `?` and `!`, or a reward that reads the text, such as num_words_per_sentence.',
    );
  }
  return new Set([period, idOf(vocabulary, '?'), idOf(vocabulary, '!')].filter((id) => id !== null));
}

/** The id of a token, or null: a tokenizer throws for a token it does not have. */
function idOf(vocabulary: Vocabulary, token: string): number | null {
  try {
    return vocabulary.id(token);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

/**
 * Number of tokens of each finished sentence, without the token that ends it. Text after the last end is no sentence,
 * and two ends in a row have none between them: an end-of-text token after a full stop changes nothing.
 */
export function sentenceLengths(ids: readonly number[], ends: ReadonlySet<number>): number[] {
  const lengths: number[] = [];
  let length = 0;
  for (const id of ids) {
    if (!ends.has(id)) length += 1;
    else {
      if (length > 0) lengths.push(length);
      length = 0;
    }
  }
  return lengths;
}

/** The share of sentences of exactly `target` parts; 0 without sentences. */
export function exactShare(lengths: readonly number[], target: number): number {
  return meanOf(lengths.map((length) => (length === target ? 1 : 0)));
}

/** The mean over sentences of max(0, 1 − 0.2·|target − length|); 0 without sentences. */
export function smoothShare(lengths: readonly number[], target: number): number {
  return meanOf(lengths.map((length) => Math.max(0, 1 - 0.2 * Math.abs(target - length))));
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
