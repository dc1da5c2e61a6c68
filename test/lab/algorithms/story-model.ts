import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parameterCount } from '../../../src/lab/engine/layout.js';
import { presets } from '../../../src/lab/engine/model-shape.js';
import { initialWeights } from '../../../src/lab/engine/initial-weights.js';
import { saveModel } from '../../../src/lab/hugging-face/directory.js';
import { rng } from '../../../src/lab/rng.js';
import { story } from '../../../src/lab/environments/stories/corpus.js';
import { trainWordPiece } from '../../../src/lab/environments/stories/train-word-piece.js';

/** Letters, signs and a few pieces of words. */
const vocabulary = 120;

/** Writes a very small model with random weights and a tokenizer for stories, as Hugging Face would. @returns the directory. */
export function storyModel(directory: string): string {
  const shape = { ...presets.micro, vocabulary, context: 64 };
  const random = rng(1, 'test weights');
  const weights = initialWeights(shape, () => random.next()).map((weight) => (weight === 1 ? 1 : 4 * weight));
  if (weights.length !== parameterCount(shape)) throw new Error('These are not the weights of that shape.');
  saveModel(directory, { config: { shape, beginning: null, endings: [1] }, weights });
  const stories = Array.from({ length: 50 }, (_, index) => story(0, 'train', index));
  for (const [name, text] of trainWordPiece(stories, vocabulary)) writeFileSync(join(directory, name), text);
  return directory;
}
