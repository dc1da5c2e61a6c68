import { statSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import { loraOnAll, type AdapterConfig } from '../engine/adapters/config.js';
import { initialAdapters } from '../engine/adapters/initial-adapters.js';
import { computedShape } from '../engine/adapters/layout.js';
import type { Adaptation, PlainModel } from '../engine/adapters/merging.js';
import { chooseEngine, type EngineChoice, type EngineRequest } from '../engine/choose-engine.js';
import { compiledKernels } from '../engine/create-engine.js';
import type { Engine, ModelShape } from '../engine/engine.js';
import { initialWeights } from '../engine/initial-weights.js';
import { parameterCount } from '../engine/layout.js';
import { presets, shapeNamed } from '../engine/model-shape.js';
import type { DualHint } from '../hugging-face/dual-lora.js';
import { loadTokenizer, openTokenizer, readTokenizerFiles } from '../hugging-face/tokenizer.js';
import { rng } from '../rng.js';
import type { Resumed } from '../run/checkpoint.js';
import type { Run } from '../run/runner.js';
import { findModel, isOwn, readMerged, readModel } from '../run/model-files.js';
import { recordedEngine, recordEngine, type RunDirectory } from '../run/run-directory.js';
import type { ProcessContext } from '../run/process-context.js';
import type { OptimizerName } from './descent.js';
import { EngineService } from './engine-service.js';
import { memoryTokenizer } from '../text/memory-vocabulary.js';
import { hasTokensOf, type Tokenizer } from '../text/tokenizer.js';

/**
 * Positions of a new model. An episode of the multi-step environment with 12 bits takes 104 tokens; positions cost
 * nothing until they are used.
 */
const context = 512;

/** The source of a recipe's initial weights. `resumed` wins: the caller that resumes loads its weights. */
type ModelSource = {
  readonly model_name: string;
  readonly load_checkpoint_path: string | null;
  readonly seed: number;
  readonly engine: EngineChoice;
  /** Threads of our kernels; null, the default, lets the engine choose. */
  readonly threads?: number | null;
  /** Repetition penalty of the sampling to come; left out: 1, none. */
  readonly repetition_penalty?: number;
  readonly resumed: Resumed | null;
  /** Settings that a checkpoint of small-rl may lack. */
  readonly hint?: DualHint;
  /** Rank of fresh LoRA adapters to train instead of the model itself; 0 or left out: none. */
  readonly lora_rank?: number;
  readonly lora_alpha?: number;
  /** Other fresh adapters, instead of LoRA. */
  readonly adapters?: AdapterConfig | null;
  /** The vocabulary that the model must know. */
  readonly tokenizer: Tokenizer;
  /** Fields of a new model's shape that differ from the preset. */
  readonly fresh?: Partial<ModelShape>;
};

/** The parts of the process that opening a model needs. */
type EngineContext = Pick<ProcessContext, 'log' | 'environment'>;

/** A model that was found. `from`: the path given; `directory`: the directory it leads to. */
type FoundModel = { readonly from: string; readonly directory: string; readonly shape: ModelShape };

/** The initial weights. `words`: a log line about them, given their size and engine. */
type Start = PlainModel & {
  /** Adapters of a run that is resumed. */
  readonly adapters: AdapterConfig | null;
  readonly words: (size: string) => string | null;
};

/** The model that a run trains, as its last checkpoint left it. */
export async function openService(
  source: Omit<ModelSource, 'resumed'>,
  run: Run,
  optimizer: OptimizerName = 'adam',
): Promise<EngineService> {
  const { resumed, context, directory, isReplay = false } = run;
  const record = isReplay ? undefined : directory;
  const service = new EngineService(await openModel({ ...source, resumed }, context, record), optimizer);
  if (resumed !== null) await service.loadState(resumed.path);
  return service;
}

/** The whole model at the start of a run, for a reference model. */
export async function openReference(source: Omit<ModelSource, 'resumed'>, { context }: Run): Promise<EngineService> {
  const plain = { ...source, lora_rank: 0, adapters: null, resumed: null };
  const quiet = { ...context, log: (line: string) => context.log(`reference: ${line}`) };
  return new EngineService(await openModel(plain, quiet));
}

/**
 * An engine with the weights of a checkpoint (not its optimizer), or with random ones. Adapters of a checkpoint are
 * merged into its weights, unless they are the run's own; adapters of a requested rank are fresh.
 *
 * @param run Where to record the engine; left out when no run is kept.
 */
export async function openModel(
  source: ModelSource,
  engineContext: EngineContext,
  run?: RunDirectory,
): Promise<Engine> {
  const from = source.resumed?.path ?? source.load_checkpoint_path ?? directoryIn(source.model_name);
  const start = from === null ? freshModel(source, engineContext.log) : await storedModel(from, source);
  const adapters = start.adapters ?? adaptersOf(source);
  const computed = adapters === null ? start.shape : computedShape(start.shape, adapters);
  const engine = await openEngine(computed, engineRequest(source, run), engineContext, run);
  const words = start.words(`${parameterCount(start.shape)} parameters, ${engine.backend}`);
  if (words !== null) engineContext.log(words);
  if (adapters === null) {
    await engine.loadWeights(start.weights);
    return engine;
  }
  return adapt(engine, { ...start, adapters }, source.seed, engineContext.log);
}

function engineRequest(
  { engine, threads = null, repetition_penalty: penalty = 1, resumed }: ModelSource,
  run?: RunDirectory,
) {
  const began = resumed === null || run === undefined ? null : recordedEngine(run);
  return { engine, threads, penalizes: penalty !== 1, began };
}

/** @throws UserError when the adapters could change nothing. */
function adaptersOf({
  adapters = null,
  lora_rank: rank = 0,
  lora_alpha: alpha = 32,
}: ModelSource): AdapterConfig | null {
  if (rank === 0) return adapters;
  if (!(alpha > 0)) throw new UserError(`lora_alpha=${alpha} would give LoRA no effect.`, 'Set it above 0.');
  return [loraOnAll('lora', rank, alpha)];
}

/** Adds fresh adapters; a caller that resumes then loads the saved ones. */
async function adapt(
  engine: Engine,
  { shape, weights, adapters }: Adaptation,
  seed: number,
  log: (line: string) => void,
): Promise<Engine> {
  const adapted = await AdaptedEngine.on(engine, await compiledKernels(), { shape, weights, adapters });
  const random = rng(seed, 'adapters');
  await adapted.loadWeights(initialAdapters(shape, adapters, () => random.next()));
  const words = adapters.map((adapter) =>
    adapter.kind === 'lora' ? `LoRA of rank ${adapter.rank}, alpha ${adapter.alpha}` : `${adapter.neurons} neurons`,
  );
  log(`${words.join(' · ')}: ${adapted.parameterCount} parameters are trained, ${parameterCount(shape)} are frozen`);
  return adapted;
}

async function storedModel(from: string, { resumed, tokenizer, hint }: ModelSource): Promise<Start> {
  const directory = findModel(from);
  // A run resumes with its own adapters on the same frozen weights.
  const saved = resumed === null ? null : readModel(directory, hint);
  const { shape, weights } = saved ?? (await readMerged(directory));
  checkVocabulary({ from, directory, shape }, tokenizer);
  const words = (size: string) => (resumed === null ? `weights from ${from} (${size})` : null);
  return { shape, weights, adapters: saved?.adapters?.config ?? null, words };
}

async function openEngine(
  shape: ModelShape,
  request: EngineRequest,
  engineContext: EngineContext,
  run: RunDirectory | undefined,
): Promise<Engine> {
  const { engine, on, why, threads } = await chooseEngine(shape, request, engineContext);
  engineContext.log(`engine: ${on} · ${why}`);
  if (run !== undefined) recordEngine(run, { engine: engine.backend, on, why, threads });
  return engine;
}

/** A model's name may be a directory. */
export function directoryIn(name: string): string | null {
  const isDirectory =
    !Object.hasOwn(presets, name) && statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory ? name : null;
}

/** @throws UserError when the model lacks tokens of the tokenizer. */
function checkVocabulary({ from, directory, shape }: FoundModel, needed: Tokenizer): void {
  const fix = 'Load a model that memrl made, for example by memrl warmup; `memrl model PATH` says what a model is.';
  const name = `the ${needed.kind} vocabulary`;
  if (shape.vocabulary < needed.size) {
    const problem = `The model in ${from} knows ${shape.vocabulary} tokens, and ${name} has ${needed.size}.`;
    throw new UserError(problem, fix);
  }
  // Checkpoints of memrl without a tokenizer are models of the memory games.
  const tokenizer = loadTokenizer(directory) ?? (isOwn(directory) ? memoryTokenizer : null);
  if (tokenizer !== null && hasTokensOf(tokenizer, needed)) return;
  const has =
    tokenizer === null ? 'has no tokenizer.json' : `has another (${tokenizer.kind}, ${tokenizer.size} tokens)`;
  throw new UserError(`This needs ${name}, and the model in ${from} ${has}.`, fix);
}

function freshModel({ model_name: name, seed, fresh }: ModelSource, log: (line: string) => void): Start {
  const named = shapeNamed(name);
  const shape: ModelShape = { ...(named ?? presets.tiny), context, ...fresh };
  if (named === null) log(`model_name=${name} is not a model here: \`tiny\` is used instead`);
  const random = rng(seed, 'initial weights');
  const weights = initialWeights(shape, () => random.next());
  const lack = fresh === undefined ? ': the format is not known yet' : '';
  const words = (size: string) => `random weights (seed ${seed}, ${size})${lack}`;
  return { shape, weights, adapters: null, words };
}

/** A tokenizer from a model's directory, and the texts of its files by name. */
type LoadedTokenizer = { readonly tokenizer: Tokenizer; readonly files: ReadonlyMap<string, string> };

/**
 * The tokenizer of a model that writes texts.
 * @throws UserError when the model has no tokenizer, or one without a token that ends a text.
 */
export function textTokenizer(model: string): LoadedTokenizer {
  if (model === '') {
    throw new UserError(
      'There is no model to train.',
      'Make one, in some minutes: memrl pretrain, which memrl grpo finds; or memrl pretrain log_path=runs/base, and model=runs/base.',
    );
  }
  const directory = findModel(model);
  const files = readTokenizerFiles(directory);
  const tokenizer = files === null ? null : openTokenizer(files, directory);
  if (files === null || tokenizer === null || tokenizer.end === null) {
    const lacks = tokenizer === null ? 'no tokenizer.json' : 'a tokenizer without a token that ends a text (eos_token)';
    throw new UserError(
      `The model in ${directory} has ${lacks}.`,
      'Give one that memrl pretrain made, or put it there.',
    );
  }
  return { tokenizer, files };
}

/** @throws UserError when prompt and completion together are longer than the model's context. */
export function requireRoom({ shape }: Pick<Engine, 'shape'>, prompt: number, completion: number): void {
  if (prompt + completion <= shape.context) return;
  throw new UserError(
    `A prompt of ${prompt} tokens and ${completion} more do not fit the model's context, ${shape.context}.`,
    'Give a smaller max_completion_length.',
  );
}
