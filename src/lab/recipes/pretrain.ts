import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import type { AdamOptions, Engine } from '../engine/engine.js';
import { presets } from '../engine/model-shape.js';
import { openTokenizer, readTokenizerFiles } from '../hugging-face/tokenizer.js';
import { rng } from '../rng.js';
import { lastCheckpoint, restore, type Resumed } from '../run/checkpoint.js';
import type { Companions } from '../run/companion-files.js';
import { requireFinite } from '../run/finite.js';
import type { Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import { isComplete, runRecipe, type Ending, type Recipe } from '../run/run-recipe.js';
import type { ProcessContext } from '../run/process-context.js';
import { storyPrompts } from '../environments/stories/prompts.js';
import { firstExamples, storyBatches } from '../environments/stories/story-batches.js';
import { sourceBytes, sourceText, storiesFrom } from '../environments/stories/story-source.js';
import { trainWordPiece } from '../environments/stories/train-word-piece.js';
import type { Example } from '../text/role-colon.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { crossEntropy, meanNll } from './cross-entropy.js';
import { lrMultiplier, riseMultiplier } from '../update/learning-rate.js';
import { directoryIn, openModel } from '../service/open-model.js';
import { adam } from './policy-gradient.js';
import type { pretrainKeys } from './pretrain-keys.js';
import { scheduleOf } from './schedule.js';

type PretrainConfig = Config<typeof pretrainKeys>;

/** Keys that may differ from attempt to attempt. A changed number of steps also changes the learning rate. */
export const pretrainBudget = new Set(
  'n_batches samples eval_every log_every save_every keep_checkpoints tensorboard engine threads log_path wandb_project wandb_name'.split(
    ' ',
  ),
);

/** A tokenizer, and its files for the checkpoints. `end`: the token that ends a story. */
type Vocabulary = { readonly tokenizer: Tokenizer; readonly files: ReadonlyMap<string, string>; readonly end: number };

/**
 * Trains a language model on stories, one story a sequence, from the first step or from the last checkpoint in the
 * directory. Every checkpoint is also a model of Hugging Face, with its tokenizer.
 */
export async function pretrain(
  config: PretrainConfig,
  directory: RunDirectory,
  world: ProcessContext,
): Promise<Ending> {
  checkName(config.model_name);
  const resumed = lastCheckpoint(directory, world.log);
  const schedule = scheduleOf(config, config.n_batches);
  if (isComplete(resumed, schedule)) {
    world.log(`already complete: ${resumed!.batch} steps are done. A larger n_batches continues.`);
    return { kind: 'finished' };
  }
  world.log(sourceText(config.data));
  const vocabulary = vocabularyOf(config, resumed);
  const { tokenizer } = vocabulary;
  world.log(`tokenizer: ${tokenizer.kind}, ${tokenizer.size} tokens`);
  const fresh = { vocabulary: tokenizer.size, context: config.context };
  const source = { ...config, load_checkpoint_path: null, resumed, tokenizer, fresh };
  const engine = await openModel(source, world, directory);
  if (resumed !== null) await restore(engine, resumed);
  world.log(
    `${schedule.batches} steps of ${config.batch_size} stories · learning_rate=${config.learning_rate} · weight_decay=${config.weight_decay}`,
  );
  const recipe = new Pretrainer(config, { engine, vocabulary }, resumed);
  const ending = await runRecipe({ world, directory, schedule, recipe, start: resumed?.batch ?? 0 });
  if (ending.kind === 'finished') await writeSamples(config, { engine, vocabulary }, world.log);
  return ending;
}

/** What a run works on. */
type Material = { readonly engine: Engine; readonly vocabulary: Vocabulary };

const Sums = z.object({ nll: z.number(), tokens: z.int(), stories: z.int(), norm: z.number(), steps: z.int() });
/** `data`: the lengths of the files in bytes. */
const SavedState = Sums.extend({ data: z.array(z.int()) });
const nothing = { nll: 0, tokens: 0, stories: 0, norm: 0, steps: 0 };

class Pretrainer implements Recipe {
  readonly engine: Engine;
  readonly companions: Companions;
  readonly #config: PretrainConfig;
  readonly #batch: (step: number) => Example[];
  readonly #test: readonly Example[];
  readonly #data: readonly number[];
  /** Over the steps since the last row. */
  #sums: z.infer<typeof Sums> = { ...nothing };
  #lastNll: number | null = null;
  #lastTest: number | null = null;

  constructor(config: PretrainConfig, { engine, vocabulary }: Material, resumed: Resumed | null) {
    this.engine = engine;
    this.companions = { shape: engine.shape, files: vocabulary.files };
    this.#config = config;
    const { data: path, seed, batch_size: size } = config;
    const rows = { ...vocabulary, context: Math.min(config.context, engine.shape.context) };
    this.#batch = storyBatches({ path, seed, size, stories: config.n_batches * size }, rows);
    this.#test =
      config.eval_every === 0 ? [] : firstExamples({ path, seed, count: config.eval_stories, split: 'test' }, rows);
    this.#data = sourceBytes(path);
    if (resumed !== null) this.#restore(resumed.state);
  }

  state(): unknown {
    return { ...this.#sums, data: this.#data };
  }

  progress(step: number): Row {
    return {
      'optim/lr': learningRateAt(this.#config, step),
      'optim/updates': step,
      'progress/stories': step * this.#config.batch_size,
    };
  }

  async evaluate(): Promise<Row> {
    const { batch_size: size } = this.#config;
    let [sum, tokens] = [0, 0];
    for (let from = 0; from < this.#test.length; from += size) {
      const batch = await meanNll(this.engine, this.#test.slice(from, from + size));
      sum += batch.nll * batch.tokens;
      tokens += batch.tokens;
    }
    this.#lastTest = sum / tokens;
    return { 'test/nll': this.#lastTest, 'test/perplexity': Math.exp(this.#lastTest) };
  }

  enough(): null {
    return null;
  }

  async step(step: number): Promise<void> {
    const batch = this.#batch(step);
    const { nll, tokens } = await crossEntropy(this.engine, batch);
    requireFinite(nll, 'the loss', step);
    const norm = await this.engine.adam({ ...adamOf(this.#config), learningRate: learningRateAt(this.#config, step) });
    requireFinite(norm, 'the norm of the gradient', step);
    this.#lastNll = nll;
    const sums = this.#sums;
    this.#sums = {
      nll: sums.nll + nll,
      tokens: sums.tokens + tokens,
      stories: sums.stories + batch.length,
      norm: sums.norm + norm,
      steps: sums.steps + 1,
    };
  }

  statistics(): Row {
    const { nll, tokens, stories, norm, steps } = this.#sums;
    this.#sums = { ...nothing };
    if (steps === 0) return {};
    return {
      train_mean_nll: nll / steps,
      'optim/loss': nll / steps,
      'optim/grad_norm': norm / steps,
      num_loss_tokens: tokens / steps,
      num_sequences: stories / steps,
    };
  }

  #restore(state: unknown): void {
    const { data, ...sums } = SavedState.parse(state);
    this.#sums = sums;
    if (data.join() === this.#data.join()) return;
    throw new UserError(
      `The stories in ${this.#config.data} have changed since this run began: ${data.join(' + ')} bytes then, ${this.#data.join(' + ')} now.`,
      'Put back the file, or begin again in another log_path.',
    );
  }

  words(): string {
    const test = this.#lastTest === null ? '' : ` · test ${this.#lastTest.toFixed(4)}`;
    return `nll ${this.#lastNll?.toFixed(4) ?? '–'}${test}`;
  }
}

/** Rises linearly, then falls as half a cosine to its final share, which the step after the last one would have. */
export function learningRateAt(
  config: Pick<PretrainConfig, 'learning_rate' | 'warmup_steps' | 'final_lr_fraction' | 'n_batches'>,
  step: number,
): number {
  const { learning_rate: highest, warmup_steps: rise, final_lr_fraction: final, n_batches: steps } = config;
  if (step < rise) return highest * riseMultiplier(step, rise);
  const fall = lrMultiplier('cosine', Math.min(step, steps) - rise, Math.max(1, steps - rise));
  return highest * (final + (1 - final) * fall);
}

function adamOf({ weight_decay: weightDecay, clip }: PretrainConfig): Omit<AdamOptions, 'learningRate'> {
  return { ...adam, weightDecay, ...(clip !== null && { clipNorm: clip }) };
}

/** @throws UserError for a name that is neither a shape nor a directory: another shape would be another experiment. */
function checkName(name: string): void {
  if (Object.hasOwn(presets, name) || directoryIn(name) !== null) return;
  throw new UserError(
    `model_name=${name} is neither a known shape nor a directory.`,
    `Use one of ${Object.keys(presets).join(', ')}, or the directory of a model.`,
  );
}

/** So many stories of the grammar hold all its words; of a file's, enough to know which are frequent. */
const storiesForTokenizer = { grammar: 2000, file: 20_000 };

/** That of the checkpoint, of the directory that was named, or of the model's; else one trained on the stories. */
function vocabularyOf(config: PretrainConfig, resumed: Resumed | null): Vocabulary {
  const named = resumed?.path ?? config.tokenizer ?? directoryIn(config.model_name);
  const files = named === null ? trained(config) : readTokenizerFiles(named);
  if (files === null)
    throw new UserError(`There is no tokenizer.json in ${named}.`, 'Give a directory that holds one.');
  const tokenizer = openTokenizer(files, named ?? 'a trained tokenizer');
  if (tokenizer.end !== null) return { tokenizer, files, end: tokenizer.end };
  throw new UserError(
    `The tokenizer in ${named} does not say which token ends a text.`,
    'Write it into tokenizer_config.json beside it, for example {"eos_token": "[EOS]"}.',
  );
}

function trained({ data, seed, vocabulary_size: size }: PretrainConfig): ReadonlyMap<string, string> {
  const most = data === null ? storiesForTokenizer.grammar : storiesForTokenizer.file;
  const texts: string[] = [];
  for (const text of storiesFrom(data, 'train', seed)) if (texts.push(text) >= most) break;
  return trainWordPiece(texts, size);
}

/** Says what the model makes of a few beginnings. */
async function writeSamples(
  { samples: count, data, seed, context }: PretrainConfig,
  { engine, vocabulary: { tokenizer, end } }: Material,
  log: (line: string) => void,
): Promise<void> {
  if (count === 0) return;
  const length = Math.min(8, context - 1);
  const prompts = storyPrompts(storiesFrom(data, 'test', seed), tokenizer, { count, length, seed, dropShort: false });
  const random = rng(seed, 'samples');
  const seeded = prompts.map((prompt) => ({
    tokens: Int32Array.from(tokenizer.encode(prompt)),
    seed: random.below(2 ** 31),
  }));
  const written = await engine.generate(seeded, { maxTokens: 128, temperature: 1, stop: [end] });
  written.forEach(({ tokens }, at) => {
    const text = tokenizer.decodePlain([...seeded[at]!.tokens, ...tokens]);
    log(`sample: ${text}`);
  });
}
