import { bitLength } from '../../../analysis/memory-rules.js';
import { distance } from '../../objectives/objectives.js';
import type { Rng } from '../../rng.js';
import type { Datum, TrainingService } from '../../service/service.js';
import type { Example } from '../../text/role-colon.js';
import { type AnswerFormat, answerWidth, nextShare, writeAnswer } from './answer-format.js';
import { bitsExample, numberExample } from './uniform-answers.js';

/** An answer, and the log-probability (natural) that each of its tokens has when all answers are equally likely. */
export type Calibrated = { readonly example: Example; readonly targets: readonly number[] };

/**
 * Numbers below N to be made equally likely: a quarter of them any, a quarter of a random length and only then of a random value,
 * a quarter as near to the upper end as those are to the lower, and a quarter about where answers cannot become longer (102 and
 * 103 below 1024). What few answers begin with is so not forgotten among the rest.
 */
export function numbersToCalibrate(N: number, count: number, random: Rng, format: AnswerFormat): Calibrated[] {
  return Array.from({ length: count }, (_, index) => {
    const small = random.below(Math.min(N, 10 ** (1 + random.below(answerWidth(N)))));
    const longest = Math.floor(N / 10 ** (1 + random.below(answerWidth(N)))) + random.below(5) - 2;
    const value = [random.below(N), small, N - 1 - small, Math.max(0, longest)][index % 4]!;
    return { example: numberExample(N, value, format), targets: numberTargets(value, N, format) };
  });
}

/** Random bits; each is 0 or 1 with the same probability. The end of an answer, and what follows it, is certain. */
export function bitsToCalibrate(N: number, random: Rng): Calibrated {
  const bits = Array.from({ length: bitLength(N) }, () => random.below(2));
  return { example: bitsExample(N, bits), targets: bits.flatMap(() => [-Math.LN2, 0]).concat(0) };
}

/** Of each digit, of the end and of what the format puts behind it, which is certain. */
function numberTargets(value: number, N: number, format: AnswerFormat): number[] {
  const written = writeAnswer(value, N, format);
  const digits = [...written].map((digit, at) => Math.log(nextShare(written.slice(0, at), digit, N, format)));
  return [...digits, Math.log(nextShare(written, '', N, format)), 0];
}

/**
 * Adds the gradient of how far the log-probabilities are from their targets: the mean over the tokens of the Huber loss, in nats.
 *
 * The cross-entropy of sampled answers has its minimum at the same place, but hardly pulls there: an answer that one in a thousand
 * gives is in one gradient of a thousand. Here an answer counts as much as any other whenever it is asked for.
 */
export async function calibrate(service: TrainingService, answers: readonly Calibrated[]): Promise<number> {
  const learnt = answers.reduce((sum, { targets }) => sum + targets.length, 0);
  const { loss } = await service.forwardBackward(answers.map(datumOf), { objective: distance, divisor: learnt });
  return loss;
}

/** Targets stand at the tokens that the model says; the others do not count. */
function datumOf({ example: { tokens, weights }, targets }: Calibrated): Datum {
  const start = weights.indexOf(1);
  const said = weights.subarray(start);
  let at = 0;
  const logprobs = Array.from(said, (weight) => (weight === 0 ? 0 : targets[at++]!));
  return { prompt: tokens.slice(0, start), tokens: tokens.slice(start), weights: said, logprobs };
}
