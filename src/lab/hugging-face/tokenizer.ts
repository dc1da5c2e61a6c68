/**
 * The tokenizer of a model's directory: `tokenizer.json`, and in `tokenizer_config.json` the token that ends a text.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { errorText, UserError } from '../../base/user-error.js';
import { type ChatTemplate, endingsOf, type Tokenizer } from '../text/tokenizer.js';
import { readText } from './regular-file.js';
import { adaptTokenizer, prependScheme, unsupported, type TokenizerFile } from './tokenizer-json.js';
import {
  ByteFallbackDecoder,
  MetaspaceDecoder,
  SequenceDecoder,
  Tokenizer as Library,
  type Decoder,
  type LibraryTokenizer,
} from './tokenizers-library.js';

/** `tokenizer`: the vocabulary and its rules. `config`: the token that ends a text, and other settings. */
export const tokenizerFiles = {
  tokenizer: 'tokenizer.json',
  config: 'tokenizer_config.json',
  /** File of the chat template in newer versions of transformers; older ones have it in the config. */
  template: 'chat_template.jinja',
} as const;

/** Limit in bytes of a file; the tokenizer of Llama 3 has 17 MB. */
const longestFile = 256 * 2 ** 20;

/** An added token: its text, or an object with its settings. */
const Name = z.union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)]);
/** A template, or several by name. */
const Template = z
  .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() })).transform(usual)])
  .optional()
  .catch(undefined);
const Config = z.looseObject({ eos_token: Name.nullish(), bos_token: Name.nullish(), chat_template: Template });

function usual(templates: readonly { readonly name: string; readonly template: string }[]): string | undefined {
  return (templates.find(({ name }) => name === 'default') ?? templates[0])?.template;
}

/** The tokenizer of a directory, or null when it has none. @throws UserError when the tokenizer cannot be used. */
export function loadTokenizer(directory: string): Tokenizer | null {
  const files = readTokenizerFiles(directory);
  return files === null ? null : openTokenizer(files, directory);
}

/** The texts of a directory's tokenizer, by name; null when it has none. @throws UserError when they cannot be read. */
export function readTokenizerFiles(directory: string): ReadonlyMap<string, string> | null {
  const names = Object.values(tokenizerFiles).filter((name) => existsSync(join(directory, name)));
  if (!names.includes(tokenizerFiles.tokenizer)) return null;
  return new Map(names.map((name) => [name, readText(join(directory, name), longestFile)]));
}

/**
 * The tokenizer of these texts, `tokenizer.json` among them.
 *
 * @param directory Directory of the files, for errors.
 * @throws UserError when the tokenizer cannot be used.
 */
export function openTokenizer(files: ReadonlyMap<string, string>, directory: string): Tokenizer {
  const [path, configPath] = [join(directory, tokenizerFiles.tokenizer), join(directory, tokenizerFiles.config)];
  const file = adaptTokenizer(parse(files.get(tokenizerFiles.tokenizer) ?? '', path), path);
  const configText = files.get(tokenizerFiles.config);
  const config = configText === undefined ? null : Config.safeParse(parse(configText, configPath));
  if (config?.success === false) throw unsupported(configPath, 'its `eos_token` or `bos_token` is no token');
  const known = config?.data ?? {};
  const chatTemplate = chatTemplateOf(files, known);
  return { ...wrapTokenizer(file, path, known.eos_token ?? null), ...(chatTemplate !== null && { chatTemplate }) };
}

function chatTemplateOf(files: ReadonlyMap<string, string>, config: z.infer<typeof Config>): ChatTemplate | null {
  const { eos_token: ending, bos_token: beginning, chat_template: template } = config;
  const text = files.get(tokenizerFiles.template) ?? template;
  return text === undefined ? null : { text, beginning: beginning ?? null, ending: ending ?? null };
}

/** The tokens with which texts of this tokenizer begin and end, for a model's config. An answer in ChatML ends where its turn does. */
export function specialsOf(tokenizer: Tokenizer): { readonly beginning: number | null; readonly endings: number[] } {
  const first = tokenizer.encodeWhole('')[0] ?? null;
  // Some tokenizers add only an end token, no beginning.
  return {
    beginning: first === tokenizer.end ? null : first,
    endings: [...endingsOf(['<|im_end|>'], tokenizer)],
  };
}

function wrapTokenizer(file: TokenizerFile, path: string, ending: string | null): Tokenizer {
  const library = build(file, path);
  const ids = idsOf(library);
  const special = new Set(file.added_tokens.filter((token) => token['special'] === true).map(({ id }) => id));
  const id = (token: string): number => {
    const found = ids.get(token);
    if (found !== undefined) return found;
    throw new UserError(`The tokenizer ${path} has no token ${JSON.stringify(token)}.`, 'Give one of its tokens.');
  };
  const encode = (text: string, withSpecials: boolean): number[] => {
    const found = library.encode(text, { add_special_tokens: withSpecials }).ids;
    return found.map((each) => each ?? cannotWrite(text, path));
  };
  const decode = (sequence: Iterable<number>, isShown: (id: number) => boolean): string => {
    // The library fails on an empty list, and takes an unknown id for an unknown word.
    const known = [...sequence].filter((each) => library.id_to_token(each) !== undefined && isShown(each));
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    return known.length === 0 ? '' : library.decode(known, options);
  };
  return {
    kind: file.model.type,
    size: [...ids.values()].reduce((most, each) => Math.max(most, each), -1) + 1,
    end: ending === null ? null : id(ending),
    encode: (text) => encode(text, false),
    encodeWhole: (text) => encode(text, true),
    decode: (sequence) => decode(sequence, () => true),
    decodePlain: (sequence) => decode(sequence, (each) => !special.has(each)),
    id,
    token: (each) => library.id_to_token(each),
  };
}

function idsOf(library: LibraryTokenizer): Map<string, number> {
  return new Map([...library.get_vocab()].flatMap(([token, id]) => (token === undefined ? [] : [[token, id]])));
}

function cannotWrite(text: string, path: string): never {
  const start = JSON.stringify(text.slice(0, 60));
  throw new UserError(`The tokenizer ${path} has no token for a part of ${start}.`, 'Use a text that it can write.');
}

function build(file: TokenizerFile, path: string): LibraryTokenizer {
  const library = constructed(file, path);
  // Consecutive unknown words are fused only within a piece of the text.
  const { model } = library;
  const whole = model._call.bind(model);
  model._call = (pieces) => pieces.flatMap((piece) => whole([piece]));
  library.decoder = exact(library.decoder);
  return library;
}

/** Replaces a decoder, or its parts, by those that follow Rust. */
function exact<D extends Decoder | null>(decoder: D): D | Decoder {
  if (decoder instanceof SequenceDecoder) decoder.decoders = decoder.decoders.map(exact);
  if (decoder instanceof ByteFallbackDecoder) return new StrictBytes(decoder.config);
  return decoder instanceof MetaspaceDecoder ? new StrictSpaces(decoder.config) : decoder;
}

function constructed(file: TokenizerFile, path: string): LibraryTokenizer {
  try {
    // The only config key that a whole-word model needs.
    return new Library(file, { unk_token: file.model['unk_token'] });
  } catch (cause) {
    throw unsupported(path, errorText(cause), cause);
  }
}

/** Decoder of space marks: the first token loses all of its own, if a space was put before the text. */
class StrictSpaces extends MetaspaceDecoder {
  override decode_chain(tokens: string[]): string[] {
    const config = this.config as { readonly replacement?: string; readonly prepend_scheme?: string };
    const mark = config.replacement ?? '▁';
    const first = prependScheme(config) === 'never' ? ' ' : '';
    return tokens.map((token, at) => token.replaceAll(mark, at === 0 ? first : ' '));
  }
}

/** Decodes bytes as Rust does: invalid UTF-8 becomes one � per byte, and U+FEFF at the start is a character. */
class StrictBytes extends ByteFallbackDecoder {
  override decode_chain(tokens: string[]): string[] {
    const texts: string[] = [];
    let bytes: number[] = [];
    const flush = (): void => {
      if (bytes.length > 0) texts.push(utf8(bytes));
      bytes = [];
    };
    for (const token of tokens) {
      const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
      if (byte !== null) {
        bytes.push(parseInt(byte[1]!, 16));
        continue;
      }
      flush();
      texts.push(token);
    }
    flush();
    return texts;
  }
}

function utf8(bytes: readonly number[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return '\uFFFD'.repeat(bytes.length);
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unsupported(path, 'it is not JSON', cause);
  }
}
