import { createTokenizer, type Tokenizer } from './tokenizer.js';

/** First token of every sequence; not part of the text. */
export const beginning = '<|begin_of_text|>';
/** End of every message; the model generates it when its answer is complete. */
export const ending = '\n\n';
/** Text after the last answer of a supervised example in this format. */
export const tail = 'User:';

const digits = [...'0123456789'];

/**
 * The vocabulary of the memory games: 21 tokens, so that the games' long questions, word for word those of the source
 * system, cost a few tokens. The constant parts of the questions are one token each, and so is every digit.
 *
 * The space that begins an answer belongs to the cue before it. A second token for a digit with its space would give
 * every answer two spellings: the reward accepts both, but learning one would not teach the other.
 */
export const memoryTokens: readonly string[] = [
  beginning,
  ending,
  tail,
  ...digits,
  'User: You are playing a memorization game. There is a secret integer between 0 and ',
  '. Output ONLY the integer, on the first line, with NO extra text.\nWhat is the secret number?\n\nAssistant: ',
  'System: You are playing a bit-by-bit memorization game. The secret number is between 0 and ',
  ' and uses ',
  ' bits. Output exactly one bit (0 or 1) per response with no punctuation.\n\n',
  'User: Provide bit #',
  '. Remaining bits after this: ',
  '.\n\nAssistant: ',
];

export const memoryTokenizer: Tokenizer = createTokenizer({ tokens: memoryTokens, beginning, ending });
export const endingId = memoryTokenizer.id(ending);
