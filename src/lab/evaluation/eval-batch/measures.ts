/**
 * Measures of the answers to one prompt: the columns of RL_Practice's evaluation, and the unbiased pass@k beside that
 * of the first k.
 */
import { mean, quantile } from '../../../analysis/statistics.js';
import type { ScoredSequence } from '../../probes/entropy-estimates.js';

/** An answer: whether it is right and has the format, and tokens of its thought. */
type AnswerOutcome = { readonly isCorrect: boolean; readonly isFormed: boolean; readonly thought: number };

const passKs = [1, 2, 4, 8] as const;

/**
 * A row of `metrics.csv`, without its prompt. Entropies and surprisals are in nats, over all tokens of all answers, of
 * the distribution they were drawn from before `top_p`.
 *
 * @param scores Scores of the answers, in their order.
 * @returns columns of pass@k only when there are k answers.
 */
export function measuresOf(
  answers: readonly AnswerOutcome[],
  scores: readonly ScoredSequence[],
): Readonly<Record<string, number>> {
  const right = answers.filter(({ isCorrect }) => isCorrect).length;
  const formed = answers.filter(({ isFormed }) => isFormed).length;
  const known = passKs.filter((k) => k <= answers.length);
  const lengths = answers.map(({ thought }) => thought);
  return {
    tag_ok_ave: formed / answers.length,
    tag_ok_any: Number(formed > 0),
    pass_rate: right / answers.length,
    ...entriesOf(known, (k) => [`pass@${k}`, Number(answers.slice(0, k).some(({ isCorrect }) => isCorrect))]),
    ...entriesOf(known, (k) => [`pass@${k}_unbiased`, passAt(k, { right, all: answers.length })]),
    ...{ len_min: Math.min(...lengths), len_max: Math.max(...lengths) },
    ...{ len_mean: mean(lengths)!, len_std: spread(lengths) },
    ...spreadOf(
      'surp',
      scores.flatMap(({ logprobs }) => Array.from(logprobs, (logprob) => -logprob)),
    ),
    ...spreadOf(
      'ent',
      scores.flatMap(({ entropies }) => [...entropies]),
    ),
  };
}

/** The unbiased estimator of the chance that one of k answers is right, 1 − C(n − c, k)/C(n, k) (Chen et al. 2021, arXiv 2107.03374). */
export function passAt(k: number, { right, all }: { readonly right: number; readonly all: number }): number {
  let none = 1;
  for (let at = 0; at < k; at++) none *= Math.max(0, all - right - at) / (all - at);
  return 1 - none;
}

function entriesOf(known: readonly number[], of: (k: number) => readonly [string, number]): Record<string, number> {
  return Object.fromEntries(known.map(of));
}

/** Values that are not finite are left out; NaN when none is left. */
function spreadOf(name: string, values: readonly number[]): Record<string, number> {
  const finite = values.filter(Number.isFinite).sort((a, b) => a - b);
  const isEmpty = finite.length === 0;
  return {
    [`${name}_mean`]: mean(finite) ?? NaN,
    [`${name}_std`]: isEmpty ? NaN : spread(finite),
    [`${name}_max`]: finite.at(-1) ?? NaN,
    [`${name}_p95`]: isEmpty ? NaN : quantile(finite, 0.95),
  };
}

/** The standard deviation of a population. */
function spread(values: readonly number[]): number {
  const centre = mean(values)!;
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2))!);
}
