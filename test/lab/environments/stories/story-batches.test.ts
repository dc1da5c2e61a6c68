import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTokenizer } from '../../../../src/lab/hugging-face/tokenizer.js';
import { story } from '../../../../src/lab/environments/stories/corpus.js';
import { firstExamples, storyBatches, storyExample } from '../../../../src/lab/environments/stories/story-batches.js';
import { storiesFrom } from '../../../../src/lab/environments/stories/story-source.js';
import { trainWordPiece } from '../../../../src/lab/environments/stories/train-word-piece.js';
import type { Example } from '../../../../src/lab/text/role-colon.js';
import { tempDirectory } from '../../temp-directory.js';

const texts = Array.from({ length: 300 }, (_, index) => story(0, 'train', index));
const tokenizer = openTokenizer(trainWordPiece(texts, 700), 'memory');
const rows = { tokenizer, end: 1, context: 512 };
const textOf = ({ tokens }: Example) => tokenizer.decodePlain(tokens);
const asWritten = (text: string) => tokenizer.decodePlain(tokenizer.encode(text));

/** A file of nine short stories, and those of them that are for training. */
function file(): { path: string; train: string[] } {
  const path = join(tempDirectory(), 'stories.txt');
  writeFileSync(path, texts.slice(0, 9).join('\n'));
  return { path, train: [...storiesFrom(path, 'train', 0)].map(asWritten) };
}

describe('the sequence of a story', () => {
  it('consists of its tokens and the end token, all trained but the first', () => {
    const { tokens, weights } = storyExample('The end.', rows);
    expect([...tokens]).toEqual([...tokenizer.encode('the end.'), 1]);
    expect([...weights]).toEqual([0, 1, 1, 1]);
  });

  it('is cut to the context, without an end token', () => {
    const { tokens } = storyExample('The end.', { ...rows, context: 3 });
    expect([...tokens]).toEqual(tokenizer.encode('the end.'));
  });
});

describe('the batches of a run', () => {
  it('have new stories at each step with the grammar', () => {
    const batch = storyBatches({ path: null, seed: 5, size: 4, stories: 40 }, rows);
    expect(batch(3).map(textOf)).toEqual([12, 13, 14, 15].map((index) => asWritten(story(5, 'train', index))));
  });

  it('take the stories of a file in order, then shuffled, each once per epoch', () => {
    const { path, train } = file();
    const size = train.length;
    const batch = storyBatches({ path, seed: 5, size, stories: 3 * size }, rows);
    expect(batch(0).map(textOf)).toEqual(train);
    for (const step of [1, 2]) {
      expect(batch(step).map(textOf)).not.toEqual(train);
      expect(batch(step).map(textOf).sort()).toEqual(train.toSorted());
    }
    expect(batch(1)).not.toEqual(batch(2));
    expect(batch(0).map(textOf)).toEqual(train);
  });

  it('do not depend on the number of steps', () => {
    const { path } = file();
    const of = (steps: number) => {
      const batch = storyBatches({ path, seed: 5, size: 2, stories: 2 * steps }, rows);
      return [0, 1, 2].map((step) => batch(step).map(textOf));
    };
    expect(of(20)).toEqual(of(3));
  });

  it('are refused for a file whose stories have nothing to train on', () => {
    const path = join(tempDirectory(), 'a.txt');
    writeFileSync(path, 'One.\n'.repeat(3));
    expect(() => storyBatches({ path, seed: 0, size: 1, stories: 1 }, { ...rows, context: 1 })).toThrow(
      /no story of more than one token/,
    );
  });
});

it('evaluation stories are the first of the test split', () => {
  const found = firstExamples({ path: null, seed: 5, count: 3, split: 'test' }, rows);
  expect(found.map(textOf)).toEqual([0, 1, 2].map((index) => asWritten(story(5, 'test', index))));
});
