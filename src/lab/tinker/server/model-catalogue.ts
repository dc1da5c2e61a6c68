/** The base models of a service: `memrl/…`, which are built here, and the directories that it was given. */
import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../../../base/user-error.js';
import type { ModelShape } from '../../engine/engine.js';
import { initialWeights } from '../../engine/initial-weights.js';
import { presets } from '../../engine/model-shape.js';
import { storiesFrom } from '../../environments/stories/story-source.js';
import { trainWordPiece } from '../../environments/stories/train-word-piece.js';
import { characterFiles } from '../../hugging-face/character-tokenizer.js';
import { describe, loadModel, saveModel } from '../../hugging-face/directory.js';
import { exportModel } from '../../hugging-face/export-model.js';
import { loadTokenizer, openTokenizer, specialsOf } from '../../hugging-face/tokenizer.js';
import { rng } from '../../rng.js';
import { makeDirectory } from '../../run/make-directory.js';
import { findModel, isOwn } from '../../run/model-files.js';
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

/** Models with random weights; each is built when it is first used. */
const built = {
  'memrl/tiny': { shape: presets.tiny, files: () => characterFiles },
  'memrl/stories': { shape: presets.stories, files: storyVocabulary },
} as const satisfies Record<string, { shape: ModelShape; files: () => ReadonlyMap<string, string> }>;

type BuiltName = keyof typeof built;

/** Context of the built models. It fits the longest prompts of the recipes; unused positions cost nothing. */
const context = 1024;
const storiesForTokenizer = 2000;

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
      if (model.startsWith('memrl/')) throw unknown(model, Object.keys(built));
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

  /** The context of a model, without reading its weights; null where only the weights tell it. */
  contextOf(name: string): number | null {
    if (Object.hasOwn(built, name)) return context;
    const found = findModel(this.#given.get(name)!);
    return isOwn(found) ? null : describe(found).config.shape.context;
  }

  /** The name of a model, for a path that a client may write in another way. @throws Refusal when there is no such model. */
  nameOf(name: string): string {
    if (this.#given.has(name) || Object.hasOwn(built, name)) return name;
    const found = [...this.#given].find(([, path]) => resolve(path) === resolve(name));
    if (found === undefined) throw new Refusal(404, unknown(name, this.names).message);
    return found[0];
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
    const found = findModel(path);
    if (!isOwn(found)) return found;
    const target = join(this.#home, `given-${basename(resolve(path))}`);
    rmSync(target, { recursive: true, force: true });
    await exportModel(path, target);
    return target;
  }

  #build(name: BuiltName): string {
    const directory = join(this.#home, name.replace('/', '-'));
    // A directory without config was not finished, because the config is written last.
    if (existsSync(join(directory, 'config.json'))) return directory;
    const files = built[name].files();
    const tokenizer = openTokenizer(files, directory);
    const shape = { ...built[name].shape, vocabulary: tokenizer.size, context };
    const random = rng(0, `weights of ${name}`);
    makeDirectory(directory, 'directory');
    for (const [file, text] of files) writeWhole(join(directory, file), text);
    const weights = initialWeights(shape, () => random.next());
    saveModel(directory, { config: { shape, ...specialsOf(tokenizer) }, weights });
    return directory;
  }
}

function storyVocabulary(): ReadonlyMap<string, string> {
  const texts: string[] = [];
  for (const text of storiesFrom(null, 'train', 0)) if (texts.push(text) >= storiesForTokenizer) break;
  return trainWordPiece(texts, presets.stories.vocabulary);
}

function unknown(name: string, names: readonly string[]): UserError {
  return new UserError(`There is no base model ${name} here; there is ${names.join(', ')}.`, 'Use one of these.');
}
