import { total, type ScoredSequence } from '../../../src/lab/probes/entropy-estimates.js';
import { numbers } from '../engine/models.js';

/** Tokens 0, 1, 2, of which 0 ends a sequence; at most three tokens. */
const most = 3;
/** What each next token gets after a prefix, in twelfths: so that a multiset of 12³ sequences has the exact distribution. */
const shares = [
  [6, 3, 3],
  [2, 8, 2],
  [1, 5, 6],
  [4, 4, 4],
  [3, 1, 8],
  [5, 5, 2],
  [8, 2, 2],
];

/** θ has this many numbers; prefixes share them, so that one step moves all. */
export const parameters = 8;

type Sequence = readonly number[];

/** The score of token u after a prefix: its log-share, and θ by features that are fixed and different everywhere. */
function scores(prefix: Sequence, theta: readonly number[]): number[] {
  const place = prefix.reduce((index, token) => index * 2 + token, 0);
  const random = numbers(100 + place);
  return shares[place]!.map((share) => Math.log(share) + theta.reduce((sum, t) => sum + t * (random() - 0.5), 0));
}

function logprobsAfter(prefix: Sequence, theta: readonly number[]): number[] {
  const z = scores(prefix, theta);
  const log = Math.log(z.reduce((sum, each) => sum + Math.exp(each), 0));
  return z.map((each) => each - log);
}

/** Every sequence of the policy at θ = 0, as often as its share of 12³ is. */
export const everySequence: readonly Sequence[] = extend([], 12 ** most);

function extend(prefix: Sequence, copies: number): Sequence[] {
  if (prefix.length === most || prefix.at(-1) === 0) return Array.from({ length: copies }, () => prefix);
  const place = prefix.reduce((index, token) => index * 2 + token, 0);
  return shares[place]!.flatMap((share, token) => extend([...prefix, token], (copies * share) / 12));
}

export function scored(sequence: Sequence, theta: readonly number[]): ScoredSequence {
  const rows = sequence.map((token, at) => ({ token, logprobs: logprobsAfter(sequence.slice(0, at), theta) }));
  return {
    logprobs: Float64Array.from(rows, ({ token, logprobs }) => logprobs[token]!),
    entropies: Float64Array.from(rows, ({ logprobs }) =>
      logprobs.reduce((sum, each) => sum - Math.exp(each) * each, 0),
    ),
  };
}

export const atZero: readonly number[] = Array.from({ length: parameters }, () => 0);
export const direction: readonly number[] = Array.from({ length: parameters }, (_, at) => numbers(at + 1)() * 2 - 1);
export const along = (step: number): number[] => direction.map((each) => each * step);

/** Derivatives of the scores of a sequence along the direction. */
export function slopesOf(sequence: Sequence): ScoredSequence {
  const h = 1e-5;
  const [up, down] = [scored(sequence, along(h)), scored(sequence, along(-h))];
  return {
    logprobs: Float64Array.from(up.logprobs as Float64Array, (each, at) => (each - down.logprobs[at]!) / (2 * h)),
    entropies: Float64Array.from(up.entropies as Float64Array, (each, at) => (each - down.entropies[at]!) / (2 * h)),
  };
}

/** Entropy of the policy by its definition, and the mean length, over all sequences with their probabilities at θ. */
export function exactly(theta: readonly number[]): { readonly perSequence: number; readonly perToken: number } {
  const distinct = [...new Map(everySequence.map((sequence) => [sequence.join(), sequence])).values()];
  let [entropy, length] = [0, 0];
  for (const sequence of distinct) {
    const log = total(scored(sequence, theta).logprobs);
    entropy -= Math.exp(log) * log;
    length += Math.exp(log) * sequence.length;
  }
  return { perSequence: entropy, perToken: entropy / length };
}
