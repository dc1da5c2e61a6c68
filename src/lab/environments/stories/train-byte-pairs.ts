/**
 * Trains a tokenizer of bytes and word pieces on texts, in the layout of GPT-2's: any text can be written, upper and lower case are kept, and
 * each digit is a token.
 */
import { tokenizerFiles } from '../../hugging-face/tokenizer.js';
import { Merging, type Merge } from './train-word-piece.js';

const end = '<|end|>';
/** The end of a text, and the beginning and the end of a message, with which renderers of conversations (ChatML) frame what is said. */
const specials = [end, '<|im_start|>', '<|im_end|>'];
/** Texts that are one token each, but part of what is said: renderers of Qwen look for them. */
const marks = ['<think>', '</think>'];
/** How GPT-2 splits text; no piece reaches beyond such a part. */
const parts = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/**
 * @param size Number of tokens at most, at least 261: the bytes and the tokens that are added to them.
 * @returns The texts of `tokenizer.json` and `tokenizer_config.json`, by name; equal texts give equal files.
 */
export function trainBytePairs(texts: Iterable<string>, size: number): ReadonlyMap<string, string> {
  const tokens = [...specials, ...marks, ...letters];
  const merging = new Merging(wordsOf(texts), '');
  const merges: Merge[] = [];
  while (tokens.length < size) {
    const merge = merging.next();
    if (merge === null) break;
    merges.push(merge);
    tokens.push(merge.joined);
  }
  const config = { tokenizer_class: 'PreTrainedTokenizerFast', eos_token: end, clean_up_tokenization_spaces: false };
  return new Map([
    [tokenizerFiles.tokenizer, `${JSON.stringify(tokenizerOf(tokens, merges), null, 2)}\n`],
    [tokenizerFiles.config, `${JSON.stringify(config, null, 2)}\n`],
  ]);
}

/** The letter that stands for each byte: the byte's own where it can be seen, else one of the letters after them. */
const letters = lettersOfBytes();

function lettersOfBytes(): string[] {
  const isSeen = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let hidden = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isSeen(byte) ? byte : hidden++));
}

function* wordsOf(texts: Iterable<string>) {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [part] of text.matchAll(parts)) counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  for (const [part, count] of counts) {
    yield { count, pieces: Array.from(Buffer.from(part), (byte) => letters[byte]!) };
  }
}

function tokenizerOf(tokens: readonly string[], merges: readonly Merge[]): object {
  const whole = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const unset = { dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null };
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: [...specials, ...marks].map((content, id) => ({
      id,
      content,
      ...whole,
      special: id < specials.length,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, bytes] },
    post_processor: null,
    decoder: bytes,
    model: {
      type: 'BPE',
      ...unset,
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map(({ left, right }) => `${left} ${right}`),
    },
  };
}
