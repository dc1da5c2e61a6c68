import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { trainBytePairs } from '../../../src/lab/environments/stories/train-byte-pairs.js';
import { openTokenizer } from '../../../src/lab/hugging-face/tokenizer.js';
import { findModel } from '../../../src/lab/run/model-files.js';
import { ModelCatalogue } from '../../../src/lab/tinker/server/model-catalogue.js';
import { tempDirectory } from '../temp-directory.js';

it('a model is found by its name, by the given path, and by the directory of its tokenizer', async () => {
  const given = findModel('SINGLE_STEP');
  const catalogue = new ModelCatalogue(tempDirectory(), [given]);
  for (const name of ['memrl/tiny', given]) {
    const { directory } = await catalogue.open(name);
    expect([catalogue.nameOf(directory), catalogue.nameOf(`${directory}/`), catalogue.nameOf(resolve(directory))]).toEqual([name, name, name]); // prettier-ignore
    expect((await catalogue.open(directory)).name).toBe(name);
  }
  expect(() => catalogue.nameOf('/nowhere/memrl-tiny')).toThrow('There is no base model');
});

it('the shape of a model is known before its weights are read', async () => {
  const catalogue = new ModelCatalogue(tempDirectory(), [findModel('SINGLE_STEP')]);
  expect(catalogue.names).toHaveLength(4);
  for (const name of catalogue.names) {
    const known = catalogue.shapeOf(name);
    const { shape, tokenizer } = await catalogue.open(name);
    expect(known).toEqual(shape);
    // The sizes of vocabularies stand beside the texts that they come from.
    if (name.startsWith('memrl/')) expect(tokenizer.size).toBe(known.vocabulary);
  }
});

it('memrl/words has room for conversations, and an untied head that begins as the embedding', async () => {
  const catalogue = new ModelCatalogue(tempDirectory(), []);
  const { shape, weights, tokenizer, endings } = await catalogue.open('memrl/words');
  expect([shape.context, shape.tied]).toEqual([4096, false]);
  expect(weights.slice(0, 640)).toEqual(weights.slice(-shape.vocabulary * shape.width).slice(0, 640));
  const text = 'You are playing: guess a number, and say "Guess: 512".\n\nUser: Too high — naïve 日本🙂\n';
  expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  // English costs a token a word or so, and each digit is one.
  expect(tokenizer.encode('The secret word is a single word.').length).toBeLessThan(12);
  expect(tokenizer.encode('512').length).toBe(3);
  // Renderers of ChatML, such as the cookbook's qwen3, want one token for each of these.
  const talk = '<|im_start|>user\nHi<|im_end|><think>No.</think>';
  expect(tokenizer.encode(talk).filter((id) => id < 5)).toEqual([1, 2, 3, 4]);
  expect(tokenizer.decodePlain(tokenizer.encode(talk))).toBe('user\nHi<think>No.</think>');
  // A recipe that gives a stop of its own, such as the "]\n" of a move, still ends where the turn does.
  expect(endings).toEqual([tokenizer.end, tokenizer.id('<|im_end|>')]);
});

it('byte pairs do not depend on the order of the training texts, and encode unseen text', () => {
  const texts = ['the cat and the dog', 'the other cat'];
  const files = trainBytePairs(texts, 284);
  expect(trainBytePairs(texts.toReversed(), 284)).toEqual(files);
  const tokenizer = openTokenizer(files, 'memory');
  expect(tokenizer.encode(' the cat').map((id) => tokenizer.decode([id]))).toEqual([' the', ' cat']);
  for (const text of ['THE \t ÄÖÜ 12 ', '\u0000\u{1F600}x'])
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  expect(tokenizer.end).toBe(0);
});
