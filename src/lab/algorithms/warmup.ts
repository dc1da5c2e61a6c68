/**
 * Teaches a fresh model to answer with a valid number, or valid bits, all equally likely; so that reinforcement
 * learning afterwards measures the secret and not the format.
 *
 * First come curriculum tasks, one temporary secret after another; then answers drawn uniformly; at last rare answers
 * are also made as likely as they should be.
 */
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { type Config, key } from '../config/key.js';
import { foreignKeys, logPath, loraKeys, modelName, runKeyNames, runKeys, seed } from '../config/run-keys.js';
import { bool, float, int, ints, oneOf, orNone } from '../config/value-type.js';
import type { AnswerFormat } from '../environments/memory/answer-format.js';
import { bitsToCalibrate, calibrate, type Calibrated, numbersToCalibrate } from '../environments/memory/calibration.js';
import * as memory from '../environments/memory/keys.js';
import {
  type MemoryEnvironment,
  multiStepEnvironment,
  singleStepEnvironment,
} from '../environments/memory/memory-environment.js';
import {
  bitUniformity,
  numberUniformity,
  unevenness,
  type Uniformity,
  uniformityLine,
} from '../environments/memory/uniformity.js';
import { type Answers, answersOfFile, drawnAnswers } from '../environments/memory/warmup-answers.js';
import { resumeRng, rng, type Rng } from '../rng.js';
import { type Player, rollOut, type Rollout } from '../rollouts/rollouts.js';
import type { Means, Row } from '../run/metrics-file.js';
import { writeWhole } from '../run/run-directory.js';
import { type Ending, restoredState, type Run, runTraining, scheduleOf, type Training } from '../run/runner.js';
import type { EngineService } from '../service/engine-service.js';
import { openService } from '../service/open-model.js';
import { endingId, memoryTokenizer } from '../text/memory-vocabulary.js';
import { response } from '../text/role-colon.js';
import { cookbookAdam, lrMultiplier, riseMultiplier, schedules } from '../update/update.js';
import { checkedStep, learnExamples } from '../update/supervised.js';

/** `memrl warmup`. */
export const warmupKeys = {
  env_type: memory.envType,
  answer_format: memory.answerFormat,
  n_values: key(ints(2), [16, 64, 256, 1024, 4096], 'sizes of secret space to learn the format of'),
  n_batches: key(orNone(int(0)), null, 'steps; None: 4500 for single_step, 2000 for multi_step'),
  batch_size: key(
    orNone(int(1)),
    null,
    'answers per step, spread over n_values; None: 64 for single_step, 10 for multi_step',
  ),
  learning_rate: key(
    orNone(float(0)),
    null,
    'peak learning rate of Adam (betas 0.9, 0.95); None: 2e-3 for single_step, 3e-3 for multi_step',
  ),
  lesson_share: key(
    orNone(float(0)),
    null,
    'share of the steps, the first ones, that teach temporary secrets; None: 0.1 for single_step, 0.85 for multi_step',
  ),
  calibration_share: key(
    orNone(float(0)),
    null,
    'share of the steps, the last ones, that also make rare answers as likely as they should be; None: 0.5 for single_step, 0.15 for multi_step',
  ),
  lesson_steps: key(int(1), 60, 'steps for which such a secret stays the same'),
  warmup_steps: key(int(0), 20, 'steps in which the learning rate rises; after them it only falls, linearly, to 0'),
  check_secrets: key(orNone(ints(0)), null, 'secrets that must be near zero bits at the end, each for the N above it'),
  eval_every: key(int(0), 500, 'steps between checks of the first N, 0 for none'),
  log_every: key(int(1), 10, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 0, 'steps between checkpoints, 0 for only the last'),
  log_path: logPath,
  model_name: modelName,
  ...runKeys,
  seed,
  data: key(
    oneOf(['drawn', 'file']),
    'drawn',
    'answers drawn afresh for each step; or a file of examples as memory-rl makes it, written into the run directory and learnt from',
  ),
  data_seed: key(int(0, 2 ** 32 - 1), 1337, 'shuffles the file, as Python would'),
  min_examples: key(
    orNone(int(1)),
    null,
    'examples of each N in the file, at least; None: 800 for single_step, 500 for multi_step',
  ),
  examples_per_value: key(
    orNone(int(1)),
    null,
    'examples of each answer in the file, at least; None: 32 for single_step, 20 for multi_step',
  ),
  num_epochs: key(int(1), 1, 'passes over the file'),
  max_length: key(int(1), 512, 'maximum tokens of an example of the file; longer ones are truncated'),
  lr_schedule: key(oneOf(schedules), 'linear', 'learning-rate schedule, after the rise'),
  preview_samples: key(bool, false, 'sample answers at the end, and report how many are valid and how many different'),
  preview_count: key(orNone(int(1)), null, 'samples of each N; None: 20 for single_step, 10 for multi_step'),
  preview_temperature: key(
    orNone(float(0)),
    null,
    'temperature of the samples; None: 1 for single_step, 0.1 for multi_step',
  ),
  preview_max_tokens: key(
    orNone(int(1)),
    null,
    'maximum tokens of a sampled answer; None: 8 for single_step, 3 for multi_step',
  ),
  ...loraKeys,
  ...foreignKeys,
};
type WarmupConfig = Config<typeof warmupKeys>;

export const warmupBudget = new Set([
  ...'check_secrets preview_samples preview_count preview_temperature preview_max_tokens'.split(' '),
  ...['eval_every', 'log_every', 'save_every', 'log_path', ...runKeyNames],
]);

/**
 * Defaults that pass the final check with some reserve, measured for N from 16 to 4096 together. In the multi-step
 * environment the uniform answers come when the learning rate is already low: at a high one they would also undo what
 * the curriculum tasks taught.
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

/**
 * Trains a model to give answers of the right format, all equally likely.
 * @throws UserError with the measured values when the answers are not equally likely enough to measure bits from.
 */
export async function warmup(config: WarmupConfig, run: Run): Promise<Ending> {
  const { context, directory } = run;
  const settings = settingsOf(config);
  const { steps, file } = settings.answers;
  if (file !== null) {
    writeWhole(join(directory.path, file.name), file.text);
    file.lines.forEach(context.log);
  }
  const schedule = scheduleOf(config, config, steps);
  const source = { ...config, load_checkpoint_path: null, tokenizer: memoryTokenizer };
  const service = await openService(source, run);
  const training = new Warmup(config, { ...settings, service }, run);
  const ending = await runTraining(async () => training, schedule, run);
  if (ending.kind === 'finished') {
    if (config.preview_samples) await preview(config, service, context.log);
    await verify(config, service, context.log);
  }
  return ending;
}

type Settings = {
  readonly answers: Answers;
  readonly learningRate: number;
  /** Number of last steps in which answers are also calibrated. */
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

type WarmupParts = Settings & { readonly service: EngineService };

const SavedState = z.looseObject({ random: z.tuple([z.int(), z.int(), z.int(), z.int()]) });

class Warmup implements Training {
  readonly algorithm = 'warmup';
  readonly service: EngineService;
  readonly announcement: readonly string[];
  readonly #config: WarmupConfig;
  readonly #parts: WarmupParts;
  /** The stream that draws the answers. */
  #random: Rng;
  #done: number;
  #lastNll: number | null = null;

  constructor(config: WarmupConfig, parts: WarmupParts, run: Run) {
    const { answers, learningRate } = parts;
    this.service = parts.service;
    this.announcement = [
      `${config.env_type} · N=${config.n_values.join(', ')} · ${answers.steps} steps · learning_rate=${learningRate}`,
    ];
    this.#config = config;
    this.#parts = parts;
    const saved = restoredState(run, SavedState, this.algorithm);
    this.#random = saved === null ? rng(config.seed, 'warm-up answers') : resumeRng(saved.random);
    this.#done = run.resumed?.batch ?? 0;
  }

  async step(step: number, row: Means): Promise<void> {
    const { answers, calibrated } = this.#parts;
    const { nll } = await learnExamples(this.service, answers.at(step, this.#random));
    if (step >= answers.steps - calibrated) await calibrate(this.service, this.#answersToCalibrate());
    await checkedStep(this.service, { nll, step }, { ...cookbookAdam, learningRate: this.#learningRate(step) });
    this.#done = step + 1;
    this.#lastNll = nll;
    row.addAll({ train_mean_nll: nll, 'optim/loss': nll });
  }

  progress(step: number): Row {
    return { 'optim/lr': this.#learningRate(step), 'optim/updates': step };
  }

  async evaluate(): Promise<Row> {
    const { validRate, entropyRatio } = await measure(this.#config, this.service, this.#config.n_values[0]!);
    return { 'warmup/valid_rate': validRate, 'warmup/entropy_ratio': entropyRatio };
  }

  state() {
    return { random: this.#random.state() };
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

  #learningRate(step: number): number {
    const { warmup_steps: rise, lr_schedule: schedule } = this.#config;
    const { learningRate, answers } = this.#parts;
    return learningRate * (riseMultiplier(step, rise) * lrMultiplier(schedule, step, answers.steps));
  }
}

async function preview(config: WarmupConfig, service: EngineService, log: (line: string) => void): Promise<void> {
  const usual = standard[config.env_type].preview;
  const asked = {
    kind: config.env_type,
    format: config.answer_format,
    count: config.preview_count ?? usual.count,
    temperature: config.preview_temperature ?? usual.temperature,
    maxTokens: config.preview_max_tokens ?? usual.maxTokens,
    seed: config.seed,
  };
  for (const N of config.n_values) log(await previewLine(service, N, asked));
}

/**
 * Measures how equally likely the answers are for every N, and logs the measured values.
 * @throws UserError when the answers are not equally likely enough.
 */
async function verify(config: WarmupConfig, service: EngineService, log: (line: string) => void): Promise<void> {
  const named = config.check_secrets ?? [];
  const problems: string[] = [];
  for (const N of config.n_values) {
    const uniformity = await measure(config, service, N);
    log(uniformityLine(uniformity));
    problems.push(...unevenness(uniformity, named));
  }
  if (problems.length === 0) return;
  throw new UserError(
    `The answers of the warm-up are not uniform enough to measure bits: ${problems.join('; ')}.`,
    'Run it again in another log_path with more steps (n_batches) or another seed.',
  );
}

function measure(config: WarmupConfig, service: EngineService, N: number): Promise<Uniformity> {
  if (config.env_type === 'single_step') return numberUniformity(service, N, config.answer_format);
  return bitUniformity(service.engine, N, config.check_secrets ?? []);
}

/** Sampling settings of the preview. `count`: samples of each N. */
type Preview = {
  readonly kind: 'single_step' | 'multi_step';
  readonly format: AnswerFormat;
  readonly count: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed: number;
};

/** A line about a warmed-up model's answers for a number below N, or for its bits. */
async function previewLine(service: Player['service'], N: number, preview: Preview): Promise<string> {
  const random = rng(preview.seed, `preview/${N}`);
  const line = preview.kind === 'single_step' ? numbersLine : bitsLine;
  return `N=${N}: ${await line(service, N, preview, random)}`;
}

/** `20 samples · 19 legal, 1 out of range, 0 no number · 18 different, 4.11 bits of 4.25`. */
async function numbersLine(service: Player['service'], N: number, preview: Preview, random: Rng): Promise<string> {
  const environment = singleStepEnvironment({ N, secret: 0, prefix: [], format: preview.format }, { type: 'binary' });
  const episodes = await sample(service, environment, preview, random);
  const counts = new Map<number, number>();
  let outside = 0;
  for (const { turns } of episodes) {
    const value = environment.reading(turns);
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    else if (/^\s*[0-9]+\s*$/.test(response(turns[0]!.tokens, endingId).text)) outside++;
  }
  const legal = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const entropy = [...counts.values()].reduce((sum, count) => sum - (count / legal) * Math.log2(count / legal), 0);
  const most = Math.log2(Math.max(1, Math.min(N, legal)));
  return [
    `${episodes.length} samples`,
    `${legal} legal, ${outside} out of range, ${episodes.length - legal - outside} no number`,
    `${counts.size} different, ${entropy.toFixed(2)} bits of ${most.toFixed(2)}`,
  ].join(' · ');
}

/** Whole conversations, each against a secret of its own: `10 conversations · 100.0 % of bits legal · 51.2 % right · 0 whole`. */
async function bitsLine(service: Player['service'], N: number, preview: Preview, random: Rng): Promise<string> {
  const sums = { turns: 0, legal: 0, right: 0, whole: 0 };
  for (let index = 0; index < preview.count; index++) {
    const environment = multiStepEnvironment({ N, secret: random.below(N), prefix: [] });
    const [episode] = await sample(service, environment, { ...preview, count: 1 }, random);
    for (const { metrics } of episode!.rewards) {
      sums.turns++;
      sums.legal += 1 - metrics!['format_error']!;
      sums.right += metrics!['correct_bit']!;
      sums.whole += metrics!['success_count']!;
    }
  }
  const percent = (count: number) => `${((100 * count) / sums.turns).toFixed(1)} %`;
  return `${preview.count} conversations · ${percent(sums.legal)} of bits legal · ${percent(sums.right)} right · ${sums.whole} whole`;
}

async function sample(
  service: Player['service'],
  environment: MemoryEnvironment,
  preview: Preview,
  random: Rng,
): Promise<Rollout[]> {
  const { count: copies, temperature, maxTokens } = preview;
  const options = { copies, sampling: { maxTokens, temperature }, streams: 'shared' } as const;
  return (await rollOut({ service, environment }, [environment.task()], options, random)).flat();
}
