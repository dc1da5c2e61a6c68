import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openTokenizer } from '../../../../src/lab/hugging-face/tokenizer.js';
import { fixtures } from '../../hugging-face/fixtures.js';

const folder = join(fixtures, 'tokenizers/simplestories-4096');
const tokenizer = openTokenizer(
  new Map([
    ['tokenizer.json', gunzipSync(readFileSync(join(folder, 'tokenizer.json.gz'))).toString()],
    ['tokenizer_config.json', '{"eos_token":"[EOS]"}'],
  ]),
  folder,
);

it.each([
  {
    text: 'Once upon a time, there was a happy girl.',
    ids: [770, 1330, 32, 399, 13, 520, 127, 32, 605, 276, 15],
    back: 'once upon a time, there was a happy girl.',
  },
  { text: "It's 42 o'clock!", ids: [120, 8, 50, 21, 19, 46, 8, 1620, 2], back: "it ' s 4 2 o ' clock!" },
  { text: "``quoted'' text", ids: [3, 501, 3887, 3, 51, 2116, 66], back: '" quoted " text' },
  { text: 'unhappiness', ids: [483, 72, 1852, 840], back: 'unhappiness' },
  {
    text: "don't do not they've",
    ids: [1490, 8, 51, 282, 191, 111, 8, 2453],
    back: "don ' t do not they ' ve",
  },
  { text: '3.14 and a_b', ids: [20, 15, 18, 21, 94, 32, 0, 33], back: '3. 1 4 and a b' },
  { text: 'Zürich is naïve', ids: [0, 243, 0], back: 'is' },
  { text: '', ids: [], back: '' },
])('the tokenizer of SimpleStories gives its ids and its text for $text', ({ text, ids, back }) => {
  expect(tokenizer.encode(text)).toEqual(ids);
  expect(tokenizer.decodePlain(ids)).toBe(back);
  // The end only when it is asked for, and it is no part of the text.
  expect(tokenizer.encodeWhole(text)).toEqual([...ids, 1]);
  expect(tokenizer.decodePlain([...ids, 1])).toBe(back);
});

it('the tokenizer of SimpleStories decodes the ## of a first piece', () => {
  expect(tokenizer.decodePlain([59, 60, 15, 85])).toBe('##in. the');
});

it.each([
  ...['!2', '"3', "'8", ',13', '-14', '.15', '017', '926', ':27', ';28', '?30', 'a32', 'z57'],
  ...['the85', 'to93', 'and94', 'wa96', 'he103', 'she106', 'in108', 'they111', 'was127', 'friend200', 'friends268'],
  ...['girl276', 'joy298', 'fear555', 'happy605', 'brave621', 'friendship712', 'courage931', 'happiness966'],
  ...['scared1013', 'afraid1686', 'bravery1847'],
])('the tokenizer of SimpleStories has %s', (named) => {
  const [, token, id] = /^(\D|[a-z]+|\d)(\d+)$/.exec(named)!;
  expect(tokenizer.id(token!)).toBe(Number(id));
  expect(tokenizer.encode(token!)).toEqual([Number(id)]);
});

it('the tokenizer of SimpleStories has 4096 tokens, 823 of which continue a word', () => {
  expect(tokenizer).toMatchObject({ kind: 'WordPiece', size: 4096, end: 1 });
  const all = Array.from({ length: 4096 }, (_, id) => tokenizer.token(id)!);
  expect(all.filter((token) => token.startsWith('##'))).toHaveLength(823);
  expect(all.slice(0, 2)).toEqual(['[UNK]', '[EOS]']);
});

it('the tokenizer of SimpleStories encodes words of up to 100 characters, and longer ones as unknown', () => {
  expect(tokenizer.encode('a'.repeat(100))).not.toContain(0);
  expect(tokenizer.encode('a'.repeat(101))).toEqual([0]);
});
