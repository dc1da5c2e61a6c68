/**
 * How often predictions of a change of the entropy were right over repetitions, with the true change measured on other
 * answers.
 */
import { shortNumber } from '../../../text/numbers.js';
import { total } from '../../probes/entropy-estimates.js';
import type { Experiment } from './experiment.js';

/** The two-sided 95 % quantile, in standard errors. */
const mostApart = 1.96;

/** Empty when prediction and truth are of the same answers. */
export function agreementLines(results: readonly Experiment[]): string[] {
  const found = results.flatMap(({ true: { entries } }) => entries.flatMap(({ z }) => z ?? []));
  if (found.length === 0) return [];
  const within = (name: keyof (typeof found)[number]) => found.filter((z) => Math.abs(z[name]) < mostApart).length;
  return [
    `truth and prediction within ${mostApart} of their errors: ${within('plain')} of ${found.length}; with control variates ${within('controlled')}; without the change of lengths ${within('without_denominator')}`,
    ...ruleLines(results),
  ];
}

/** The first order and the covariance rule beside the truth at the lowest learning rate, over repetitions. */
function ruleLines(results: readonly Experiment[]): string[] {
  const measured = results.map(({ approx, covariance, true: { entries } }) => {
    const lowest = entries.filter(({ eta }) => eta > 0).sort((a, b) => a.eta - b.eta)[0];
    return {
      truth: (lowest?.delta_h_controlled ?? NaN) / (lowest?.eta ?? NaN),
      ...{ 'first order': approx.delta_h_per_lr, 'without the change of lengths': approx.without_denominator },
      ...{ 'covariance rule': covariance.token, 'covariance rule, weighted': covariance.token_weighted },
    };
  });
  const truth = measured.map((each) => each.truth);
  const names = [
    'first order',
    'without the change of lengths',
    'covariance rule',
    'covariance rule, weighted',
  ] as const;
  return names.map((name) => {
    const predictions = measured.map((each) => each[name]);
    const right = predictions.filter((value, at) => Math.sign(value) === Math.sign(truth[at]!)).length;
    return `${name}: the sign of ΔH in ${right} of ${predictions.length}${correlationText(predictions, truth)}`;
  });
}

/** The correlation with the 95 % interval of Fisher's transformation; empty for fewer than four pairs. */
function correlationText(x: readonly number[], y: readonly number[]): string {
  if (x.length < 4) return '';
  const [meanX, meanY] = [total(x) / x.length, total(y) / y.length];
  const product = (a: readonly number[], b: readonly number[], meanA: number, meanB: number) =>
    a.reduce((sum, each, at) => sum + (each - meanA) * (b[at]! - meanB), 0);
  const r = product(x, y, meanX, meanY) / Math.sqrt(product(x, x, meanX, meanX) * product(y, y, meanY, meanY));
  const width = mostApart / Math.sqrt(x.length - 3);
  const [low, high] = [Math.tanh(Math.atanh(r) - width), Math.tanh(Math.atanh(r) + width)];
  return `; correlation with it ${shortNumber(r)} (95 %: ${shortNumber(low)} … ${shortNumber(high)})`;
}
