/**
 * Trains a tokenizer on texts, in the layout of the one of SimpleStories: `tokenizer.json` with WordPiece, and the
 * files beside it.
 *
 * Pieces are found as the trainer of Hugging Face's library finds them (Sennrich et al. 2016, with ## before a piece
 * inside a word): the most frequent pair of neighbouring pieces is merged, until there are enough.
 */
import { UserError } from '../../../base/user-error.js';
import { tokenizerFiles } from '../../hugging-face/tokenizer.js';

const unknown = '[UNK]';
const end = '[EOS]';
const inside = '##';
const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** All characters of lower-case text in ASCII. */
const characters = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).filter((c) => !/[A-Z]/.test(c));
/** Prefixes and suffixes that the tokenizer of SimpleStories starts with. */
const affixes = ['un', 're', ...['ed', 'ing', 'ly', 'er', 'ness'].map((ending) => inside + ending)];
const base = [unknown, end, ...characters, ...letters.map((letter) => inside + letter), ...affixes];
/** Longer words are unknown to the model. */
const longestWord = 100;

/**
 * @param size Maximum number of tokens: texts of few words need fewer.
 * @returns The texts of `tokenizer.json` and `tokenizer_config.json`, by name; equal texts give equal files.
 * @throws UserError when not even the single characters have room.
 */
export function trainWordPiece(texts: Iterable<string>, size: number): ReadonlyMap<string, string> {
  if (size < base.length) {
    throw new UserError(
      `A vocabulary of ${size} tokens has no room for the letters and signs.`,
      `Set vocabulary_size to at least ${base.length}.`,
    );
  }
  const vocabulary = new Set(base);
  const merging = new Merging(wordsOf(texts), inside);
  while (vocabulary.size < size) {
    const merge = merging.next();
    if (merge === null) break;
    vocabulary.add(merge.joined);
  }
  return filesOf([...vocabulary]);
}

/** The words of the texts as letters. */
function wordsOf(texts: Iterable<string>): Word[] {
  return [...countWords(texts)].flatMap(([text, count]) => {
    const pieces = Array.from(text, (letter, at) => (at === 0 ? letter : inside + letter));
    return text.length > longestWord ? [] : [{ count, pieces }];
  });
}

/** Counts each word, digit and sign, split as the tokenizer does; characters outside ASCII are unknown to it. */
function countWords(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** A word as pieces, and how often it occurs. */
type Word = { readonly count: number; pieces: readonly string[] };

/** Two pieces that follow each other, and the piece that they become. */
export type Merge = { readonly left: string; readonly right: string; readonly joined: string };

/** Merges the most frequent pair of neighbouring pieces, again and again (byte pair encoding, Sennrich et al. 2016). */
export class Merging {
  readonly #inside: string;
  readonly #counts = new Map<string, number>();
  /** Words in which a pair occurs, or has occurred. */
  readonly #words = new Map<string, Set<Word>>();

  /** @param inside Stands before every piece but the first of a word. */
  constructor(words: Iterable<Word>, inside: string) {
    this.#inside = inside;
    for (const word of words) this.#add(word, 1);
  }

  /** Joins the most frequent pair, the first by its letters among equals; null when every word is one piece. */
  next(): Merge | null {
    let [best, most] = [null as string | null, 0];
    for (const [pair, count] of this.#counts) {
      if (count > most || (count === most && best !== null && pair < best)) [best, most] = [pair, count];
    }
    if (best === null) return null;
    const [left, right] = best.split(' ') as [string, string];
    const joined = left + right.slice(this.#inside.length);
    for (const word of this.#words.get(best)!) {
      this.#add(word, -1);
      word.pieces = join(word.pieces, { left, right, joined });
      this.#add(word, 1);
    }
    this.#words.delete(best);
    return { left, right, joined };
  }

  #add(word: Word, sign: 1 | -1): void {
    for (let at = 1; at < word.pieces.length; at++) {
      const pair = `${word.pieces[at - 1]} ${word.pieces[at]}`;
      const count = (this.#counts.get(pair) ?? 0) + sign * word.count;
      if (count === 0) this.#counts.delete(pair);
      else this.#counts.set(pair, count);
      if (sign < 0) continue;
      const words = this.#words.get(pair) ?? new Set();
      this.#words.set(pair, words.add(word));
    }
  }
}

function join(pieces: readonly string[], pair: Merge): string[] {
  const after: string[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const isPair = pieces[at] === pair.left && pieces[at + 1] === pair.right;
    after.push(isPair ? pair.joined : pieces[at]!);
    if (isPair) at++;
  }
  return after;
}

function filesOf(tokens: readonly string[]): ReadonlyMap<string, string> {
  const config = {
    ...{ clean_up_tokenization_spaces: false, eos_token: end, pad_token: end, padding_side: 'left' },
    ...{ tokenizer_class: 'PreTrainedTokenizerFast', unk_token: unknown },
  };
  return new Map([
    [tokenizerFiles.tokenizer, `${JSON.stringify(tokenizerOf(tokens), null, 2)}\n`],
    [tokenizerFiles.config, `${JSON.stringify(config, null, 2)}\n`],
  ]);
}

function tokenizerOf(tokens: readonly string[]): object {
  const sequence = (id: 'A' | 'B', type: number) => ({ Sequence: { id, type_id: type } });
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: [special(unknown, 0), special(end, 1)],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, quotes('``'), quotes("''")] },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Whitespace' },
        { type: 'Punctuation', behavior: 'Isolated' },
        { type: 'Digits', individual_digits: true },
      ],
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [sequence('A', 0), { SpecialToken: { id: end, type_id: 0 } }],
      pair: [sequence('A', 0), sequence('B', 1)],
      special_tokens: { [end]: { id: end, ids: [1], tokens: [end] } },
    },
    decoder: { type: 'WordPiece', prefix: inside, cleanup: true },
    model: {
      ...{ type: 'WordPiece', unk_token: unknown, continuing_subword_prefix: inside },
      max_input_chars_per_word: longestWord,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}

function special(content: string, id: number): object {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
}

/** Two small marks are a quotation mark. */
function quotes(pair: string): object {
  return { type: 'Replace', pattern: { String: pair }, content: '"' };
}
