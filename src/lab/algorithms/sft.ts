/** Supervised learning of the secret, the reference for what a learner could know; and the examples for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { inertKey, key, type Config } from '../config/key.js';
import {
  foreignKeys,
  memoryLoadPath,
  logPath,
  loraKeys,
  modelName,
  runKeyNames,
  runKeys,
  seed,
} from '../config/run-keys.js';
import { float, int, oneOf, orNone, text } from '../config/value-type.js';
import { writeAnswer } from '../environments/memory/answer-format.js';
import type { Environment } from '../environments/environment.js';
import { isMemoryEnvironment } from '../environments/memory/memory-environment.js';
import * as memory from '../environments/memory/keys.js';
import { singleStepPrompt } from '../environments/memory/prompts.js';
import { Evaluator } from '../probes/evaluator.js';
import { Stay, StayState } from '../probes/stay.js';
import { batchesPerEpoch, epochBatches, taskOf } from '../rollouts/rollouts.js';
import type { Companions } from '../run/companion-files.js';
import { makeDirectory } from '../run/make-directory.js';
import type { Means, Row } from '../run/metrics-file.js';
import { writeWhole } from '../run/run-directory.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { EngineService } from '../service/engine-service.js';
import { supervisedExample, truncated, type Example } from '../text/role-colon.js';
import { cookbookAdam, lrMultiplier, schedules } from '../update/update.js';
import { checkedStep, learnExamples } from '../update/supervised.js';
import { openRunEnvironment, openRunPolicy } from './run-policy.js';
import { probeKey } from './own-parts.js';
import { descentKeys, environmentKeys } from './train-settings.js';

/** `memrl sft`. */
export const sftKeys = {
  ...environmentKeys,
  num_examples: key(
    int(1),
    1000,
    'number of right answers to train on: those of the first tasks of an environment other than memory',
  ),
  N: memory.N,
  fixed_secret: key(int(0), 0, 'the secret that evaluations ask for'),
  ...memory.rewardKeys,
  answer_format: memory.answerFormat,
  answer_parsing: memory.answerParsing,
  train_data_path: key(orNone(text), null, 'JSON lines with messages; None: where sft-data writes by default'),
  load_checkpoint_path: memoryLoadPath,
  learning_rate: {
    ...key(
      float(0),
      2e-4,
      'learning rate of Adam (betas 0.9, 0.95), at the first step. Left out, with a warm-up by name: 6.4e-3',
    ),
    follows: true,
  },
  lr_schedule: key(oneOf(schedules), 'linear', 'learning-rate schedule'),
  num_epochs: {
    ...key(int(0), 1, 'passes over the data, where max_steps is None. Left out, with a warm-up by name: 4'),
    follows: true,
  },
  max_steps: key(orNone(int(0)), null, 'steps; None: as many as num_epochs make'),
  stop_memorised: memory.stopMemorised,
  batch_size: key(int(1), 128, 'examples per step; the loss is the mean over their tokens'),
  eval_every: key(int(0), 1, 'steps between evaluations, 0 for none'),
  eval_batch_size: key(int(1), 64, 'test episodes per batch'),
  eval_n_batches: key(int(0), 10, 'batches of test episodes per evaluation'),
  eval_max_tokens: key(int(1), 8, 'maximum tokens of an answer'),
  eval_bits: memory.testBits,
  max_length: key(int(1), 2048, 'maximum tokens of an example; longer ones are truncated'),
  probe: probeKey,
  ...descentKeys,
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  save_every: key(int(0), 0, 'steps between checkpoints, 0 for only the last'),
  log_path: logPath,
  model_name: modelName,
  ...runKeys,
  seed,
  ...loraKeys,
  ...foreignKeys,
};
type SftConfig = Config<typeof sftKeys>;

/**
 * Defaults for `tiny` with its warm-up: of twelve secrets below 64 each is known to 5.6 bits or more after the 28
 * steps of 1,000 examples.
 */
export const suitedSft = { learning_rate: 6.4e-3, num_epochs: 4 };

/** Keys that may differ from attempt to attempt. A changed number of epochs also changes the linear schedule. */
export const sftBudget = new Set([
  ...'num_epochs max_steps stop_memorised eval_every eval_batch_size eval_n_batches log_every save_every'.split(' '),
  ...['log_path', 'load_checkpoint_path', 'train_data_path', ...runKeyNames],
]);

/** Runs from the first step, or resumes from the run's last checkpoint. */
export async function sft(config: SftConfig, dataPath: string, run: Run): Promise<Ending> {
  const asked = { env_type: 'single_step', dataset_seed: 0, use_standard_prefix: false, reward: null } as const;
  const played = await openRunEnvironment({ ...config, ...asked }, run);
  const { environment } = played;
  const examples = isMemoryEnvironment(environment) ? examplesIn(dataPath, config) : answersOf(environment, config);
  const perEpoch = batchesPerEpoch(examples.length, config.batch_size);
  const schedule = scheduleOf(config, config, config.max_steps ?? perEpoch * config.num_epochs);
  const test = {
    groups: config.eval_batch_size * config.eval_n_batches,
    groupSize: 1,
    maxTokens: config.eval_max_tokens,
  };
  const evaluation = { environment, test, bits: config.eval_bits, seed: config.seed, constants: {} };
  const stay = new Stay(
    isMemoryEnvironment(environment) ? environment.solution().bits : Infinity,
    config.stop_memorised,
  );
  const open = async () => {
    const player = await openRunPolicy(config, played, run);
    if (typeof player === 'string') return player;
    const { service, companions, probes } = player;
    const evaluator = new Evaluator(service, { ...evaluation, probes });
    return new Sft(config, { service, examples, evaluator, stay, companions, steps: schedule.batches }, run);
  };
  return runTraining(open, schedule, run, 'A larger num_epochs continues.');
}

type SftParts = {
  readonly service: EngineService;
  readonly examples: readonly Example[];
  readonly evaluator: Evaluator;
  readonly stay: Stay;
  readonly companions: Companions | undefined;
  /** Optimizer steps of the whole run. */
  readonly steps: number;
};

class Sft implements Training {
  readonly algorithm = 'sft';
  readonly service: EngineService;
  readonly companions: Companions | undefined;
  readonly announcement: readonly string[];
  readonly #config: SftConfig;
  readonly #parts: SftParts;
  readonly #batch: (step: number) => Example[];
  /** Distinct examples that were trained on. */
  readonly #seen = new Set<Example>();
  #lastNll: number | null = null;

  constructor(config: SftConfig, parts: SftParts, run: Run) {
    const { learning_rate: rate, lr_schedule: schedule, batch_size: size } = config;
    const { examples, steps } = parts;
    this.service = parts.service;
    this.companions = parts.companions;
    this.announcement = [
      `${examples.length} examples · batches of ${size} · ${steps} steps · learning_rate=${rate} ${schedule}`,
    ];
    this.#config = config;
    this.#parts = parts;
    this.#batch = epochBatches(examples, size, { seed: config.seed, name: 'sft' });
    const saved = restoredState(
      run,
      z.looseObject({ stay: StayState.default({ length: 0, lost: 0 }) }),
      this.algorithm,
    );
    if (saved !== null) parts.stay.restore(saved.stay);
    for (let step = 0; step < (run.resumed?.batch ?? 0); step++) this.#note(this.#batch(step));
  }

  async step(step: number, row: Means): Promise<void> {
    const batch = this.#batch(step);
    const { nll, tokens } = await learnExamples(this.service, batch);
    await checkedStep(this.service, { nll, step }, { ...cookbookAdam, learningRate: this.#learningRate(step) });
    this.#note(batch);
    this.#lastNll = nll;
    row.addAll({
      num_sequences: batch.length,
      num_tokens: batch.reduce((sum, example) => sum + example.tokens.length, 0),
      num_loss_tokens: tokens,
      train_mean_nll: nll,
      'optim/loss': nll,
    });
  }

  progress(step: number): Row {
    const examples = step * this.#config.batch_size;
    return {
      epoch: Math.floor(step / Math.max(1, batchesPerEpoch(this.#parts.examples.length, this.#config.batch_size))),
      progress: step / this.#parts.steps,
      learning_rate: this.#learningRate(step),
      'progress/examples': examples,
      'progress/distinct_examples': this.#seen.size,
      'progress/episodes': examples,
      'optim/updates': step,
      'optim/lr': this.#learningRate(step),
    };
  }

  async evaluate(step: number): Promise<Row> {
    return this.#parts.stay.see(await this.#parts.evaluator.evaluate(step));
  }

  enough(): string | null {
    return this.#parts.stay.enough();
  }

  state() {
    return { stay: this.#parts.stay.state };
  }

  words(): string {
    const known = this.#parts.evaluator.last?.['test/bits/answer_raw'];
    return `nll ${this.#lastNll?.toFixed(4) ?? '–'}${typeof known === 'number' ? ` · ${known.toFixed(2)} bits known` : ''}`;
  }

  #note(batch: readonly Example[]): void {
    for (const example of batch) this.#seen.add(example);
  }

  #learningRate(step: number): number {
    return this.#config.learning_rate * lrMultiplier(this.#config.lr_schedule, step, this.#parts.steps);
  }
}

/**
 * Right answers of an environment's first tasks.
 * @throws UserError when the environment has no answers, or too few tasks.
 */
function answersOf(environment: Environment, { num_examples: wanted, batch_size: size, seed }: SftConfig): Example[] {
  const count = Math.min(wanted, environment.size);
  const examples = Array.from({ length: count }, (_, index) => {
    const solution = environment.solution?.(taskOf(environment, index, { seed, name: 'task' })) ?? null;
    if (solution !== null) return { tokens: solution.tokens, weights: solution.weights };
    throw new UserError(
      `The environment ${environment.name} has no right answers, which sft needs to train on.`,
      'Give it a function `answer`, or let memrl train learn from rewards.',
    );
  });
  if (count >= size) return examples;
  throw new UserError(`${count} tasks are less than one batch of ${size}.`, 'Set a smaller batch_size.');
}

function examplesIn(path: string, { max_length: length, batch_size: size }: SftConfig): Example[] {
  const read = readConversations(path);
  // Equal examples stay one object, so that distinct ones can be counted.
  const cut = new Map(read.map((example) => [example, truncated(example, length)]));
  const examples = read.map((example) => cut.get(example)!);
  if (!examples.some(({ weights }) => weights.includes(1))) {
    throw new UserError(
      `No example in ${path} has a token to learn: each is cut to max_length=${length} tokens, before its answer.`,
      'Set a larger max_length.',
    );
  }
  if (examples.length >= size) return examples;
  throw new UserError(
    `${path} holds ${examples.length} examples, less than one batch of ${size}.`,
    'Set a smaller batch_size, or write more examples.',
  );
}

const Conversation = z.looseObject({
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .refine((messages) => messages.at(-1)?.role === 'assistant', 'the last message must be the assistant’s'),
});

/**
 * Reads JSON lines of `{"messages": […]}` as examples that train on the last answer.
 *
 * @throws UserError that names the file and the line.
 */
export function readConversations(path: string): Example[] {
  // Data sets of one fact repeat one line; equal lines become one object.
  const known = new Map<string, Example>();
  return readLines(path).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const example = known.get(line) ?? exampleOf(line, `${path}:${index + 1}`);
    known.set(line, example);
    return [example];
  });
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (cause) {
    throw new UserError(
      `The training data ${path} cannot be read.`,
      'Write it with memrl sft-data, or give its path as train_data_path.',
      { cause },
    );
  }
}

function exampleOf(line: string, where: string): Example {
  const parsed = Conversation.safeParse(parseJson(line));
  if (parsed.success) return supervisedExample(parsed.data.messages, 'last assistant message');
  const why = parsed.error.issues[0]?.message ?? 'unknown';
  throw new UserError(
    `${where} is not a conversation: ${why}.`,
    'Each line must be an object with `messages`, the last of them the assistant’s.',
  );
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** `memrl sft-data`: examples for `memrl sft`. */
export const sftDataKeys = {
  N: memory.N,
  answer_format: memory.answerFormat,
  fixed_secret: key(int(0), 0, 'the secret'),
  num_train: key(int(1), 1000, 'identical lines of train.jsonl'),
  num_test: key(int(1), 200, 'identical lines of test.jsonl'),
  output_dir: key(orNone(text), null, 'where to write; None: in the temp folder'),
  seed: inertKey(int(), 0, 'nothing is drawn'),
};

/** Writes `train.jsonl` and `test.jsonl`: the question and the right answer, over and over. */
export function writeSftData(config: Config<typeof sftDataKeys>, directory: string, log: (line: string) => void): void {
  const { N, fixed_secret: secret, answer_format: format } = config;
  if (secret >= N)
    throw new UserError(`The secret ${secret} is not in [0, ${N}).`, `Give fixed_secret a value from 0 to ${N - 1}.`);
  const line = `${JSON.stringify({ messages: [singleStepPrompt(N), { role: 'assistant', content: writeAnswer(secret, N, format) }] })}\n`;
  makeDirectory(directory, 'output_dir');
  writeWhole(join(directory, 'test.jsonl'), line.repeat(config.num_test));
  writeWhole(join(directory, 'train.jsonl'), line.repeat(config.num_train));
  log(`${config.num_train} + ${config.num_test} examples of the secret ${secret} below ${N} in ${directory}`);
}
