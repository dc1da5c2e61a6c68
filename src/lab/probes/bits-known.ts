import type { Environment, Task } from '../environments/environment.js';
import type { KnownSolution } from '../environments/memory/memory-environment.js';
import { taskOf } from '../rollouts/rollouts.js';
import type { Row } from '../run/metrics-file.js';
import type { TrainingService } from '../service/service.js';

/** Information about the secret in the weights, in bits; 0 for a uniform guess, log2 N when it is memorised. */
type BitsKnown = {
  /** Counted as in memory-rl: over every trained token of the right answer, ends of messages included. */
  readonly 'test/bits/known_raw_mean': number;
  readonly 'test/bits/known_raw_std': number;
  readonly 'test/bits/known_clamped_mean': number;
  readonly 'test/bits/known_clamped_std': number;
  /** Sum of the log-probabilities of the tokens that `known_raw_mean` counts, in nats. */
  readonly 'test/bits/target_logprob_mean': number;
  readonly 'test/bits/target_logprob_std': number;
  /** Counted over the tokens of the answer alone: the number and its end, or the bits. */
  readonly 'test/bits/answer_raw': number;
  readonly 'test/bits/answer_clamped': number;
};

/**
 * Teacher forcing: one forward pass over the right answer. One is enough, since every copy of it would have the same
 * score (memory-rl averages hundreds of copies).
 */
export async function bitsKnown(
  service: Pick<TrainingService, 'forward'>,
  solution: KnownSolution,
): Promise<BitsKnown> {
  const { tokens, weights, answerWeights, bits: most } = solution;
  const start = weights.indexOf(1);
  const datum = { prompt: tokens.slice(0, start), tokens: tokens.slice(start), weights: weights.slice(start) };
  const [logprobs] = (await service.forward([datum])) as [Float32Array];
  const all = weightedSum(logprobs, weights, start);
  const raw = bits(all, most);
  // The spread over identical copies is 0. In memory-rl it is the spread of the server's results for such copies.
  const spread = 0;
  const answer = bits(weightedSum(logprobs, answerWeights, start), most);
  return {
    'test/bits/known_raw_mean': raw,
    'test/bits/known_raw_std': spread,
    'test/bits/known_clamped_mean': clampBits(raw, most),
    'test/bits/known_clamped_std': spread,
    'test/bits/target_logprob_mean': all,
    'test/bits/target_logprob_std': spread,
    'test/bits/answer_raw': answer,
    'test/bits/answer_clamped': clampBits(answer, most),
  };
}

/** Bits gained over a uniform guess, which lacks `most` bits, by an answer of this natural log-probability. */
export function bits(logprob: number, most: number): number {
  return most + logprob / Math.LN2;
}

function clampBits(raw: number, most: number): number {
  return Math.min(most, Math.max(0, raw));
}

function weightedSum(logprobs: Float32Array, weights: Uint8Array, start: number): number {
  let sum = 0;
  for (let at = 0; at < logprobs.length; at++) if (weights[start + at] === 1) sum += logprobs[at]!;
  return sum;
}

/** The most tasks whose answers are measured one by one. */
const mostTasks = 100;

/**
 * Information about all answers of an environment in the weights, in bits, and the probability of each right answer.
 * Empty unless the environment has a known number of tasks whose answers have a size in bits.
 *
 * Teacher forcing: one forward pass over the right answers, ends included.
 */
export async function answersKnown(
  service: Pick<TrainingService, 'forward'>,
  environment: Environment,
  seed: number,
): Promise<Row> {
  if (environment.size > mostTasks || environment.solution === undefined) return {};
  const tasks = Array.from({ length: environment.size }, (_, at) => taskOf(environment, at, { seed, name: 'task' }));
  const asked = tasks.flatMap((task) => knownAnswer(environment, task));
  if (asked.length < tasks.length) return {};
  const logprobs = await service.forward(asked.map(({ datum }) => datum));
  const measured = asked.map(({ id, most }, at) => {
    const logprob = logprobs[at]!.reduce((sum, each) => sum + each, 0);
    return { id, most, known: Math.min(most, Math.max(0, bits(logprob, most))), accuracy: Math.exp(logprob) };
  });
  const sum = (of: (each: (typeof measured)[number]) => number) => measured.reduce((all, each) => all + of(each), 0);
  return {
    'test/answers/bits_known': sum(({ known }) => known),
    'test/answers/known': sum(({ known, most }) => Number(known >= 0.95 * most)),
    'test/answers/accuracy': sum(({ accuracy }) => accuracy) / measured.length,
    ...Object.fromEntries(measured.map(({ id, accuracy }) => [`test/answers/accuracy/${id}`, accuracy])),
  };
}

function knownAnswer(environment: Environment, task: Task) {
  const solution = environment.solution!(task);
  if (solution === null || solution.bits === null) return [];
  const { tokens, weights, bits: most } = solution;
  const from = task.prompt.length;
  return [
    { id: task.id, most, datum: { prompt: task.prompt, tokens: tokens.slice(from), weights: weights.slice(from) } },
  ];
}
