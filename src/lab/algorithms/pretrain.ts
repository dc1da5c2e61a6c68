/**
 * Trains a language model on stories, one story a sequence, with AdamW, a learning rate that rises and then falls as a cosine, and a bound
 * of the gradient's norm. Every checkpoint is also a model of Hugging Face, with its tokenizer.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { key, type Config } from '../config/key.js';
import { logPath, runKeyNames, runKeys } from '../config/run-keys.js';
import { float, int, orNone, text } from '../config/value-type.js';
import type { AdamOptions } from '../engine/engine.js';
import { presets } from '../engine/model-shape.js';
import { readableStories } from '../environments/stories/parquet-stories.js';
import { beginningsOf } from '../environments/stories/stories.js';
import { firstExamples, storyBatches } from '../environments/stories/story-batches.js';
import { sourceBytes, sourceText, storiesFrom } from '../environments/stories/story-source.js';
import { trainWordPiece } from '../environments/stories/train-word-piece.js';
import { openTokenizer, readTokenizerFiles } from '../hugging-face/tokenizer.js';
import { rng } from '../rng.js';
import type { Companions } from '../run/companion-files.js';
import type { Means, Row } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { EngineService } from '../service/engine-service.js';
import { directoryIn, openService } from '../service/open-model.js';
import type { Example } from '../text/role-colon.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { cookbookAdam, lrMultiplier, riseMultiplier } from '../update/update.js';
import { checkedStep, learnExamples, meanNll } from '../update/supervised.js';

/** `memrl pretrain`. */
export const pretrainKeys = {
  data: key(
    orNone(text),
    null,
    'stories: a .txt file (one a line, or with blank lines between them), a .jsonl or .parquet file of objects with story or text, or a folder with train and test. None: the grammar writes them',
  ),
  model_name: key(
    text,
    'stories',
    'shape of a new model: stories, simplestories-1.25M, tiny or micro; or a directory with a LLaMA model of Hugging Face, which is trained on',
  ),
  tokenizer: key(
    orNone(text),
    null,
    'directory with a tokenizer.json. None: that of the model in model_name, else one trained on the stories',
  ),
  vocabulary_size: key(
    int(1),
    1280,
    'maximum vocabulary of a tokenizer that is trained here; with 1280 each word of the grammar is one token',
  ),
  n_batches: key(int(0), 1500, 'steps; a larger one continues a finished run on the longer schedule'),
  batch_size: key(int(1), 16, 'stories per step'),
  context: key(int(2), 512, 'tokens of the longest sequence of a new model; longer stories are cut to it'),
  learning_rate: key(float(0), 3e-3, 'highest learning rate of AdamW (betas 0.9, 0.95)'),
  warmup_steps: key(int(0), 100, 'steps in which the learning rate rises; after them it falls as a cosine'),
  final_lr_fraction: key(float(0), 0.1, 'final learning rate, as a share of the highest'),
  weight_decay: key(float(0), 0.1, 'weight decay of matrices; norms do not decay'),
  clip: key(orNone(float(0)), 1, 'maximum norm of the gradient; None: no bound'),
  eval_every: key(int(0), 100, 'steps between measurements on the test split, 0 for none'),
  eval_stories: key(int(1), 64, 'stories of the test split to measure on, always the same'),
  samples: key(int(0), 3, 'stories to sample at the end, at temperature 1 from prompts of the test split'),
  log_every: key(int(1), 10, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 500, 'steps between checkpoints, 0 for only the last'),
  ...runKeys,
  keep_checkpoints: key(orNone(int(1)), 2, 'how many checkpoints to keep; None: all'),
  log_path: logPath,
  seed: key(int(0), 42, 'seed of the initial weights, the stories and the samples'),
};
type PretrainConfig = Config<typeof pretrainKeys>;

/** Keys that may differ from attempt to attempt. A changed number of steps also changes the learning rate. */
export const pretrainBudget = new Set([
  ...['n_batches', 'samples', 'eval_every', 'log_every', 'save_every', 'log_path', ...runKeyNames],
]);

/** A tokenizer, and its files for the checkpoints. `end`: the token that ends a story. */
type Vocabulary = { readonly tokenizer: Tokenizer; readonly files: ReadonlyMap<string, string>; readonly end: number };

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function pretrain(asked: PretrainConfig, run: Run): Promise<Ending> {
  const config = { ...asked, data: await readableStories(asked.data) };
  checkName(config.model_name);
  const schedule = scheduleOf(config, config, config.n_batches);
  return runTraining(() => openPretrain(config, run), schedule, run, 'A larger n_batches continues.');
}

async function openPretrain(config: PretrainConfig, run: Run): Promise<Pretrain> {
  const { log } = run.context;
  log(sourceText(config.data));
  const vocabulary = vocabularyOf(config, run);
  const { tokenizer } = vocabulary;
  log(`tokenizer: ${tokenizer.kind}, ${tokenizer.size} tokens`);
  const fresh = { vocabulary: tokenizer.size, context: config.context };
  const service = await openService({ ...config, load_checkpoint_path: null, tokenizer, fresh }, run);
  return new Pretrain(config, { service, vocabulary }, run);
}

type PretrainParts = { readonly service: EngineService; readonly vocabulary: Vocabulary };

/** `data`: the lengths of the files in bytes. */
const SavedState = z.looseObject({ data: z.array(z.int()) });

class Pretrain implements Training {
  readonly algorithm = 'pretrain';
  readonly service: EngineService;
  readonly companions: Companions;
  readonly announcement: readonly string[];
  readonly #config: PretrainConfig;
  readonly #parts: PretrainParts;
  readonly #log: (line: string) => void;
  readonly #batch: (step: number) => Example[];
  readonly #test: readonly Example[];
  readonly #data: readonly number[];
  #lastNll: number | null = null;
  #lastTest: number | null = null;

  constructor(config: PretrainConfig, parts: PretrainParts, run: Run) {
    const { service, vocabulary } = parts;
    const { shape } = service.engine;
    this.#parts = parts;
    this.#log = run.context.log;
    this.service = service;
    this.companions = { shape, files: vocabulary.files };
    this.announcement = [
      `${config.n_batches} steps of ${config.batch_size} stories · learning_rate=${config.learning_rate} · weight_decay=${config.weight_decay}`,
    ];
    this.#config = config;
    const { data: path, seed, batch_size: size } = config;
    const rows = { ...vocabulary, context: Math.min(config.context, shape.context) };
    this.#batch = storyBatches({ path, seed, size, stories: config.n_batches * size }, rows);
    this.#test =
      config.eval_every === 0 ? [] : firstExamples({ path, seed, count: config.eval_stories, split: 'test' }, rows);
    this.#data = sourceBytes(path);
    const saved = restoredState(run, SavedState, this.algorithm);
    if (saved === null || saved.data.join() === this.#data.join()) return;
    throw new UserError(
      `The stories in ${path} have changed since this run began: ${saved.data.join(' + ')} bytes then, ${this.#data.join(' + ')} now.`,
      'Put back the file, or begin again in another log_path.',
    );
  }

  async step(step: number, row: Means): Promise<void> {
    const batch = this.#batch(step);
    const { nll, tokens } = await learnExamples(this.service, batch);
    const adam = { ...adamOf(this.#config), learningRate: learningRateAt(this.#config, step) };
    const gradientNorm = await checkedStep(this.service, { nll, step }, adam);
    this.#lastNll = nll;
    row.addAll({
      train_mean_nll: nll,
      'optim/loss': nll,
      'optim/grad_norm': gradientNorm,
      num_loss_tokens: tokens,
      num_sequences: batch.length,
    });
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
      const batch = await meanNll(this.service, this.#test.slice(from, from + size));
      sum += batch.nll * batch.tokens;
      tokens += batch.tokens;
    }
    this.#lastTest = sum / tokens;
    return { 'test/nll': this.#lastTest, 'test/perplexity': Math.exp(this.#lastTest) };
  }

  state() {
    return { data: this.#data };
  }

  async ended({ kind }: Ending): Promise<void> {
    if (kind === 'finished') await writeSamples(this.#config, this.#parts, this.#log);
  }

  words(): string {
    const test = this.#lastTest === null ? '' : ` · test ${this.#lastTest.toFixed(4)}`;
    return `nll ${this.#lastNll?.toFixed(4) ?? '–'}${test}`;
  }
}

/**
 * Learning rate of a step: a linear rise, then half a cosine down to the final share, which the step after the last one
 * would reach.
 */
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
  return { ...cookbookAdam, weightDecay, ...(clip !== null && { clipNorm: clip }) };
}

/** @throws UserError for a name that is neither a preset nor a directory: a guess would run another experiment. */
function checkName(name: string): void {
  if (Object.hasOwn(presets, name) || directoryIn(name) !== null) return;
  throw new UserError(
    `model_name=${name} is neither a known shape nor a directory.`,
    `Use one of ${Object.keys(presets).join(', ')}, or the directory of a model.`,
  );
}

/**
 * Stories to train a tokenizer on: enough of the grammar to hold all its words, and enough of a file to know which are
 * frequent.
 */
const storiesForTokenizer = { grammar: 2000, file: 20_000 };

/** The vocabulary of the checkpoint, of the directory named, or of the model; else one trained on the stories. */
function vocabularyOf(config: PretrainConfig, { resumed }: Run): Vocabulary {
  const named = resumed?.path ?? config.tokenizer ?? directoryIn(config.model_name);
  const files = named === null ? trainTokenizer(config) : readTokenizerFiles(named);
  if (files === null)
    throw new UserError(`There is no tokenizer.json in ${named}.`, 'Give a directory that holds one.');
  const tokenizer = openTokenizer(files, named ?? 'a trained tokenizer');
  if (tokenizer.end !== null) return { tokenizer, files, end: tokenizer.end };
  throw new UserError(
    `The tokenizer in ${named} does not say which token ends a text.`,
    'Write it into tokenizer_config.json beside it, for example {"eos_token": "[EOS]"}.',
  );
}

function trainTokenizer({ data, seed, vocabulary_size: size }: PretrainConfig): ReadonlyMap<string, string> {
  const most = data === null ? storiesForTokenizer.grammar : storiesForTokenizer.file;
  const texts: string[] = [];
  for (const text of storiesFrom(data, 'train', seed)) if (texts.push(text) >= most) break;
  return trainWordPiece(texts, size);
}

/** Logs the model's continuations of a few prompts. */
async function writeSamples(
  { samples: count, data, seed, context }: PretrainConfig,
  { service, vocabulary: { tokenizer, end } }: PretrainParts,
  log: (line: string) => void,
): Promise<void> {
  if (count === 0) return;
  const source = { data, seed, length: Math.min(8, context - 1), dropShort: false };
  const random = rng(seed, 'samples');
  const prompts = beginningsOf(source, 'test', count, tokenizer).map((beginning) => ({
    tokens: Int32Array.from(tokenizer.encode(beginning)),
    seed: random.below(2 ** 31),
  }));
  const written = await service.sample({ prompts, sampling: { maxTokens: 128, temperature: 1, stop: [end] } });
  written.forEach(({ tokens }, at) => {
    const text = tokenizer.decodePlain([...prompts[at]!.tokens, ...tokens]);
    log(`sample: ${text}`);
  });
}
