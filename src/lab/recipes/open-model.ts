import { statSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { createEngine } from '../engine/create-engine.js';
import type { Engine, ModelShape } from '../engine/engine.js';
import { initialWeights } from '../engine/initial-weights.js';
import { presets } from '../engine/model-shape.js';
import { isHuggingFace } from '../hugging-face/directory.js';
import { loadTokenizer } from '../hugging-face/tokenizer.js';
import { rng } from '../rng.js';
import type { Resumed } from '../run/checkpoint.js';
import { findModel, readModel } from '../run/model-files.js';
import { hasTokensOf, type Tokenizer } from '../text/tokenizer.js';

/** The dense game with 12 bits takes 104 tokens; positions cost nothing until they are used. */
const context = 512;

/** Where a recipe's first weights come from. `resumed` wins: its weights are loaded by whoever resumes. */
type ModelSource = {
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
  readonly seed: number;
  readonly resumed: Resumed | null;
  /** The vocabulary that the model must know. */
  readonly tokenizer: Tokenizer;
};

/** A model that was found: under the path that was given, and where that leads. */
type Opened = { readonly from: string; readonly directory: string; readonly shape: ModelShape };

/** An engine with the weights of a checkpoint (not its optimizer), or with random ones. */
export async function openModel(source: ModelSource, log: (line: string) => void): Promise<Engine> {
  const from = source.resumed?.path ?? source.load_checkpoint_path ?? directoryIn(source.model_name);
  if (from === null) return freshModel(source, log);
  const directory = findModel(from);
  const { shape, weights } = readModel(directory);
  checkVocabulary({ from, directory, shape }, source.tokenizer);
  const engine = await createEngine(shape);
  await engine.loadWeights(weights);
  if (source.resumed === null) log(`weights from ${from} (${engine.parameterCount} parameters, ${engine.backend})`);
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

async function freshModel({ model_name: name, seed }: ModelSource, log: (line: string) => void): Promise<Engine> {
  const known = Object.hasOwn(presets, name);
  const shape: ModelShape = { ...presets[known ? (name as keyof typeof presets) : 'tiny'], context };
  if (!known) log(`model_name=${name} is not here: \`tiny\` stands for it`);
  const random = rng(seed, 'initial weights');
  const engine = await createEngine(shape);
  await engine.loadWeights(initialWeights(shape, () => random.next()));
  log(
    `weights from nothing (seed ${seed}, ${engine.parameterCount} parameters, ${engine.backend}): the format is not known yet`,
  );
  return engine;
}
