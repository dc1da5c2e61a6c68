/**
 * The part of `@huggingface/tokenizers` that is used, with types.
 *
 * Its own declarations name their files without extensions, which TypeScript does not follow when it resolves modules
 * as Node does. These declare the same for version 0.2.
 */
import * as library from '@huggingface/tokenizers';

/** Objects of the library are functions too. */
export type Decoder = { readonly config: unknown; decode_chain(tokens: string[]): string[] };

type Model = { _call: (pieces: string[]) => string[] };

export type LibraryTokenizer = {
  readonly model: Model;
  decoder: Decoder | null;
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  /** Fails on an empty list. */
  decode(ids: number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  id_to_token(id: number): string | undefined;
  /** Ids that no token has are listed under undefined. */
  get_vocab(): Map<string | undefined, number>;
};

type Exports = {
  readonly Tokenizer: new (file: object, config: object) => LibraryTokenizer;
  readonly ByteFallbackDecoder: new (config: unknown) => Decoder;
  readonly MetaspaceDecoder: new (config: unknown) => Decoder;
  readonly SequenceDecoder: new (config: unknown) => Decoder & { decoders: Decoder[] };
};

export const { Tokenizer, ByteFallbackDecoder, MetaspaceDecoder, SequenceDecoder } = library as unknown as Exports;
