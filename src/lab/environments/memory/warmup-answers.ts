import { UserError } from '../../../base/user-error.js';
import { pythonRandom } from '../../python-random.js';
import { rng, type Rng } from '../../rng.js';
import { epochBatches, someBatches } from '../../rollouts/rollouts.js';
import { type Example, supervisedExample, truncated } from '../../text/role-colon.js';
import { bitLength, signalBits } from './rules.js';
import { type AnswerFormat, writeAnswer } from './answer-format.js';
import { bitsExample, numberExample, uniformBits, uniformNumbers } from './uniform-answers.js';
import { dialogue } from './memory-environment.js';
import { type Message, singleStepPrompt } from './prompts.js';
import { secretBits } from './secret.js';

type Kind = 'single_step' | 'multi_step';

/** The keys that choose the examples. */
type WarmupConfig = {
  readonly env_type: Kind;
  readonly n_values: readonly number[];
  readonly answer_format: AnswerFormat;
  readonly lesson_steps: number;
  readonly seed: number;
  readonly n_batches: number | null;
  readonly num_epochs: number;
  readonly max_length: number;
  readonly min_examples: number | null;
  readonly examples_per_value: number | null;
  readonly data_seed: number;
};

/** The examples of a warm-up, step by step. */
export type Answers = {
  readonly steps: number;
  /** @param random The stream for answers that are drawn; examples of a file do not use it. */
  readonly at: (step: number, random: Rng) => Example[];
  /**
   * The file of the examples, to be kept with the run: its name, its text, and lines about it; null when there is
   * none.
   */
  readonly file: { readonly name: string; readonly text: string; readonly lines: readonly string[] } | null;
};

/** @param steps, batchSize, lessons As resolved for a warm-up whose answers are drawn. */
export function drawnAnswers(
  { env_type: kind, n_values: sizes, lesson_steps: lessonSteps, seed, answer_format: format }: WarmupConfig,
  { steps, batchSize, lessons }: { readonly steps: number; readonly batchSize: number; readonly lessons: number },
): Answers {
  const bits = sizes.reduce((sum, N) => sum + signalBits(N), 0);
  const share = (N: number) => Math.max(1, Math.round((batchSize * signalBits(N)) / bits));
  const at = (step: number, random: Rng): Example[] => {
    if (step < lessons) {
      const passing = Math.floor(step / lessonSteps);
      // Multi-step conversations are long: there the sizes alternate.
      const taught = kind === 'single_step' ? sizes : [sizes[passing % sizes.length]!];
      return taught.map((N) => lesson(kind, N, `${seed}/${passing}`, format));
    }
    return sizes.flatMap((N) =>
      kind === 'single_step' ? uniformNumbers(N, share(N), random, format) : uniformBits(N, share(N), random),
    );
  };
  return { steps, at, file: null };
}

/**
 * The answers of memory-rl's warm-up: a file with every answer the same number of times, shuffled anew in each epoch;
 * an incomplete last batch is left out.
 *
 * @throws UserError when the file has less than one batch, or when `n_batches` is set.
 */
export function answersOfFile(config: WarmupConfig, batchSize: number): Answers {
  if (config.n_batches !== null) {
    throw new UserError(
      `n_batches=${config.n_batches} does not go with data=file, whose length num_epochs says.`,
      'Leave n_batches out, or set data=drawn.',
    );
  }
  const data = formatDataOf(config);
  const records = formatRecords(data);
  const perEpoch = someBatches('The file', records.length, batchSize, 'more min_examples');
  const trained = data.kind === 'single_step' ? 'last assistant message' : 'all assistant messages';
  const batchOf = epochBatches(records, batchSize, { seed: config.seed, name: 'warm-up' });
  const at = (step: number): Example[] =>
    batchOf(step).map(({ messages }) => truncated(supervisedExample(messages, trained), config.max_length));
  const lines = data.sizes.map((N) => {
    const count = formatCount(N, data);
    return `N=${N}: ${count} examples (at least ${Math.floor(count / N)} of each answer)`;
  });
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  return { steps: perEpoch * config.num_epochs, at, file: { name: formatFile[data.kind], text, lines } };
}

/** Counts of memory-rl's two warm-up scripts. */
const standard = {
  single_step: { minExamples: 800, examplesPerValue: 32 },
  multi_step: { minExamples: 500, examplesPerValue: 20 },
};

function formatDataOf(config: WarmupConfig): FormatData {
  const kind = config.env_type;
  return {
    kind,
    sizes: config.n_values,
    minExamples: config.min_examples ?? standard[kind].minExamples,
    examplesPerValue: config.examples_per_value ?? standard[kind].examplesPerValue,
    seed: config.data_seed,
    format: config.answer_format,
  };
}

/**
 * A curriculum task: a temporary secret, and its right answer. A warm-up begins with such tasks: one secret after
 * another is learnt and replaced by the next. Nothing of them is left after the uniform answers that follow, but the
 * model has become one in which a fact can be learnt: in the multi-step environment, one that tells bit 3 from bit 7.
 * A model warmed up on uniform answers alone has no reason to, and then learns its bits together or not at all.
 *
 * @param name The same name and N give the same secret.
 */
export function lesson(kind: Kind, N: number, name: string, format: AnswerFormat = 'decimal'): Example {
  const random = rng(N, `lesson/${name}`);
  if (kind === 'single_step') return numberExample(N, random.below(N), format);
  const bits = Array.from({ length: bitLength(N) }, () => random.below(2));
  return bitsExample(N, bits);
}

/** A line of the file: a conversation with a valid answer. */
type FormatRecord = {
  readonly split: 'train';
  readonly metadata: { readonly N: number; secret?: number; secret_bits?: string; num_bits?: number };
  readonly messages: readonly Message[];
};

export type FormatData = {
  readonly kind: 'single_step' | 'multi_step';
  readonly sizes: readonly number[];
  /** Minimum number of examples for each N. */
  readonly minExamples: number;
  readonly examplesPerValue: number;
  /** 0 … 2³²−1. */
  readonly seed: number;
  readonly format: AnswerFormat;
};

/** Name of the file that memory-rl writes into the run directory. */
const formatFile = { single_step: 'format_train.jsonl', multi_step: 'format_train_multi_step.jsonl' } as const;

/** Number of examples for N: every value at least `examplesPerValue` times. */
function formatCount(N: number, { minExamples, examplesPerValue }: FormatData): number {
  return Math.max(minExamples, examplesPerValue * N);
}

/**
 * The examples of memory-rl's format warm-up, in its order: for each N the values 0 … N−1 over and over up to the
 * count, shuffled by Python's `random.Random(seed)`, whose state carries over from N to N.
 */
export function formatRecords(data: FormatData): FormatRecord[] {
  const random = pythonRandom(data.seed);
  return data.sizes.flatMap((N) => {
    const values = Array.from({ length: formatCount(N, data) }, (_, index) => index % N);
    random.shuffle(values);
    return values.map((value) =>
      data.kind === 'single_step' ? numberRecord(N, value, data.format) : bitsRecord(N, value),
    );
  });
}

function numberRecord(N: number, value: number, format: AnswerFormat): FormatRecord {
  const answer: Message = { role: 'assistant', content: writeAnswer(value, N, format) };
  return { split: 'train', metadata: { N }, messages: [singleStepPrompt(N), answer] };
}

function bitsRecord(N: number, secret: number): FormatRecord {
  const bits = secretBits(secret, N);
  const metadata = { N, secret, secret_bits: bits.join(''), num_bits: bitLength(N) };
  return { split: 'train', metadata, messages: dialogue(N, bits) };
}
