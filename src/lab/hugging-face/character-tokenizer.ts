import { openTokenizer, tokenizerFiles } from './tokenizer.js';

const end = '<|end|>';
const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const tokens = [end, '\n', ...printable];

/** A vocabulary of single characters, and one token that ends a text: the default of a new model for any plain text. */
export const characterFiles: ReadonlyMap<string, string> = new Map([
  [tokenizerFiles.tokenizer, JSON.stringify(tokenizerFile(), null, 2)],
  [tokenizerFiles.config, JSON.stringify({ tokenizer_class: 'PreTrainedTokenizerFast', eos_token: end }, null, 2)],
]);

export const characterTokenizer = openTokenizer(characterFiles, 'the vocabulary of characters');

function tokenizerFile(): object {
  const special = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const unset = { dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null };
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: [{ id: 0, content: end, ...special }],
    ...{ normalizer: null, pre_tokenizer: null, post_processor: null, decoder: { type: 'Fuse' } },
    model: {
      type: 'BPE',
      ...unset,
      ...{ fuse_unk: false, byte_fallback: false, merges: [] },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}
