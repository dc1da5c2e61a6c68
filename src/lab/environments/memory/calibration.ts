import { bitLength } from './rules.js';
import { distance } from '../../objectives/objectives.js';
import type { Rng } from '../../rng.js';
import type { Datum, TrainingService } from '../../service/service.js';
import type { Example } from '../../text/role-colon.js';
import { type AnswerFormat, answerWidth, nextShare, writeAnswer } from './answer-format.js';
import { bitsExample, numberExample } from './uniform-answers.js';

/** An answer, and the log-probability (natural) that each of its tokens has when all answers are equally likely. */
export type Calibrated = { readonly example: Example; readonly targets: readonly number[] };

/**
 * Numbers below N to be made equally likely: a quarter of them uniform, a quarter of a random length and then of a
 * random value, a quarter mirrored to the upper end, and a quarter about the values where answers cannot become longer
 * (102 and 103 below 1024). So prefixes that few answers have are trained as well.
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

/** Targets of each digit, of the end, and of the format's tail, which is certain. */
function numberTargets(value: number, N: number, format: AnswerFormat): number[] {
  const written = writeAnswer(value, N, format);
  const digits = [...written].map((digit, at) => Math.log(nextShare(written.slice(0, at), digit, N, format)));
  return [...digits, Math.log(nextShare(written, '', N, format)), 0];
}

/**
 * Adds the gradient of the Huber loss between log-probabilities and their targets, in nats: the mean over the tokens.
 *
 * The cross-entropy of sampled answers has its minimum at the same place, but hardly pulls there: an answer of
 * probability 1/1000 is in one gradient of a thousand. Here every drawn answer counts equally.
 */
export async function calibrate(service: TrainingService, answers: readonly Calibrated[]): Promise<number> {
  const learnt = answers.reduce((sum, { targets }) => sum + targets.length, 0);
  const { loss } = await service.forwardBackward(answers.map(datumOf), { objective: distance, divisor: learnt });
  return loss;
}

/** Only the model's own tokens have targets; the others have weight 0. */
function datumOf({ example: { tokens, weights }, targets }: Calibrated): Datum {
  const start = weights.indexOf(1);
  const said = weights.subarray(start);
  let at = 0;
  const logprobs = Array.from(said, (weight) => (weight === 0 ? 0 : targets[at++]!));
  return { prompt: tokens.slice(0, start), tokens: tokens.slice(start), weights: said, logprobs };
}
