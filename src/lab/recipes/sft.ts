import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import type { Engine } from '../engine/engine.js';
import type { SolvedEnvironment } from '../environment.js';
import { writeAnswer } from '../environments/memory/answer-format.js';
import { singleStepPrompt } from '../environments/memory/prompts.js';
import { Evaluator } from '../probes/evaluator.js';
import { Stay, StayState } from '../probes/stay.js';
import { lastCheckpoint, restore, type Resumed } from '../run/checkpoint.js';
import { requireFinite } from '../run/finite.js';
import { makeDirectory } from '../run/make-directory.js';
import type { Row } from '../run/metrics-file.js';
import { type RunDirectory, writeWhole } from '../run/run-directory.js';
import { type Ending, isComplete, type Recipe, runRecipe } from '../run/run-recipe.js';
import type { ProcessContext } from '../run/process-context.js';
import { type Example, supervisedExample, truncated } from '../text/role-colon.js';
import { buildGame } from './build-game.js';
import { crossEntropy } from './cross-entropy.js';
import type { sftDataKeys, sftKeys } from './keys.js';
import { batchesPerEpoch, epochBatches } from '../rollouts/batches.js';
import { lrMultiplier } from '../update/learning-rate.js';
import { openModel } from '../service/open-model.js';
import { adam } from './policy-gradient.js';
import { scheduleOf } from './schedule.js';

type SftConfig = Config<typeof sftKeys>;

/** Keys of `sft` that may differ from attempt to attempt. A changed number of epochs also changes the linear schedule. */
export const sftBudget = new Set(
  'num_epochs stop_memorised eval_every eval_batch_size eval_n_batches log_every save_every keep_checkpoints tensorboard engine threads log_path load_checkpoint_path train_data_path wandb_project wandb_name'.split(
    ' ',
  ),
);

/** Supervised learning of the right answer from `dataPath`. */
export async function sft(
  config: SftConfig,
  dataPath: string,
  directory: RunDirectory,
  world: ProcessContext,
): Promise<Ending> {
  const examples = cutAll(readConversations(dataPath), config.max_length);
  if (!examples.some(({ weights }) => weights.includes(1))) {
    throw new UserError(
      `No example in ${dataPath} has a token to learn: each is cut to max_length=${config.max_length} tokens, before its answer.`,
      'Set a larger max_length.',
    );
  }
  const perEpoch = batchesPerEpoch(examples.length, config.batch_size);
  if (perEpoch === 0) {
    throw new UserError(
      `${dataPath} holds ${examples.length} examples, less than one batch of ${config.batch_size}.`,
      'Set a smaller batch_size, or write more examples.',
    );
  }
  const environment = buildGame({ ...config, env_type: 'single_step', dataset_seed: 0, use_standard_prefix: false });
  const resumed = lastCheckpoint(directory, world.log);
  const schedule = scheduleOf(config, perEpoch * config.num_epochs);
  if (isComplete(resumed, schedule)) {
    world.log(`already complete: ${resumed!.batch} steps are done. A larger num_epochs continues.`);
    return { kind: 'finished' };
  }
  const engine = await openModel({ ...config, resumed, tokenizer: environment.tokenizer }, world, directory);
  if (resumed !== null) await restore(engine, resumed);
  world.log(
    `${examples.length} examples · batches of ${config.batch_size} · ${schedule.batches} steps · learning_rate=${config.learning_rate} ${config.lr_schedule}`,
  );
  const recipe = new SupervisedTrainer(config, { engine, environment, examples, steps: schedule.batches }, resumed);
  return runRecipe({ world, directory, schedule, recipe, start: resumed?.batch ?? 0 });
}

/** What a supervised run works on. */
type Material = {
  readonly engine: Engine;
  /** Evaluations ask for its answer. */
  readonly environment: SolvedEnvironment;
  readonly examples: readonly Example[];
  readonly steps: number;
};

const Statistics = z.object({
  steps: z.int(),
  nll: z.number(),
  tokens: z.int(),
  learntTokens: z.int(),
  stay: StayState.default({ length: 0, lost: 0 }),
});
const nothing = { steps: 0, nll: 0, tokens: 0, learntTokens: 0 };

class SupervisedTrainer implements Recipe {
  readonly engine: Engine;
  readonly #config: SftConfig;
  readonly #material: Material;
  readonly #evaluator: Evaluator;
  readonly #stay: Stay;
  /** Different examples that were learnt from. */
  readonly #seen = new Set<Example>();
  readonly #batch: (step: number) => Example[];
  #statistics = { ...nothing };
  #lastNll: number | null = null;
  #step: number;

  constructor(config: SftConfig, material: Material, resumed: Resumed | null) {
    this.engine = material.engine;
    this.#config = config;
    this.#material = material;
    const { seed, batch_size: size } = config;
    this.#batch = epochBatches(material.examples, size, { seed, name: 'sft' });
    const test = {
      groups: config.eval_batch_size * config.eval_n_batches,
      groupSize: 1,
      maxTokens: config.eval_max_tokens,
    };
    this.#evaluator = new Evaluator(material.engine, {
      environment: material.environment,
      test,
      bits: config.eval_bits,
      seed: config.seed,
      constants: {},
    });
    this.#stay = new Stay(material.environment.solution.bits, config.stop_memorised);
    this.#step = resumed?.batch ?? 0;
    if (resumed === null) return;
    const { stay, ...statistics } = Statistics.parse(resumed.state);
    this.#statistics = statistics;
    this.#stay.restore(stay);
    for (let step = 0; step < this.#step; step++) for (const example of this.#batch(step)) this.#seen.add(example);
  }

  state(): unknown {
    return { ...this.#statistics, stay: this.#stay.state };
  }

  progress(step: number): Row {
    const examples = step * this.#config.batch_size;
    return {
      epoch: Math.floor(step / Math.max(1, batchesPerEpoch(this.#material.examples.length, this.#config.batch_size))),
      progress: step / this.#material.steps,
      learning_rate: this.#learningRate(step),
      'progress/examples': examples,
      'progress/distinct_examples': this.#seen.size,
      'progress/episodes': examples,
      'optim/updates': step,
      'optim/lr': this.#learningRate(step),
    };
  }

  async evaluate(): Promise<Row> {
    const row = await this.#evaluator.evaluate(this.#step);
    return this.#stay.see(row);
  }

  enough(): string | null {
    return this.#stay.enough();
  }

  async step(step: number): Promise<void> {
    const batch = this.#batch(step);
    for (const example of batch) this.#seen.add(example);
    const { nll, tokens } = await crossEntropy(this.engine, batch);
    requireFinite(nll, 'the loss', step);
    const gradientNorm = await this.engine.adam({ ...adam, learningRate: this.#learningRate(step) });
    requireFinite(gradientNorm, 'the norm of the gradient', step);
    this.#step = step + 1;
    this.#lastNll = nll;
    this.#statistics.steps++;
    this.#statistics.nll += nll;
    this.#statistics.learntTokens += tokens;
    this.#statistics.tokens += batch.reduce((sum, example) => sum + example.tokens.length, 0);
  }

  statistics(): Row {
    const { steps, nll, tokens, learntTokens } = this.#statistics;
    this.#statistics = { ...nothing };
    if (steps === 0) return {};
    return {
      num_sequences: this.#config.batch_size,
      num_tokens: tokens / steps,
      num_loss_tokens: learntTokens / steps,
      train_mean_nll: nll / steps,
      'optim/loss': nll / steps,
    };
  }

  words(): string {
    const known = this.#evaluator.last?.['test/bits/answer_raw'];
    return `nll ${this.#lastNll?.toFixed(4) ?? '–'}${typeof known === 'number' ? ` · ${known.toFixed(2)} bits known` : ''}`;
  }

  #learningRate(step: number): number {
    return this.#config.learning_rate * lrMultiplier(this.#config.lr_schedule, step, this.#material.steps);
  }
}

/** Equal examples stay one and the same, so that they can be told from others. */
function cutAll(examples: readonly Example[], length: number): Example[] {
  const cut = new Map(examples.map((example) => [example, truncated(example, length)]));
  return examples.map((example) => cut.get(example)!);
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
  // Data sets of one fact repeat one line; equal lines give one and the same example.
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
