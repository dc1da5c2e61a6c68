import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import { readAdapterConfig, type AdapterConfig } from '../engine/adapters/config.js';
import { adapterLayout } from '../engine/adapters/layout.js';
import { mergeAdapters, type PlainModel } from '../engine/adapters/merging.js';
import {
  checkpoint,
  checkpointOf,
  flatFrom,
  optimizerFrom,
  optimizerOf,
  weightsFrom,
  weightTensors,
} from '../engine/checkpoint.js';
import { compiledKernels } from '../engine/create-engine.js';
import type { Engine, ModelShape, OptimizerState } from '../engine/engine.js';
import { readSafetensors, writeSafetensors } from '../engine/safetensors.js';
import { isHuggingFace, loadModel } from '../hugging-face/directory.js';
import { isDual, readDual, type DualHint } from '../hugging-face/dual-lora.js';
import { checkpointRows, placeOf } from './checkpoint-rows.js';
import { readJson } from './read-json.js';
import { folderOf, isTinkerPath, servedHome, serveDirectory, servedWeights } from './served-weights.js';
import { isWarmupName, shippedWarmup } from './shipped-warmups.js';

/**
 * A model in a directory: its shape, and its weights (Hugging Face names) with the optimizer's moments beside them.
 * With adapters these are the frozen weights alone, and the trained parameters have files of their own.
 */
const files = {
  shape: 'model.json',
  tensors: 'model.safetensors',
  adapters: 'adapters.json',
  adapterTensors: 'adapters.safetensors',
} as const;

type SavedModel = {
  readonly shape: ModelShape;
  readonly weights: Float32Array;
  /** null when only weights were saved, and for a frozen model. */
  readonly optimizer: OptimizerState | null;
  /** Trained adapters on the model, which is then frozen; null when there are none. */
  readonly adapters: SavedAdapters | null;
};

type SavedAdapters = {
  readonly config: AdapterConfig;
  readonly parameters: Float32Array;
  readonly optimizer: OptimizerState | null;
};

const Shape: z.ZodType<ModelShape> = z.object({
  vocabulary: z.int(),
  width: z.int(),
  layers: z.int(),
  heads: z.int(),
  kvHeads: z.int(),
  feedForward: z.int(),
  tied: z.boolean(),
  ropeTheta: z.number(),
  ropeScaling: z
    .object({ factor: z.number(), lowFrequency: z.number(), highFrequency: z.number(), originalContext: z.number() })
    .optional(),
  qkvBias: z.boolean().optional(),
  normEpsilon: z.number(),
  context: z.int(),
});

/** Writes the engine's model and optimizer into an existing directory. */
export async function writeModel(directory: string, engine: Engine): Promise<void> {
  if (engine instanceof AdaptedEngine) return writeAdapted(directory, engine);
  const saved = checkpoint(engine.shape, await engine.weights(), await engine.optimizerState());
  writeFileSync(join(directory, files.tensors), writeSafetensors(saved));
  writeFileSync(join(directory, files.shape), `${JSON.stringify(engine.shape, null, 2)}\n`);
}

async function writeAdapted(directory: string, engine: AdaptedEngine): Promise<void> {
  const { shape, adapters, tensors } = engine;
  const frozen = { tensors: weightTensors(shape, engine.frozenWeights()), metadata: { format: 'pt' } };
  const trained = checkpointOf(tensors, await engine.weights(), await engine.optimizerState());
  writeFileSync(join(directory, files.tensors), writeSafetensors(frozen));
  writeFileSync(join(directory, files.shape), `${JSON.stringify(shape, null, 2)}\n`);
  writeFileSync(join(directory, files.adapterTensors), writeSafetensors(trained));
  writeFileSync(join(directory, files.adapters), `${JSON.stringify(adapters, null, 2)}\n`);
}

/**
 * A model of our own, of Hugging Face, or of small-rl.
 * @param hint Settings for small-rl's.
 * @throws UserError when the directory has no model, or a broken one.
 */
export function readModel(directory: string, hint: DualHint = { alpha: null }): SavedModel {
  if (!isOwn(directory) && isHuggingFace(directory)) {
    if (isDual(directory)) {
      const { shape, weights, config, parameters } = readDual(directory, hint);
      return { shape, weights, optimizer: null, adapters: { config, parameters, optimizer: null } };
    }
    const { config, weights } = loadModel(directory);
    return { shape: config.shape, weights, optimizer: null, adapters: null };
  }
  const shape = shapeIn(directory);
  const path = join(directory, files.tensors);
  if (!existsSync(path)) throw noModel(directory);
  const saved = readSafetensors(readFileSync(path), path);
  const weights = weightsFrom(shape, saved.tensors);
  const adapters = readAdapters(directory, shape);
  return { shape, weights, optimizer: optimizerFrom(shape, saved), adapters };
}

/** The shape of a model of our own, without its weights. @throws UserError when there is none. */
export function shapeIn(directory: string): ModelShape {
  const shape = Shape.safeParse(readJson(join(directory, files.shape)));
  if (!shape.success) throw noModel(directory);
  return shape.data;
}

/** @throws UserError when one of the two files is missing, or they do not belong together. */
function readAdapters(directory: string, shape: ModelShape): SavedAdapters | null {
  const [configPath, path] = [join(directory, files.adapters), join(directory, files.adapterTensors)];
  const [hasConfig, hasTensors] = [existsSync(configPath), existsSync(path)];
  if (!hasConfig && !hasTensors) return null;
  if (!hasConfig || !hasTensors) {
    throw new UserError(
      `${directory} has ${hasConfig ? files.adapters : files.adapterTensors} and no ${hasConfig ? files.adapterTensors : files.adapters}.`,
      'Put back the file that was written beside it: rank, alpha and layers cannot be told from the weights.',
    );
  }
  const config = readAdapterConfig(readJson(configPath), configPath);
  const { tensors: parts } = adapterLayout(shape, config);
  const saved = readSafetensors(readFileSync(path), path);
  const known = new Set(parts.map(({ name }) => name));
  const stray = [...saved.tensors.keys()].find((name) => !known.has(name.replace(/^adam\.[mv]\./, '')));
  if (stray !== undefined) {
    throw new UserError(
      `${path} has a tensor "${stray}", which the adapters of ${files.adapters} do not have.`,
      'Put the two files together that were written together.',
    );
  }
  return { config, parameters: flatFrom(parts, saved.tensors), optimizer: optimizerOf(parts, saved) };
}

/** Loads a checkpoint's weights and optimizer state into the engine; with adapters, those of the adapters. */
export async function restoreModel(directory: string, engine: Engine, hint?: DualHint): Promise<void> {
  const { weights, optimizer, adapters } = readModel(directory, hint);
  const trained = adapters === null ? { parameters: weights, optimizer } : adapters;
  await engine.loadWeights(trained.parameters);
  if (trained.optimizer !== null) await engine.loadOptimizerState(trained.optimizer);
}

/** The saved model, with its adapters merged into its weights. @throws UserError as `readModel`. */
export async function readMerged(directory: string): Promise<PlainModel> {
  const { shape, weights, adapters } = readModel(directory);
  if (adapters === null) return { shape, weights };
  const adaptation = { shape, weights, adapters: adapters.config };
  return mergeAdapters(await compiledKernels(), adaptation, adapters.parameters);
}

/**
 * Resolves a path to the directory of a model: the path itself, or for a run its `final` checkpoint, else its last.
 * The name of a shipped warm-up and the `tinker://` path of weights that `memrl serve` saved here are resolved too.
 *
 * @param home Directory where `memrl serve` saves.
 * @throws UserError when there is none.
 */
export function findModel(path: string, home = servedHome(serveDirectory)): string {
  if (isWarmupName(path)) return shippedWarmup(path);
  if (isTinkerPath(path)) return weightsOfService(path, home);
  if (isModel(path)) return path;
  // A model's name as `memrl serve` writes it, in a path of the disk.
  const encoded = path.replace(/:train:(\d+)/, (name) => folderOf(name));
  if (encoded !== path && isModel(encoded)) return encoded;
  const [run, step] = runAndStep(path);
  const found = checkpointRows(run).flatMap((row) => {
    const place = placeOf(run, row);
    return place !== null && isModel(place) && (step === null || row.batch === step) ? [{ ...row, place }] : [];
  });
  const chosen = found.findLast(({ name }) => name === 'final') ?? found.at(-1);
  if (chosen === undefined) throw noModel(path);
  return chosen.place;
}

function weightsOfService(path: string, home: string): string {
  const directory = servedWeights(path, home);
  if (directory !== null && isModel(directory)) return directory;
  throw new UserError(
    directory === null ? `${path} is not a tinker:// path of weights.` : `There are no weights of ${path} in ${home}.`,
    'Give a path that `memrl serve` saved in this folder, tinker://MODEL/weights/NAME, or the directory of a model; weights of another service are trained there: `memrl rl engine=tinker`.',
  );
}

/** `RUN/checkpoint-2000`, transformers' name, is the checkpoint of that step; the step is null for a run alone. */
function runAndStep(path: string): readonly [run: string, step: number | null] {
  const named = /^(.*?)\/*checkpoint-(\d+)\/*$/.exec(path);
  if (named === null || existsSync(path)) return [path, null];
  return [named[1] === '' ? '.' : named[1]!, Number(named[2])];
}

/** Whether this is a checkpoint of our own; one may hold the files of Hugging Face as well. */
export function isOwn(directory: string): boolean {
  return existsSync(join(directory, files.shape));
}

function isModel(directory: string): boolean {
  return isOwn(directory) || isHuggingFace(directory);
}

function noModel(path: string): UserError {
  return new UserError(
    `There is no checkpoint in ${path}.`,
    'Give the directory of a finished run (for example of memrl warmup), one of its checkpoints, or a model of Hugging Face.',
  );
}
