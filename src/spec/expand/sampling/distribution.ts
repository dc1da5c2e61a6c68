import { betaProbability, betaQuantile, normalProbability, normalQuantile } from '../../../base/special-functions.js';

/** W&B's names of distributions. `constant` and the categorical ones stand for a value and a list of values. */
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

/** A distribution with all its numbers; unused ones have their defaults. */
export type Distribution = {
  readonly name: DistributionName;
  /** Bounds; for `log_uniform` and its relatives without `_values` they are exponents of e. */
  readonly min: number;
  readonly max: number;
  readonly mu: number;
  readonly sigma: number;
  readonly a: number;
  readonly b: number;
  /** Values are rounded to multiples of it; null: they are not rounded. */
  readonly q: number | null;
  /** Whether its values are whole numbers, also in expressions. */
  readonly whole: boolean;
};

/** The quantile of a distribution. @param u Between 0 and 1, both excluded. */
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
  // The distribution is symmetric in the logarithm of values, so mirroring does not change it.
  inv_log_uniform_values: logUniformValues,
  normal,
  q_normal: normal,
  log_normal: logNormal,
  q_log_normal: logNormal,
  beta,
  q_beta: beta,
};

/**
 * The share of all draws at or below a value: its place on the unit axis. Of a rounded value it is the place of that value itself,
 * as in W&B. Between 0 and 1, also outside the distribution.
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

/** The logarithm of a value, -Infinity at or below 0, which rounding may yield. */
function logOf(value: number): number {
  return Math.log(Math.max(0, value));
}

/** Rounds half to even, as NumPy does. */
function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/**
 * The values of a distribution in a grid: all whole numbers of `int_uniform`, the steps of `q_uniform` from `min` to below `max`.
 * Null: it has no list of values, or one longer than `most`.
 */
export function gridValues({ name, min, max, q }: Distribution, most: number): number[] | null {
  if (name === 'int_uniform') {
    return max - min >= most ? null : Array.from({ length: max - min + 1 }, (_, index) => min + index);
  }
  if (name !== 'q_uniform' || q === null) return null;
  const count = Math.ceil((max - min) / q);
  // NumPy's `arange` steps by the difference of its first two values, which gives the same last digits.
  const step = min + q - min;
  return count > most ? null : Array.from({ length: count }, (_, index) => min + index * step);
}

/** A list of the only value of a distribution; null: it has several. W&B accepts `sigma: 0`, and draws NaN from it. */
export function onlyValue(distribution: Distribution): number[] | null {
  const { name, sigma } = distribution;
  return name.endsWith('normal') && sigma === 0 ? [quantile(distribution, 0.5)] : null;
}

/** What is invalid in the numbers of a distribution, or null. */
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
