import type { Engine } from '../engine/engine.js';
import { type AnswerFormat, answerWidth, nextShare, writeAnswer } from '../environments/memory/answer-format.js';
import { bitsExample, numberExample } from '../environments/memory/uniform-answers.js';
import { bitLength } from '../../analysis/memory-rules.js';
import type { Rng } from '../rng.js';
import type { Example } from '../text/role-colon.js';

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
 * Forward and backward of how far the log-probabilities are from their targets: the mean over the tokens of the Huber loss, in
 * nats, which is half the square up to 1 and linear beyond. Adds to the gradient in the engine.
 *
 * The cross-entropy of sampled answers has its minimum at the same place, but hardly pulls there: an answer that one in a thousand
 * gives is in one gradient of a thousand. Here an answer counts as much as any other whenever it is asked for.
 */
export async function calibrate(engine: Engine, answers: readonly Calibrated[]): Promise<number> {
  const groups = answers.map(({ example: { tokens, weights } }) => {
    const start = weights.indexOf(1);
    return { prompt: tokens.slice(0, start), continuations: [tokens.slice(start)] };
  });
  const { logprobs } = await engine.forward(groups);
  const targets = answers.flatMap(targetsByToken);
  const learnt = targets.filter((target) => target !== null).length;
  const slope = new Float32Array(logprobs.length);
  let loss = 0;
  targets.forEach((target, at) => {
    if (target === null) return;
    const distance = logprobs[at]! - target;
    slope[at] = Math.max(-1, Math.min(1, distance)) / learnt;
    loss += Math.abs(distance) <= 1 ? distance ** 2 / 2 : Math.abs(distance) - 0.5;
  });
  await engine.backward(slope, null);
  return loss / learnt;
}

/** One for each token of the continuation; null where it is not the model that speaks. */
function targetsByToken({ example: { weights }, targets }: Calibrated): (number | null)[] {
  let at = 0;
  return [...weights.subarray(weights.indexOf(1))].map((weight) => (weight === 0 ? null : targets[at++]!));
}
