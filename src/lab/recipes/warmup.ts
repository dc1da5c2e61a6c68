import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import type { Engine } from '../engine/engine.js';
import { bitUniformity, numberUniformity, type Uniformity } from '../environments/memory/uniformity.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { lastCheckpoint, restore, type Resumed } from '../run/checkpoint.js';
import { requireFinite } from '../run/finite.js';
import type { Row } from '../run/metrics-file.js';
import { type RunDirectory, writeWhole } from '../run/run-directory.js';
import { type Ending, isComplete, type Recipe, runRecipe } from '../run/run-recipe.js';
import type { ProcessContext } from '../run/process-context.js';
import { memoryTokenizer } from '../text/memory-vocabulary.js';
import { bitsToCalibrate, calibrate, type Calibrated, numbersToCalibrate } from './calibration.js';
import { crossEntropy } from './cross-entropy.js';
import type { warmupKeys } from './keys.js';
import { lrMultiplier, riseMultiplier } from '../update/learning-rate.js';
import { openModel } from '../service/open-model.js';
import { previewLine } from './preview.js';
import { type Answers, answersOfFile, drawnAnswers } from './warmup-answers.js';
import { adam } from './policy-gradient.js';
import { scheduleOf } from './schedule.js';

type WarmupConfig = Config<typeof warmupKeys>;

export const warmupBudget = new Set(
  'check_secrets preview_samples preview_count preview_temperature preview_max_tokens eval_every log_every save_every keep_checkpoints tensorboard engine threads log_path wandb_project wandb_name'.split(
    ' ',
  ),
);

/**
 * Teaches a fresh model to answer with a legal number, or legal bits, all equally likely; so that reinforcement
 * learning afterwards measures the secret and not the format.
 *
 * @throws UserError with the figures when the result is not even enough to measure bits from.
 */
export async function warmup(config: WarmupConfig, directory: RunDirectory, world: ProcessContext): Promise<Ending> {
  const resumed = lastCheckpoint(directory, world.log);
  const settings = settingsOf(config);
  const { steps, file } = settings.answers;
  const schedule = scheduleOf(config, steps);
  if (file !== null) {
    writeWhole(join(directory.path, file.name), file.text);
    file.lines.forEach(world.log);
  }
  const source = { ...config, load_checkpoint_path: null, resumed, tokenizer: memoryTokenizer };
  const engine = await openModel(source, world, directory);
  if (resumed !== null) await restore(engine, resumed);
  world.log(
    `${config.env_type} · N=${config.n_values.join(', ')} · ${schedule.batches} steps · learning_rate=${settings.learningRate}`,
  );
  const recipe = new WarmupTrainer({ config, settings }, engine, resumed);
  const job = { world, directory, schedule, recipe, start: resumed?.batch ?? 0 };
  const ending: Ending = isComplete(resumed, schedule) ? { kind: 'finished' } : await runRecipe(job);
  if (ending.kind === 'finished') {
    if (config.preview_samples) await preview(config, engine, world.log);
    await verify(config, engine, world.log);
  }
  return ending;
}

class WarmupTrainer implements Recipe {
  readonly engine: Engine;
  readonly #config: WarmupConfig;
  readonly #settings: Settings;
  #random: Rng;
  #done: number;
  #nll = { sum: 0, steps: 0 };
  #lastNll: number | null = null;

  constructor(
    { config, settings }: { config: WarmupConfig; settings: Settings },
    engine: Engine,
    resumed: Resumed | null,
  ) {
    this.engine = engine;
    this.#config = config;
    this.#settings = settings;
    this.#random = rng(config.seed, 'warm-up answers');
    this.#done = resumed?.batch ?? 0;
    if (resumed !== null) this.#restore(resumed.state);
  }

  state(): unknown {
    return { random: this.#random.state(), nll: { ...this.#nll } };
  }

  progress(step: number): Row {
    return { 'optim/lr': this.#learningRate(step), 'optim/updates': step };
  }

  async evaluate(): Promise<Row> {
    const uniformity = await measure(this.#config, this.engine, this.#config.n_values[0]!);
    return { 'warmup/valid_rate': uniformity.validRate, 'warmup/entropy_ratio': uniformity.entropyRatio };
  }

  enough(): null {
    return null;
  }

  async step(step: number): Promise<void> {
    const { nll } = await crossEntropy(this.engine, this.#settings.answers.at(step, this.#random));
    if (step >= this.#settings.answers.steps - this.#settings.calibrated)
      await calibrate(this.engine, this.#answersToCalibrate());
    requireFinite(nll, 'the loss', step);
    const gradientNorm = await this.engine.adam({ ...adam, learningRate: this.#learningRate(step) });
    requireFinite(gradientNorm, 'the norm of the gradient', step);
    this.#done = step + 1;
    this.#lastNll = nll;
    this.#nll.sum += nll;
    this.#nll.steps++;
  }

  statistics(): Row {
    const { sum, steps } = this.#nll;
    this.#nll = { sum: 0, steps: 0 };
    return steps === 0 ? {} : { train_mean_nll: sum / steps, 'optim/loss': sum / steps };
  }

  words(): string {
    return `nll ${this.#lastNll?.toFixed(4) ?? '–'} after ${this.#done} updates`;
  }

  #answersToCalibrate(): Calibrated[] {
    const { env_type: kind, n_values: sizes, answer_format: format } = this.#config;
    return sizes.flatMap((N) =>
      kind === 'single_step' ? numbersToCalibrate(N, 8, this.#random, format) : bitsToCalibrate(N, this.#random),
    );
  }

  #restore(state: unknown): void {
    const random = z.tuple([z.int(), z.int(), z.int(), z.int()]);
    const saved = z.object({ random, nll: z.object({ sum: z.number(), steps: z.int() }) }).parse(state);
    this.#random = resumeRng(saved.random);
    this.#nll = saved.nll;
  }

  #learningRate(step: number): number {
    const { warmup_steps: rise, lr_schedule: schedule } = this.#config;
    const { learningRate, answers } = this.#settings;
    return learningRate * (riseMultiplier(step, rise) * lrMultiplier(schedule, step, answers.steps));
  }
}

async function preview(config: WarmupConfig, engine: Engine, log: (line: string) => void): Promise<void> {
  const usual = standard[config.env_type].preview;
  const asked = {
    kind: config.env_type,
    format: config.answer_format,
    count: config.preview_count ?? usual.count,
    temperature: config.preview_temperature ?? usual.temperature,
    maxTokens: config.preview_max_tokens ?? usual.maxTokens,
    seed: config.seed,
  };
  for (const N of config.n_values) log(await previewLine(engine, N, asked));
}

/** Measures every N, says what was found, and refuses a model whose answers are not even. */
async function verify(config: WarmupConfig, engine: Engine, log: (line: string) => void): Promise<void> {
  const named = config.check_secrets ?? [];
  const problems: string[] = [];
  for (const N of config.n_values) {
    const uniformity = await measure(config, engine, N);
    log(uniformityLine(uniformity));
    problems.push(...unevenness(uniformity, named));
  }
  if (problems.length === 0) return;
  throw new UserError(
    `The warm-up is not even enough to measure bits from: ${problems.join('; ')}.`,
    'Run it again in another log_path with more steps (n_batches) or another seed.',
  );
}

function measure(config: WarmupConfig, engine: Engine, N: number): Promise<Uniformity> {
  if (config.env_type === 'single_step') return numberUniformity(engine, N, config.answer_format);
  return bitUniformity(engine, N, config.check_secrets ?? []);
}

/**
 * What suffices for the gate with some reserve, measured for N from 16 to 4096 together. In the dense game the uniform
 * answers come when the learning rate is already low: at a high one they would also undo what the lessons are for.
 */
const standard = {
  single_step: {
    ...{ steps: 4500, batchSize: 64, learningRate: 2e-3, lessonShare: 0.1, calibrationShare: 0.5 },
    preview: { count: 20, temperature: 1, maxTokens: 8 },
  },
  multi_step: {
    ...{ steps: 2000, batchSize: 10, learningRate: 3e-3, lessonShare: 0.85, calibrationShare: 0.15 },
    preview: { count: 10, temperature: 0.1, maxTokens: 3 },
  },
};

type Settings = {
  readonly answers: Answers;
  readonly learningRate: number;
  /** The last steps, in which answers are also calibrated. */
  readonly calibrated: number;
};

function settingsOf(config: WarmupConfig): Settings {
  const usual = standard[config.env_type];
  const batchSize = config.batch_size ?? usual.batchSize;
  const learningRate = config.learning_rate ?? usual.learningRate;
  const share = (given: number | null, standardShare: number) => given ?? (config.data === 'file' ? 0 : standardShare);
  const calibratedOf = (steps: number) => Math.round(share(config.calibration_share, usual.calibrationShare) * steps);
  if (config.data === 'file') {
    const answers = answersOfFile(config, batchSize);
    return { answers, learningRate, calibrated: calibratedOf(answers.steps) };
  }
  const steps = config.n_batches ?? usual.steps;
  const lessons = Math.round(share(config.lesson_share, usual.lessonShare) * steps);
  const answers = drawnAnswers(config, { steps, batchSize, lessons });
  return { answers, learningRate, calibrated: calibratedOf(steps) };
}

/** How far from zero the bits known of any secret may be. */
const tolerance = 1.5;
const leastEntropyRatio = 0.97;
const leastValidRate = 0.99;

/** What is wrong with a warmed-up model for one N, in words; empty when it may be used. */
export function unevenness(
  { N, validRate, entropyRatio, bitsBySecret }: Uniformity,
  named: readonly number[],
): string[] {
  const problems: string[] = [];
  if (!(validRate >= leastValidRate))
    problems.push(`N=${N}: only ${percent(validRate)} of answers are valid (99 % needed)`);
  if (!(entropyRatio >= leastEntropyRatio)) {
    problems.push(`N=${N}: their entropy is ${percent(entropyRatio)} of log2 N (97 % needed)`);
  }
  const uneven = [...bitsBySecret].filter(([, known]) => !(Math.abs(known) <= tolerance));
  const asked = uneven.filter(([secret]) => named.includes(secret));
  if (uneven.length > asked.length) {
    problems.push(`N=${N}: ${uneven.length} of ${bitsBySecret.size} secrets are not within ±${tolerance} bits`);
  }
  for (const [secret, known] of asked) {
    problems.push(`N=${N}: ${known.toFixed(2)} bits of the secret ${secret} are known (within ±${tolerance} needed)`);
  }
  return problems;
}

/** `N=64: 99.8 % valid, entropy 99.9 % of log2 N, bits known -0.31 (secret 5) to 0.24 (secret 60)`. */
export function uniformityLine({ N, validRate, entropyRatio, bitsBySecret }: Uniformity): string {
  const sorted = [...bitsBySecret].sort((a, b) => a[1] - b[1]);
  const [least, most] = [sorted[0]!, sorted[sorted.length - 1]!];
  const bits = `bits known ${least[1].toFixed(2)} (secret ${least[0]}) to ${most[1].toFixed(2)} (secret ${most[0]})`;
  return `N=${N}: ${percent(validRate)} valid, entropy ${percent(entropyRatio)} of log2 N, ${bits}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}
