/** Files in a checkpoint beside our own, with which other programs open it as a model of Hugging Face. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { ModelShape } from '../engine/engine.js';
import { configFiles, writeConfig, writeGenerationConfig } from '../hugging-face/config.js';
import { loadTokenizer, specialsOf } from '../hugging-face/tokenizer.js';

/** `files`: texts by name, `tokenizer.json` among them; they are written unchanged. */
export type Companions = { readonly shape: ModelShape; readonly files: ReadonlyMap<string, string> };

/**
 * Writes `config.json`, `generation_config.json` and the tokenizer's files into an existing directory. The tokenizer
 * sets the tokens that begin and end a text.
 *
 * Our own `model.json` beside them still makes the directory a checkpoint with its optimizer. Of one with adapters
 * other programs see the frozen weights alone.
 *
 * @throws UserError when there is no tokenizer among the files, or one with more tokens than the model has.
 */
export function writeCompanions(directory: string, { shape, files }: Companions): void {
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
  const tokenizer = loadTokenizer(directory);
  if (tokenizer === null || tokenizer.size > shape.vocabulary) {
    const has = tokenizer === null ? 'no tokenizer.json' : `a tokenizer of ${tokenizer.size} tokens`;
    throw new UserError(
      `A model that knows ${shape.vocabulary} tokens cannot be saved with ${has}.`,
      'Use the tokenizer that the model was made for.',
    );
  }
  const config = { shape, ...specialsOf(tokenizer) };
  writeFileSync(join(directory, configFiles.model), writeConfig(config));
  writeFileSync(join(directory, configFiles.generation), writeGenerationConfig(config));
}
