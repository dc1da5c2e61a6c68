/**
 * Rewrites `tokenizer.json` so that the JavaScript library computes the same ids as the one in Rust and Python.
 *
 * `@huggingface/tokenizers` 0.2 reads some parts differently: `Whitespace` knows only ASCII words, `Punctuation` does
 * not isolate, digits are ASCII, a final Σ is lowered by its place in the word, `$` in a replacement is special. These
 * are expressed here by parts that both read alike. A tokenizer that cannot be expressed so is refused: wrong ids are
 * worse than none.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';

/** A stage of any kind: `type` names the kind, and the other keys belong to it. */
const Part = z.looseObject({ type: z.string() });
type Part = z.infer<typeof Part>;

const TokenizerFile = z.looseObject({
  added_tokens: z
    .array(
      z.looseObject({ id: z.int().nonnegative(), content: z.string().min(1), single_word: z.boolean().optional() }),
    )
    .default([]),
  normalizer: Part.nullable().default(null),
  pre_tokenizer: Part.nullable().default(null),
  model: Part,
  post_processor: Part.nullable().default(null),
  decoder: Part.nullable().default(null),
});
export type TokenizerFile = z.infer<typeof TokenizerFile>;

/**
 * @param json The parsed file.
 * @param path Path of the file, for errors.
 * @throws UserError when the file is invalid, or has a part that would give other ids than in Python.
 */
export function adaptTokenizer(json: unknown, path: string): TokenizerFile {
  const file = TokenizerFile.safeParse(json);
  if (!file.success) {
    const { path: at, message } = file.error.issues[0]!;
    throw unsupported(path, `it is not a fast tokenizer (\`${at.join('.')}\`: ${message})`);
  }
  try {
    const single = file.data.added_tokens.find((token) => token.single_word === true);
    if (single !== undefined) throw new Unlike(`the added token ${JSON.stringify(single.content)} with single_word`);
    return {
      ...file.data,
      normalizer: mapPart(file.data.normalizer, normalizer),
      pre_tokenizer: mapPart(file.data.pre_tokenizer, preTokenizer),
      model: model(file.data.model),
      post_processor: mapPart(file.data.post_processor, postProcessor),
      decoder: mapPart(file.data.decoder, decoder),
    };
  } catch (error) {
    if (error instanceof Unlike) throw unsupported(path, `${error.message} would not give the ids that Python gives`);
    // Nested too deeply for the stack.
    if (error instanceof RangeError) throw unsupported(path, 'its parts are nested too deeply', error);
    throw error;
  }
}

export function unsupported(path: string, why: string, cause?: unknown): UserError {
  return new UserError(
    `${path} cannot be used: ${why}.`,
    'Use a tokenizer of one of the usual kinds: byte-level BPE, BPE of sentencepiece, WordPiece, WordLevel or Unigram.',
    { cause },
  );
}

/** A part without an equivalent in JavaScript; the message names it. */
class Unlike extends Error {}

function mapPart(part: Part | null, map: Adapt): Part | null {
  return part === null ? null : map(part);
}

/** The parts of a sequence, each adapted. */
function sequence(part: Part, key: string, map: Adapt): Part {
  const parts = z.array(Part).safeParse(part[key]);
  if (!parts.success) throw new Unlike(`a ${part.type} without \`${key}\``);
  return { ...part, [key]: parts.data.map(map) };
}

const of = (key: string, ...parts: Part[]): Part => ({ type: 'Sequence', [key]: parts });

/** Characters are lowered one by one in Rust: Σ is σ wherever it stands. */
const sigma: Part = { type: 'Replace', pattern: { String: 'Σ' }, content: 'σ' };

type Adapt = (part: Part) => Part;

const asItIs: Adapt = (part) => part;

/** Adapts a part by the table of its kinds. */
function byType(kind: string, table: Readonly<Record<string, Adapt>>): Adapt {
  return (part) => {
    const adapt = Object.hasOwn(table, part.type) ? table[part.type]! : null;
    if (adapt === null) throw new Unlike(`the ${kind} ${part.type}`);
    return adapt(part);
  };
}

const normalizer: Adapt = byType('normalizer', {
  Sequence: (part) => sequence(part, 'normalizers', normalizer),
  Lowercase: (part) => of('normalizers', sigma, part),
  BertNormalizer: (part) => bert(part),
  Replace: (part) => literal(part),
  NFC: asItIs,
  NFD: asItIs,
  NFKC: asItIs,
  NFKD: asItIs,
  Strip: (part) => strip(part),
  StripAccents: asItIs,
  Prepend: asItIs,
});

/** The library looks for Chinese characters among those of 16 bits only. */
const rareChinese: Part = {
  type: 'Replace',
  pattern: {
    Regex:
      '[\\x{20000}-\\x{2a6df}\\x{2a700}-\\x{2b73f}\\x{2b740}-\\x{2b81f}\\x{2b920}-\\x{2ceaf}\\x{2f800}-\\x{2fa1f}]',
  },
  content: ' $& ',
};

function bert(part: Part): Part {
  const before = [
    ...(part['handle_chinese_chars'] === true ? [rareChinese] : []),
    ...(part['lowercase'] === true ? [sigma] : []),
  ];
  return of('normalizers', ...before, part);
}

/** Strips white space except U+FEFF, which counts as a space in JavaScript alone. */
function strip(part: Part): Part {
  const remove = (pattern: string): Part => ({ type: 'Replace', pattern: { Regex: pattern }, content: '' });
  return of(
    'normalizers',
    ...(part['strip_left'] === true ? [remove('\\A\\p{White_Space}+')] : []),
    ...(part['strip_right'] === true ? [remove('\\p{White_Space}+\\z')] : []),
  );
}

/** A replacement that is inserted literally. */
function literal(part: Part): Part {
  return typeof part['content'] === 'string' ? { ...part, content: part['content'].replaceAll('$', '$$$$') } : part;
}

/** Characters of Rust's `\w`, as a class; the last two are joiners. */
const word = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d';
const punctuation = '[\\p{P}\\u0021-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u007e]';
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** Keeps the matches of the pattern, and drops the text between them. */
const only = (pattern: string): Part => split(pattern, 'Removed', true);
/** Each match becomes a piece, and so does the text between two matches. */
const isolate = (pattern: string): Part => split(pattern, 'Isolated', false);

function split(pattern: string, behavior: string, invert: boolean): Part {
  return { type: 'Split', pattern: { Regex: pattern }, behavior, invert };
}

const noSpaces = only('\\P{White_Space}+');

const preTokenizer: Adapt = byType('pre-tokenizer', {
  Sequence: (part) => sequence(part, 'pretokenizers', preTokenizer),
  Whitespace: () => only(`[${word}]+|[^${word}\\p{White_Space}]+`),
  WhitespaceSplit: () => noSpaces,
  BertPreTokenizer: () => of('pretokenizers', noSpaces, isolate(punctuation)),
  Punctuation: (part) => bySeparator(part, punctuation),
  Digits: (part) => isolate(part['individual_digits'] === true ? '\\p{N}' : '\\p{N}+'),
  CharDelimiterSplit: (part) => split(patternOf({ String: part['delimiter'] }), 'Removed', false),
  ByteLevel: (part) => byteLevel(part),
  Metaspace: (part) => metaspace(part),
  Split: (part) => anySplit(part),
});

/** Splits at one character, in each of the modes of Rust's library that patterns can express. */
function bySeparator(part: Part, pattern: string): Part {
  if (part['behavior'] === 'Isolated') return isolate(pattern);
  if (part['behavior'] === 'Contiguous') return isolate(`${pattern}+`);
  if (part['behavior'] === 'Removed') return split(pattern, 'Removed', false);
  throw new Unlike(`the pre-tokenizer ${part.type} with \`behavior\` ${String(part['behavior'])}`);
}

/** The prefix space must be added before the text is split. */
function byteLevel(part: Part): Part {
  if (part['use_regex'] === false) return part;
  const before: Part[] =
    part['add_prefix_space'] === true ? [{ type: 'Metaspace', replacement: ' ', prepend_scheme: 'always' }] : [];
  return of('pretokenizers', ...before, isolate(gpt2), { ...part, use_regex: false, add_prefix_space: false });
}

/** Spaces become ▁, and each ▁ begins a piece unless `split` is false. */
function metaspace(part: Part): Part {
  const mark = typeof part['replacement'] === 'string' ? part['replacement'] : '▁';
  const marked = { ...part, prepend_scheme: prependScheme(part) };
  const sign = exactly(mark);
  return part['split'] === false ? marked : of('pretokenizers', marked, only(`${sign}[^${sign}]*|[^${sign}]+`));
}

/** Files of older versions have `add_prefix_space` instead. */
export function prependScheme(part: Readonly<Record<string, unknown>>): unknown {
  return part['prepend_scheme'] ?? (part['add_prefix_space'] === false ? 'never' : 'always');
}

function anySplit(part: Part): Part {
  const pattern = patternOf(part['pattern']);
  const behavior = part['behavior'];
  const isInverse = part['invert'] === true;
  if (behavior === 'Isolated') return isolate(pattern);
  // The library puts capturing groups of dropped matches back into the text.
  const captures = /(?<!\\)(\\\\)*\((?!\?)/.test(pattern);
  if (behavior === 'Removed' && (isInverse || !captures)) return split(pattern, 'Removed', isInverse);
  throw new Unlike(`the pre-tokenizer Split with \`behavior\` ${String(behavior)}`);
}

/**
 * A pattern as a regular expression; the library puts a plain text into a capturing group, and so would keep it when
 * it is to be dropped.
 */
function patternOf(pattern: unknown): string {
  const known = z.union([z.object({ Regex: z.string() }), z.object({ String: z.string() })]).safeParse(pattern);
  if (!known.success) throw new Unlike('a pattern that is neither `Regex` nor `String`');
  return 'Regex' in known.data ? known.data.Regex : exactly(known.data.String);
}

/** A pattern that matches this text literally. */
function exactly(text: string): string {
  return Array.from(text, (character) => `\\x{${character.codePointAt(0)!.toString(16)}}`).join('');
}

/** The model. Keys that the library ignores must have values without effect. */
const model: Adapt = byType('model', {
  BPE: (part) => unset(part, ['dropout', 'continuing_subword_prefix']),
  Unigram: (part) => unset(part, ['byte_fallback']),
  WordPiece: asItIs,
  WordLevel: asItIs,
});

function unset(part: Part, keys: readonly string[]): Part {
  const set = keys.find((key) => ![undefined, null, false, 0, ''].includes(part[key] as never));
  if (set !== undefined) throw new Unlike(`the model ${part.type} with \`${set}\``);
  return part;
}

const Template = z.looseObject({
  special_tokens: z.record(z.string(), z.looseObject({ tokens: z.array(z.string()) })),
});

const postProcessor: Adapt = byType('post-processor', {
  Sequence: (part) => sequence(part, 'processors', postProcessor),
  ByteLevel: asItIs,
  BertProcessing: asItIs,
  RobertaProcessing: asItIs,
  TemplateProcessing: (part) => template(part),
});

function template(part: Part): Part {
  const tokens = Template.safeParse(part).data?.special_tokens ?? {};
  // A name in a template may stand for several tokens, or for one of another name.
  const other = Object.entries(tokens).find(([name, { tokens: stands }]) => stands.length !== 1 || stands[0] !== name);
  if (other !== undefined) throw new Unlike(`the template with ${JSON.stringify(other[0])} for other tokens`);
  return part;
}

const decoder: Adapt = byType('decoder', {
  Sequence: (part) => sequence(part, 'decoders', decoder),
  Replace: (part) => literal(part),
  Metaspace: asItIs,
  ByteLevel: asItIs,
  WordPiece: asItIs,
  BPEDecoder: asItIs,
  ByteFallback: asItIs,
  Fuse: asItIs,
  Strip: asItIs,
});
