/** A LLaMA model as a directory that `transformers` reads and writes: `config.json` and `model.safetensors`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { weightTensors } from '../engine/checkpoint.js';
import { writeSafetensors } from '../engine/safetensors.js';
import { makeDirectory } from '../run/make-directory.js';
import { writeWhole } from '../run/run-directory.js';
import { configFiles, readConfig, writeConfig, type ModelConfig } from './config.js';
import { readText } from './regular-file.js';
import { cannotLoad, loadWeights, misfits, storedEntries, weightFiles, type StoredEntries } from './stored-weights.js';

const longestConfig = 2 ** 20;

/** Description of a directory's model. `problems`: reasons why it cannot be loaded, one sentence each. */
type ModelDescription = {
  readonly config: ModelConfig;
  readonly entries: StoredEntries;
  readonly problems: readonly string[];
};

export type LoadedModel = { readonly config: ModelConfig; readonly weights: Float32Array };

/** Whether this is a directory with a model that `transformers` could have saved. */
export function isHuggingFace(directory: string): boolean {
  return (
    existsSync(join(directory, configFiles.model)) &&
    Object.values(weightFiles).some((name) => existsSync(join(directory, name)))
  );
}

/**
 * Reads the config and the headers of the weight files, not the weights.
 * @throws UserError when one of them is invalid.
 */
export function describe(directory: string): ModelDescription {
  const path = join(directory, configFiles.model);
  const { config, problems } = readConfig(readText(path, longestConfig), path);
  const entries = storedEntries(directory);
  // The expected shapes of tensors are unknown when the model's own shape is refused.
  return { config, entries, problems: problems.length > 0 ? problems : misfits(config.shape, entries) };
}

/** @throws UserError that names every reason why the model cannot be loaded. */
export function loadModel(directory: string): LoadedModel {
  const { config, entries, problems } = describe(directory);
  if (problems.length > 0) throw cannotLoad(problems);
  return { config, weights: loadWeights(config.shape, entries) };
}

/**
 * Writes a model in single precision; `model.safetensors` has the same bytes as from `save_pretrained` of transformers.
 *
 * @param directory Created when missing; files of the same names are replaced.
 */
export function saveModel(directory: string, { config, weights }: LoadedModel): void {
  makeDirectory(directory, 'directory');
  // Sorted by name, the order in which the library writes tensors of one type.
  const tensors = new Map([...weightTensors(config.shape, weights)].sort(([a], [b]) => (a < b ? -1 : 1)));
  writeWhole(join(directory, weightFiles.one), writeSafetensors({ tensors, metadata: { format: 'pt' } }));
  writeWhole(join(directory, configFiles.model), writeConfig(config));
}
