import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { checkpoint, optimizerFrom, weightsFrom } from '../engine/checkpoint.js';
import type { Engine, ModelShape, OptimizerState } from '../engine/engine.js';
import { readSafetensors, writeSafetensors } from '../engine/safetensors.js';
import { isHuggingFace, loadModel } from '../hugging-face/directory.js';
import { checkpointRows } from './checkpoint-rows.js';

/** A model in a directory: its shape, and its weights (Hugging Face names) with the optimizer's moments beside them. */
const files = { shape: 'model.json', tensors: 'model.safetensors' } as const;

type SavedModel = {
  readonly shape: ModelShape;
  readonly weights: Float32Array;
  /** null when only weights were saved. */
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
  normEpsilon: z.number(),
  context: z.int(),
});

/** Writes the engine's model and optimizer into a directory that exists. */
export async function writeModel(directory: string, engine: Engine): Promise<void> {
  const saved = checkpoint(engine.shape, await engine.weights(), await engine.optimizerState());
  writeFileSync(join(directory, files.tensors), writeSafetensors(saved));
  writeFileSync(join(directory, files.shape), `${JSON.stringify(engine.shape, null, 2)}\n`);
}

/** A model of our own or of Hugging Face. @throws UserError when the directory holds none, or a broken one. */
export function readModel(directory: string): SavedModel {
  if (isHuggingFace(directory)) {
    const { config, weights } = loadModel(directory);
    return { shape: config.shape, weights, optimizer: null };
  }
  const shape = Shape.safeParse(readJson(join(directory, files.shape)));
  if (!shape.success || !existsSync(join(directory, files.tensors))) throw noModel(directory);
  const path = join(directory, files.tensors);
  const saved = readSafetensors(readFileSync(path), path);
  const weights = weightsFrom(shape.data, saved.tensors);
  return { shape: shape.data, weights, optimizer: optimizerFrom(shape.data, saved) };
}

/**
 * The directory of the model that a path means: the path itself, or for a run its `final` checkpoint, else its last.
 *
 * @throws UserError when there is none.
 */
export function findModel(path: string): string {
  if (isModel(path)) return path;
  const rows = checkpointRows(path).filter(
    (row) => row.state_path !== undefined && isModel(join(path, row.state_path)),
  );
  const row = rows.findLast(({ name }) => name === 'final') ?? rows.at(-1);
  if (row?.state_path === undefined) throw noModel(path);
  return join(path, row.state_path);
}

function isModel(directory: string): boolean {
  return existsSync(join(directory, files.shape)) || isHuggingFace(directory);
}

function noModel(path: string): UserError {
  return new UserError(
    `There is no checkpoint in ${path}.`,
    'Give the directory of a finished run (for example of memrl warmup), one of its checkpoints, or a model of Hugging Face.',
  );
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
