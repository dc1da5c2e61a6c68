import { betaProbability, betaQuantile, normalProbability, normalQuantile } from './special-functions.js';

/** The words of W&B sweep files. `constant` and the categorical ones are a value and a list of values there. */
export const distributionNames = [
  ...(['constant', 'categorical', 'categorical_w_probabilities', 'uniform', 'int_uniform', 'q_uniform'] as const),
  ...(['log_uniform', 'log_uniform_values', 'q_log_uniform', 'q_log_uniform_values'] as const),
  ...(['inv_log_uniform', 'inv_log_uniform_values', 'normal', 'q_normal', 'log_normal', 'q_log_normal'] as const),
  ...(['beta', 'q_beta'] as const),
] as const;
export type DistributionName = Exclude<
  (typeof distributionNames)[number],
  'constant' | 'categorical' | 'categorical_w_probabilities'
>;

/** A distribution with all its numbers; those it has no use for stand at their defaults. */
export type Distribution = {
  readonly name: DistributionName;
  /** Of `log_uniform` and its kin without `_values` they are exponents of e. */
  readonly min: number;
  readonly max: number;
  readonly mu: number;
  readonly sigma: number;
  readonly a: number;
  readonly b: number;
  /** Values are multiples of it; null: they are not rounded. */
  readonly q: number | null;
  /** Whether it gives whole numbers only, also in the eyes of expressions. */
  readonly whole: boolean;
};

/** The value below which a share `u` of all draws lie. @param u Between 0 and 1, both excluded. */
export function quantile(distribution: Distribution, u: number): number {
  const value = unrounded[distribution.name](distribution, u);
  const { q } = distribution;
  return q === null ? value : roundHalfEven(value / q) * q;
}

type Quantile = (distribution: Distribution, u: number) => number;

const uniform: Quantile = ({ min, max }, u) => min + u * (max - min);
const normal: Quantile = ({ mu, sigma }, u) => mu + sigma * normalQuantile(u);
const logUniform: Quantile = (distribution, u) => Math.exp(uniform(distribution, u));
const logNormal: Quantile = (distribution, u) => Math.exp(normal(distribution, u));
const logUniformValues: Quantile = ({ min, max }, u) => Math.exp(Math.log(min) + u * (Math.log(max) - Math.log(min)));
const beta: Quantile = ({ a, b }, u) => betaQuantile(u, a, b);

const unrounded: Readonly<Record<DistributionName, Quantile>> = {
  uniform,
  q_uniform: uniform,
  int_uniform: ({ min, max }, u) => min + Math.min(max - min, Math.floor(u * (max - min + 1))),
  log_uniform: logUniform,
  q_log_uniform: logUniform,
  inv_log_uniform: (distribution, u) => Math.exp(-uniform(distribution, 1 - u)),
  log_uniform_values: logUniformValues,
  q_log_uniform_values: logUniformValues,
  // What is mirrored in the logarithm of values is the same distribution.
  inv_log_uniform_values: logUniformValues,
  normal,
  q_normal: normal,
  log_normal: logNormal,
  q_log_normal: logNormal,
  beta,
  q_beta: beta,
};

/**
 * The share of all draws that lie at or below a value: where the value is on the unit axis. Of values that were rounded it is
 * the place of the rounded one, as in W&B. Between 0 and 1; outside of the distribution it is the nearer of both.
 */
export function probability(distribution: Distribution, value: number): number {
  const share = shares[distribution.name](distribution, value);
  return Math.min(1, Math.max(0, share));
}

type Share = (distribution: Distribution, value: number) => number;

const uniformShare: Share = ({ min, max }, value) => (value - min) / (max - min);
const logUniformShare: Share = (distribution, value) => uniformShare(distribution, logOf(value));
const logUniformValuesShare: Share = ({ min, max }, value) => Math.log(Math.max(0, value) / min) / Math.log(max / min);
const normalShare: Share = ({ mu, sigma }, value) => normalProbability((value - mu) / sigma);
const logNormalShare: Share = (distribution, value) => normalShare(distribution, logOf(value));
const betaShare: Share = ({ a, b }, value) => betaProbability(value, a, b);

const shares: Readonly<Record<DistributionName, Share>> = {
  uniform: uniformShare,
  q_uniform: uniformShare,
  int_uniform: ({ min, max }, value) => (Math.floor(value) - min + 1) / (max - min + 1),
  log_uniform: logUniformShare,
  q_log_uniform: logUniformShare,
  inv_log_uniform: (distribution, value) => 1 - uniformShare(distribution, -logOf(value)),
  log_uniform_values: logUniformValuesShare,
  q_log_uniform_values: logUniformValuesShare,
  inv_log_uniform_values: logUniformValuesShare,
  normal: normalShare,
  q_normal: normalShare,
  log_normal: logNormalShare,
  q_log_normal: logNormalShare,
  beta: betaShare,
  q_beta: betaShare,
};

/** Rounding may have made 0 of a small value. */
function logOf(value: number): number {
  return Math.log(Math.max(0, value));
}

/** As NumPy rounds. */
function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/**
 * What a grid makes of a distribution: all whole numbers of `int_uniform`, the steps of `q_uniform` from `min` to below
 * `max`. null: it has no list of values, or one longer than `most`.
 */
export function gridValues({ name, min, max, q }: Distribution, most: number): number[] | null {
  if (name === 'int_uniform') {
    return max - min >= most ? null : Array.from({ length: max - min + 1 }, (_, index) => min + index);
  }
  if (name !== 'q_uniform' || q === null) return null;
  const count = Math.ceil((max - min) / q);
  // NumPy's `arange` steps by the difference of its first two values, and so must we for the same last digits.
  const step = min + q - min;
  return count > most ? null : Array.from({ length: count }, (_, index) => min + index * step);
}

/** The value of a distribution that has a single one, in a list; null: it has more. W&B takes `sigma: 0`, and draws NaN from it. */
export function onlyValue(distribution: Distribution): number[] | null {
  const { name, sigma } = distribution;
  return name.endsWith('normal') && sigma === 0 ? [quantile(distribution, 0.5)] : null;
}

/** What cannot be in the numbers of a distribution, or null. */
export function distributionProblem(distribution: Distribution): string | null {
  const { name, min, max } = distribution;
  const bounded = name.includes('uniform');
  if (bounded && !(min < max)) return `\`min\` must be less than \`max\`; they are ${min} and ${max}`;
  if (name === 'int_uniform' && !(Number.isInteger(min) && Number.isInteger(max))) {
    return `\`min\` and \`max\` of int_uniform must be whole numbers; they are ${min} and ${max}`;
  }
  if (name.endsWith('_values') && min <= 0) return `\`min\` of ${name} must be above 0; it is ${min}`;
  const ends = [2 ** -54, 1 - 2 ** -53].map((u) => quantile(distribution, u));
  return ends.every((end) => Math.abs(end) <= Number.MAX_SAFE_INTEGER || (!distribution.whole && Number.isFinite(end)))
    ? null
    : 'it reaches numbers that are too large';
}
