/** The memory vocabulary as Hugging Face's libraries read it. */
import { beginning, ending, memoryTokens, memoryTokenizer } from '../text/memory-vocabulary.js';
import { tokenizerFiles } from './tokenizer.js';

/** Texts of `tokenizer.json` and `tokenizer_config.json`, by name. */
export function memoryVocabularyFiles(): Map<string, string> {
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    // Added tokens are found in the text itself, longest first; so no word need be split off for the model.
    added_tokens: memoryTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: content === beginning,
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: beginning, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
      special_tokens: { [beginning]: { id: beginning, ids: [memoryTokenizer.id(beginning)], tokens: [beginning] } },
    },
    decoder: { type: 'Fuse' },
    // There is no token for unknown text: such a text is an error.
    model: {
      type: 'WordLevel',
      vocab: Object.fromEntries(memoryTokens.map((token, id) => [token, id])),
      unk_token: '<|unknown|>',
    },
  };
  const config = {
    bos_token: beginning,
    clean_up_tokenization_spaces: false,
    eos_token: ending,
    tokenizer_class: 'PreTrainedTokenizerFast',
  };
  return new Map([
    [tokenizerFiles.tokenizer, `${JSON.stringify(tokenizer, null, 2)}\n`],
    [tokenizerFiles.config, `${JSON.stringify(config, null, 2)}\n`],
  ]);
}
