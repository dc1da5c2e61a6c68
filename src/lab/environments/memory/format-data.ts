import { bitLength } from './rules.js';
import { pythonRandom } from '../../python-random.js';
import { type AnswerFormat, writeAnswer } from './answer-format.js';
import { dialogue } from './memory-environment.js';
import { type Message, singleStepPrompt } from './prompts.js';
import { secretBits } from './secret.js';

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
export const formatFile = { single_step: 'format_train.jsonl', multi_step: 'format_train_multi_step.jsonl' } as const;

/** Number of examples for N: every value at least `examplesPerValue` times. */
export function formatCount(N: number, { minExamples, examplesPerValue }: FormatData): number {
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
