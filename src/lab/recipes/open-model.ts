import { statSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { chooseEngine, type EngineChoice, type EngineWish } from '../engine/choose-engine.js';
import type { Engine, ModelShape } from '../engine/engine.js';
import { initialWeights } from '../engine/initial-weights.js';
import { presets } from '../engine/model-shape.js';
import { isHuggingFace } from '../hugging-face/directory.js';
import { loadTokenizer } from '../hugging-face/tokenizer.js';
import { rng } from '../rng.js';
import type { Resumed } from '../run/checkpoint.js';
import { findModel, readModel } from '../run/model-files.js';
import { recordEngine, type RunDirectory } from '../run/run-directory.js';
import type { World } from '../run/world.js';
import { hasTokensOf, type Tokenizer } from '../text/tokenizer.js';

/** The dense game with 12 bits takes 104 tokens; positions cost nothing until they are used. */
const context = 512;

/** Where a recipe's first weights come from. `resumed` wins: its weights are loaded by whoever resumes. */
type ModelSource = {
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
  readonly seed: number;
  readonly engine: EngineChoice;
  /** Of our kernels; null, the default, leaves their number to the engine. */
  readonly threads?: number | null;
  readonly resumed: Resumed | null;
  /** The vocabulary that the model must know. */
  readonly tokenizer: Tokenizer;
};

/** What of the process opening a model needs. */
type OpeningWorld = Pick<World, 'log' | 'environment'>;

/** A model that was found: under the path that was given, and where that leads. */
type Opened = { readonly from: string; readonly directory: string; readonly shape: ModelShape };

/**
 * An engine with the weights of a checkpoint (not its optimizer), or with random ones.
 *
 * @param run Where to record what computes; left out by whoever keeps no run.
 */
export async function openModel(source: ModelSource, world: OpeningWorld, run?: RunDirectory): Promise<Engine> {
  const { log } = world;
  const engineFor = (shape: ModelShape) =>
    openEngine(shape, { engine: source.engine, threads: source.threads ?? null }, world, run);
  const from = source.resumed?.path ?? source.load_checkpoint_path ?? directoryIn(source.model_name);
  if (from === null) return freshModel(source, log, engineFor);
  const directory = findModel(from);
  const { shape, weights } = readModel(directory);
  checkVocabulary({ from, directory, shape }, source.tokenizer);
  const engine = await engineFor(shape);
  await engine.loadWeights(weights);
  if (source.resumed === null) log(`weights from ${from} (${engine.parameterCount} parameters, ${engine.backend})`);
  return engine;
}

async function openEngine(
  shape: ModelShape,
  wish: EngineWish,
  world: OpeningWorld,
  run: RunDirectory | undefined,
): Promise<Engine> {
  const { engine, on, why, threads } = await chooseEngine(shape, wish, world);
  world.log(`engine: ${on} · ${why}`);
  if (run !== undefined) recordEngine(run, { engine: engine.backend, on, why, threads });
  return engine;
}

/** A model's name may be the directory it lies in. */
function directoryIn(name: string): string | null {
  const isDirectory =
    !Object.hasOwn(presets, name) && statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory ? name : null;
}

/** @throws UserError when the model does not have the tokens that are needed. */
function checkVocabulary({ from, directory, shape }: Opened, needed: Tokenizer): void {
  const fix = 'Load a model that memrl made, for example by memrl warmup; `memrl model PATH` says what a model is.';
  const name = `the ${needed.kind} vocabulary`;
  if (shape.vocabulary < needed.size) {
    const problem = `The model in ${from} knows ${shape.vocabulary} tokens, and ${name} has ${needed.size}.`;
    throw new UserError(problem, fix);
  }
  // Our own checkpoints are of models made for the vocabulary they are used with.
  if (!isHuggingFace(directory)) return;
  const tokenizer = loadTokenizer(directory);
  if (tokenizer !== null && hasTokensOf(tokenizer, needed)) return;
  const has =
    tokenizer === null ? 'has no tokenizer.json' : `has another (${tokenizer.kind}, ${tokenizer.size} tokens)`;
  throw new UserError(`This needs ${name}, and the model in ${from} ${has}.`, fix);
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
