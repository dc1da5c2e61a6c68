import { UserError } from '../../base/user-error.js';
import { chooseEngine, type EngineChoice } from '../engine/choose-engine.js';
import type { Engine, ModelShape } from '../engine/engine.js';
import { initialWeights } from '../engine/initial-weights.js';
import { presets } from '../engine/model-shape.js';
import { rng } from '../rng.js';
import type { Resumed } from '../run/checkpoint.js';
import { findModel, readModel } from '../run/model-files.js';
import { recordEngine, type RunDirectory } from '../run/run-directory.js';
import type { World } from '../run/world.js';
import { memoryTokenizer } from '../text/memory-vocabulary.js';

/** The dense game with 12 bits takes 104 tokens; positions cost nothing until they are used. */
const context = 512;

/** Where a recipe's first weights come from. `resumed` wins: its weights are loaded by whoever resumes. */
type ModelSource = {
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
  readonly seed: number;
  readonly engine: EngineChoice;
  readonly resumed: Resumed | null;
};

/**
 * An engine with the weights of a checkpoint (not its optimizer), or with random ones.
 *
 * @param directory Where to record what computes; left out by whoever keeps no run.
 */
export async function openModel(source: ModelSource, world: World, directory?: RunDirectory): Promise<Engine> {
  const { log } = world;
  const engineFor = (shape: ModelShape) => openEngine(shape, source.engine, world, directory);
  const from = source.resumed?.path ?? source.load_checkpoint_path;
  if (from === null) return freshModel(source, log, engineFor);
  const { shape, weights } = readModel(findModel(from));
  if (shape.vocabulary < memoryTokenizer.size) {
    throw new UserError(
      `The model in ${from} knows ${shape.vocabulary} tokens, and the memory games need ${memoryTokenizer.size}.`,
      'Load a model that memrl made, for example by memrl warmup.',
    );
  }
  const engine = await engineFor(shape);
  await engine.loadWeights(weights);
  if (source.resumed === null) log(`weights from ${from} (${engine.parameterCount} parameters, ${engine.backend})`);
  return engine;
}

async function openEngine(
  shape: ModelShape,
  choice: EngineChoice,
  world: World,
  directory: RunDirectory | undefined,
): Promise<Engine> {
  const { engine, on, why } = await chooseEngine(shape, choice, world);
  world.log(`engine: ${on} · ${why}`);
  if (directory !== undefined) recordEngine(directory, { engine: engine.backend, on, why });
  return engine;
}

async function freshModel(
  { model_name: name, seed }: ModelSource,
  log: (line: string) => void,
  engineFor: (shape: ModelShape) => Promise<Engine>,
): Promise<Engine> {
  const known = Object.hasOwn(presets, name);
  const shape: ModelShape = { ...presets[known ? (name as keyof typeof presets) : 'tiny'], context };
  if (!known) log(`model_name=${name} is not here: \`tiny\` stands for it`);
  const random = rng(seed, 'initial weights');
  const engine = await engineFor(shape);
  await engine.loadWeights(initialWeights(shape, () => random.next()));
  log(
    `weights from nothing (seed ${seed}, ${engine.parameterCount} parameters, ${engine.backend}): the format is not known yet`,
  );
  return engine;
}
