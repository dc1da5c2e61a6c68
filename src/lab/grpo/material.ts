import { UserError } from '../../base/user-error.js';
import type { Engine } from '../engine/engine.js';
import { openTokenizer, readTokenizerFiles } from '../hugging-face/tokenizer.js';
import { openModel } from '../recipes/open-model.js';
import type { Resumed } from '../run/checkpoint.js';
import { findModel } from '../run/model-files.js';
import type { RunDirectory } from '../run/run-directory.js';
import type { World } from '../run/world.js';
import { storyPrompts } from '../environments/stories/prompts.js';
import { storiesFrom } from '../environments/stories/story-source.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { promptOf, type Prompt } from './rollouts.js';
import type { GrpoConfig, Settings } from './settings.js';

/** A tokenizer as it lies in a model's directory: opened, and the texts of its files by their names. */
type FoundTokenizer = { readonly tokenizer: Tokenizer; readonly files: ReadonlyMap<string, string> };

/** @throws UserError when the model has none, or one without a token that ends a text. */
export function tokenizerOf(model: string): FoundTokenizer {
  if (model === '') {
    throw new UserError(
      'There is no model to train.',
      'Make one (memrl pretrain log_path=runs/base) and give its directory: model=runs/base.',
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

/** The model to train and the one to stay near, which is null where beta is 0. */
export async function openModels(
  { config, adapters }: Settings,
  { tokenizer, resumed }: { readonly tokenizer: Tokenizer; readonly resumed: Resumed | null },
  world: World,
  directory: RunDirectory,
): Promise<{ readonly engine: Engine; readonly reference: Engine | null }> {
  const source = { ...config, model_name: '', load_checkpoint_path: config.model, lora_rank: 0, tokenizer };
  const engine = await openModel({ ...source, adapters, resumed }, world, directory);
  requireRoom(engine, config.prompt_length, config.max_completion_length);
  if (config.beta === 0) return { engine, reference: null };
  const quiet = { ...world, log: (line: string) => world.log(`reference: ${line}`) };
  return { engine, reference: await openModel({ ...source, resumed: null }, quiet) };
}

/** @throws UserError when a prompt and what follows it are longer than the model's context. */
export function requireRoom({ shape }: Engine, prompt: number, completion: number): void {
  if (prompt + completion <= shape.context) return;
  throw new UserError(
    `A prompt of ${prompt} tokens and ${completion} more do not fit the model's context, ${shape.context}.`,
    'Give a smaller max_completion_length.',
  );
}

/** What is trained on, and what evaluations take theirs from: prompts of different stories. */
export function openPrompts(
  config: GrpoConfig,
  tokenizer: Tokenizer,
): { readonly train: Prompt[]; readonly test: Prompt[] } {
  const { data, seed, prompt_length: length } = config;
  const draw = (split: 'train' | 'test', count: number): Prompt[] =>
    count === 0
      ? []
      : storyPrompts(storiesFrom(data, split, seed), tokenizer, { count, length, seed, dropShort: true }).map((text) =>
          promptOf(text, tokenizer),
        );
  return {
    train: draw('train', config.num_prompts),
    test: draw('test', config.eval_routing_steps === 0 ? 0 : Math.min(config.eval_prompts, config.eval_samples)),
  };
}
