/** The base models of a service: `memrl/…`, which are built here, and the directories that it was given. */
import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import { weightsFrom, weightTensors } from '../../engine/checkpoint.js';
import type { ModelShape } from '../../engine/engine.js';
import { initialWeights } from '../../engine/initial-weights.js';
import { presets } from '../../engine/model-shape.js';
import { trainBytePairs } from '../../environments/stories/train-byte-pairs.js';
import { storiesFrom } from '../../environments/stories/story-source.js';
import { trainWordPiece } from '../../environments/stories/train-word-piece.js';
import { characterFiles } from '../../hugging-face/character-tokenizer.js';
import { describe, loadModel, saveModel } from '../../hugging-face/directory.js';
import { exportModel } from '../../hugging-face/export-model.js';
import { loadTokenizer, openTokenizer, specialsOf } from '../../hugging-face/tokenizer.js';
import { rng } from '../../rng.js';
import { makeDirectory } from '../../run/make-directory.js';
import { findModel, isOwn, shapeIn } from '../../run/model-files.js';
import { writeWhole } from '../../run/run-directory.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { Refusal } from './refusal.js';

export type BaseModel = {
  readonly name: string;
  /** Absolute path of a Hugging Face directory; clients read the tokenizer from it. */
  readonly directory: string;
  readonly shape: ModelShape;
  readonly weights: Float32Array;
  readonly tokenizer: Tokenizer;
  /** Tokens that end an answer when the request has no stop of its own. */
  readonly endings: readonly number[];
};

/** The head is a matrix of its own, see `untied`. */
const untiedHead = { tied: false } as const;

/**
 * Models with random weights; each is built when it is first used. Their context fits the longest prompts of the recipes, that of
 * `memrl/words` conversations of many turns; unused positions cost nothing.
 */
const built = {
  'memrl/tiny': {
    shape: { ...presets.tiny, ...untiedHead, vocabulary: 97, context: 1024 },
    files: () => characterFiles,
  },
  'memrl/stories': {
    shape: { ...presets.stories, ...untiedHead, vocabulary: 1277, context: 1024 },
    files: storyVocabulary,
  },
  'memrl/words': {
    shape: { ...presets.stories, ...untiedHead, vocabulary: 1811, context: 4096 },
    files: wordVocabulary,
  },
} as const satisfies Record<string, { shape: ModelShape; files: () => ReadonlyMap<string, string> }>;

type BuiltName = keyof typeof built;

const storiesForTokenizer = 2000;
const wordTokens = 2048;

export class ModelCatalogue {
  readonly #home: string;
  /** Paths of the given models, by the name that clients use. */
  readonly #given = new Map<string, string>();
  readonly #open = new Map<string, BaseModel>();

  /**
   * @param home Directory for the models that are built here.
   * @param models `memrl/…`, or paths of models: of Hugging Face, or runs and checkpoints of memrl.
   */
  constructor(home: string, models: readonly string[]) {
    this.#home = home;
    for (const model of models) {
      if (Object.hasOwn(built, model)) continue;
      if (model.startsWith('memrl/')) throw unknownModel(model, Object.keys(built));
      // A wrong path is refused at the start rather than at the first request.
      findModel(model);
      this.#given.set(model, model);
    }
  }

  /** The names that clients may use. */
  get names(): readonly string[] {
    return [...this.#given.keys(), ...Object.keys(built)];
  }

  async open(name: string): Promise<BaseModel> {
    const known = this.nameOf(name);
    const model = this.#open.get(known) ?? (await this.#read(known));
    this.#open.set(known, model);
    return model;
  }

  /** The shape of a model, without reading its weights. @throws UserError when its description cannot be read. */
  shapeOf(name: string): ModelShape {
    if (Object.hasOwn(built, name)) return built[name as BuiltName].shape;
    const found = findModel(this.#given.get(name)!);
    return isOwn(found) ? shapeIn(found) : describe(found).config.shape;
  }

  /**
   * The canonical name of a model that a client may also call by its given path, or by the directory that `get_info`
   * returns.
   * @throws Refusal when there is no such model.
   */
  nameOf(name: string): string {
    if (this.#given.has(name) || Object.hasOwn(built, name)) return name;
    const wanted = resolve(name);
    const found = this.names.find((known) => {
      const path = this.#given.get(known);
      return resolve(this.#placeOf(known)) === wanted || (path !== undefined && resolve(path) === wanted);
    });
    if (found === undefined) throw new Refusal(404, unknownModel(name, this.names).message);
    return found;
  }

  /** The directory in which a model stands as transformers reads it. The directory need not exist yet. */
  #placeOf(name: string): string {
    const path = this.#given.get(name);
    if (path === undefined) return join(this.#home, name.replace('/', '-'));
    const found = findModel(path);
    return isOwn(found) ? join(this.#home, `given-${basename(resolve(path))}`) : found;
  }

  async #read(name: string): Promise<BaseModel> {
    const directory = resolve(await this.#directoryOf(name));
    const { config, weights } = loadModel(directory);
    const tokenizer = loadTokenizer(directory);
    if (tokenizer === null) {
      throw new UserError(`The model in ${directory} has no tokenizer.json.`, 'Put it there: clients read it.');
    }
    const endings = [...new Set([...config.endings, ...(tokenizer.end === null ? [] : [tokenizer.end])])];
    return { name, directory, shape: config.shape, weights, tokenizer, endings };
  }

  async #directoryOf(name: string): Promise<string> {
    const path = this.#given.get(name);
    if (path === undefined) return this.#build(name as BuiltName);
    const target = this.#placeOf(name);
    if (target === findModel(path)) return target;
    rmSync(target, { recursive: true, force: true });
    await exportModel(path, target);
    return target;
  }

  #build(name: BuiltName): string {
    const directory = this.#placeOf(name);
    // A directory without config was not finished, because the config is written last.
    if (existsSync(join(directory, 'config.json'))) return directory;
    const files = built[name].files();
    const tokenizer = openTokenizer(files, directory);
    const { shape } = built[name];
    const random = rng(0, `weights of ${name}`);
    makeDirectory(directory, 'directory');
    for (const [file, text] of files) writeWhole(join(directory, file), text);
    const tied = { ...shape, tied: true };
    const weights = untieHead(
      tied,
      initialWeights(tied, () => random.next()),
    );
    saveModel(directory, { config: { shape, ...specialsOf(tokenizer) }, weights });
    return directory;
  }
}

/**
 * The weights of a model whose head is a matrix of its own, which begins as the embedding. Programs that merge a trained head into the
 * model need one: in a tied model they would change the embedding, too.
 */
function untieHead(shape: ModelShape, weights: Float32Array): Float32Array {
  const tensors = weightTensors(shape, weights);
  const head = tensors.get('model.embed_tokens.weight')!;
  return weightsFrom({ ...shape, tied: false }, new Map([...tensors, ['lm_head.weight', head]]));
}

function stories(): string[] {
  const texts: string[] = [];
  for (const text of storiesFrom(null, 'train', 0)) if (texts.push(text) >= storiesForTokenizer) break;
  return texts;
}

function storyVocabulary(): ReadonlyMap<string, string> {
  return trainWordPiece(stories(), presets.stories.vocabulary);
}

/** Words of instructions and conversations, which stories have few of; each counts as often as a common word of the stories. */
const talk =
  'User: Assistant: System: Question: Answer: Guess: You are playing a game. Your job is to guess an integer number between the numbers. ' +
  'The secret word is a single word. You will win if you can guess the answer in a few questions or less, and lose if you ask more. ' +
  'Please output only the answer in the format below, without any other text, and say nothing else. Then we will tell you whether your ' +
  'guess is too high, too low, or correct. Too high. Too low. Correct. Failed to parse. Yes, No, yes, no, maybe. Is it an animal, a plant, ' +
  'a person, a place, an object? Does it have a color, a shape, a size? What is the sum, the difference, the product? It is right. It is wrong. ' +
  'How many are there? Which one is larger, smaller, bigger, older, newer? Write, read, respond with, think step by step, explain, should, ' +
  'could, would, player, answerer, system, message, example, instruction, remaining, following, information, language, computer, program.\n\n';

function wordVocabulary(): ReadonlyMap<string, string> {
  return trainBytePairs([...stories(), ...Array.from({ length: storiesForTokenizer / 20 }, () => talk)], wordTokens);
}

function unknownModel(name: string, names: readonly string[]): UserError {
  return new UserError(`There is no base model ${name} here; there is ${names.join(', ')}.`, 'Use one of these.');
}
