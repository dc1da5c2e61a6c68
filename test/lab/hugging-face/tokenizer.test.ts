import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import { UserError } from '../../../src/base/user-error.js';
import { loadTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import type { Tokenizer } from '../../../src/lab/text/tokenizer.js';
import { tempDirectory } from '../temp-directory.js';
import { fixtures } from './fixtures.js';

type Expected = {
  readonly size: number;
  readonly whole: number[];
  /** Text, ids, the text they give, and that with special tokens if it is another. */
  readonly cases: [text: string, ids: number[], plain: string, all?: string][];
  readonly loose: [ids: number[], plain: string][];
};

const kinds = [
  { name: 'byte-level', what: 'BPE of GPT-2', kind: 'BPE' },
  { name: 'llama-3', what: 'BPE of Llama 3', kind: 'BPE' },
  { name: 'llama-2', what: 'BPE of sentencepiece with bytes for what is unknown', kind: 'BPE' },
  { name: 'word-piece', what: 'WordPiece with the stages of SimpleStories', kind: 'WordPiece' },
  { name: 'word-level', what: 'whole words without accents', kind: 'WordLevel' },
  { name: 'unigram', what: 'Unigram with added tokens', kind: 'Unigram' },
  { name: 'bert', what: 'WordPiece of BERT', kind: 'WordPiece' },
];
const folder = (name: string): string => join(fixtures, 'tokenizers', name);
const expectedOf = (name: string): Expected =>
  JSON.parse(readFileSync(join(folder(name), 'expected.json'), 'utf8')) as Expected;

describe.each(kinds)('the $what', ({ name, kind }) => {
  const expected = expectedOf(name);
  const tokenizer = loadTokenizer(folder(name))!;

  it('has the right kind and size', () => {
    expect(tokenizer.kind).toBe(kind);
    expect(tokenizer.size).toBe(expected.size);
  });

  it.each(expected.cases.map(([text, ids, plain, all = plain]) => ({ text, ids, plain, all })))(
    'gives the ids and the text of Python’s library for $text',
    ({ text, ids, plain, all }) => {
      expect(tokenizer.encode(text)).toEqual(ids);
      expect(tokenizer.decodePlain(ids)).toBe(plain);
      expect(tokenizer.decode(ids)).toBe(all);
    },
  );

  it('adds special tokens only on request', () => {
    const [before, after] = [expected.whole.indexOf(tokenizer.encode('a')[0]!), tokenizer.encode('a').length];
    expect(tokenizer.encodeWhole('a')).toEqual(expected.whole);
    expect(tokenizer.encodeWhole('')).toEqual(expected.whole.toSpliced(before, after));
  });

  it('decodes any sequence of tokens as Python’s library does', () => {
    expect(expected.loose.map(([ids]) => tokenizer.decodePlain(ids))).toEqual(expected.loose.map(([, text]) => text));
  });

  it('skips invalid ids, and decodes an empty list as an empty text', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decodePlain([expected.size + 5])).toBe('');
    const [, ids, plain] = expected.cases.find(([text]) => text.startsWith('Once'))!;
    expect(tokenizer.decodePlain([...ids, expected.size])).toBe(plain);
  });

  property('gives ids below its size for any text', 50, (examples) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const ids = tokenizer.encode(text);
        expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.size)).toBe(true);
      }),
      examples,
    );
  });
});

it.each(['byte-level', 'llama-3'])('%s decodes exactly the text that it encoded', (name) => {
  const tokenizer = loadTokenizer(folder(name))!;
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }),
  );
});

/** A tokenizer with this file, after a change, and this `tokenizer_config.json`. */
function changed(name: string, change: (file: Record<string, unknown>) => void, config?: unknown): Tokenizer | null {
  const directory = join(tempDirectory(), 'model');
  mkdirSync(directory);
  const file = JSON.parse(readFileSync(join(folder(name), 'tokenizer.json'), 'utf8')) as Record<string, unknown>;
  change(file);
  writeFileSync(join(directory, 'tokenizer.json'), JSON.stringify(file));
  if (config !== undefined) writeFileSync(join(directory, 'tokenizer_config.json'), JSON.stringify(config));
  return loadTokenizer(directory);
}

describe('the tokenizer of a directory', () => {
  it('is null when there is no file', () => expect(loadTokenizer(tempDirectory())).toBeNull());

  it.each([
    { config: undefined, end: null },
    { config: {}, end: null },
    { config: { eos_token: '[EOS]', chat_template: 'x' }, end: 1 },
    { config: { eos_token: { content: '[EOS]', __type: 'AddedToken', lstrip: false } }, end: 1 },
    { config: { eos_token: null }, end: null },
  ])('reads the end token from its config: $config', ({ config, end }) => {
    expect(changed('word-piece', () => {}, config)!.end).toBe(end);
  });

  it('names its tokens', () => {
    const tokenizer = loadTokenizer(folder('word-piece'))!;
    expect(tokenizer.id('[EOS]')).toBe(1);
    expect(() => tokenizer.id('no such')).toThrow(/no token "no such"/);
  });

  it.each<{ what: string; change: (file: Record<string, unknown>) => void; says: RegExp }>([
    {
      what: 'a normalizer nobody knows',
      change: (f) => (f['normalizer'] = { type: 'Nmt' }),
      says: /the normalizer Nmt/,
    },
    {
      what: 'a table of sentencepiece, which JavaScript only guesses',
      change: (f) =>
        (f['normalizer'] = { type: 'Sequence', normalizers: [{ type: 'Precompiled', precompiled_charsmap: '' }] }),
      says: /the normalizer Precompiled/,
    },
    {
      what: 'a split that keeps its separators with what is before them',
      change: (f) =>
        (f['pre_tokenizer'] = {
          type: 'Split',
          pattern: { String: ' ' },
          behavior: 'MergedWithPrevious',
          invert: false,
        }),
      says: /Split with `behavior` MergedWithPrevious/,
    },
    {
      what: 'a split by groups that capture',
      change: (f) =>
        (f['pre_tokenizer'] = { type: 'Split', pattern: { Regex: 'a(b)' }, behavior: 'Removed', invert: false }),
      says: /Split with `behavior` Removed/,
    },
    {
      what: 'a split by nothing',
      change: (f) => (f['pre_tokenizer'] = { type: 'Split', pattern: {}, behavior: 'Removed', invert: false }),
      says: /neither `Regex` nor `String`/,
    },
    {
      what: 'a pattern that is none',
      change: (f) =>
        (f['pre_tokenizer'] = { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated', invert: false }),
      says: /cannot be used: /,
    },
    {
      what: 'scripts as separators',
      change: (f) => (f['pre_tokenizer'] = { type: 'UnicodeScripts' }),
      says: /UnicodeScripts/,
    },
    { what: 'a model of another kind', change: (f) => (f['model'] = { type: 'Mystery' }), says: /the model Mystery/ },
    {
      what: 'dropout',
      change: (f) => Object.assign(f['model'] as object, { type: 'BPE', dropout: 0.1 }),
      says: /BPE with `dropout`/,
    },
    { what: 'no model', change: (f) => delete f['model'], says: /not a fast tokenizer/ },
    {
      what: 'a special token that stands for others',
      change: (f) =>
        (f['post_processor'] = {
          type: 'TemplateProcessing',
          single: [],
          pair: [],
          special_tokens: { x: { id: 'x', ids: [1, 2], tokens: ['a', 'b'] } },
        }),
      says: /the template with "x"/,
    },
    { what: 'a decoder of speech', change: (f) => (f['decoder'] = { type: 'CTC' }), says: /the decoder CTC/ },
    {
      what: 'added tokens that must be whole words',
      change: (f) => (f['added_tokens'] = [{ id: 0, content: 'cat', single_word: true }]),
      says: /"cat" with single_word/,
    },
  ])('is refused with $what', ({ change, says }) => {
    expect(() => changed('word-piece', change)).toThrow(UserError);
    expect(() => changed('word-piece', change)).toThrow(says);
  });

  it('is refused when its parts are nested too deeply', () => {
    const [open, close] = ['{"type":"Sequence","normalizers":[', ']}'].map((text) => text.repeat(50_000));
    const directory = tempDirectory();
    const file = readFileSync(join(folder('bert'), 'tokenizer.json'), 'utf8');
    const nested = file.replace(/"normalizer":\{[^}]*\}/, () => `"normalizer":${open}{"type":"NFC"}${close}`);
    expect(nested.length).toBeGreaterThan(1_000_000);
    writeFileSync(join(directory, 'tokenizer.json'), nested);
    expect(() => loadTokenizer(directory)).toThrow(/nested too deeply/);
  });

  it('is refused when its end token is not in the vocabulary', () => {
    expect(() => changed('word-piece', () => {}, { eos_token: '</s>' })).toThrow(/no token "<\/s>"/);
    expect(() => changed('word-piece', () => {}, { eos_token: 3 })).toThrow(UserError);
  });

  it('refuses to encode unknown text, naming it, when it has no unknown token', () => {
    const tokenizer = changed('word-level', (file) => {
      const model = file['model'] as { vocab: Record<string, number>; unk_token: string };
      delete model.vocab['[UNK]'];
      file['added_tokens'] = [];
      file['post_processor'] = null;
    })!;
    expect(tokenizer.encode('the girl')).toHaveLength(2);
    expect(() => tokenizer.encode('the zebra')).toThrow(/no token for a part of "the zebra"/);
  });
});
