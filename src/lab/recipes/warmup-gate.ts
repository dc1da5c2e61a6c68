import type { Uniformity } from '../probes/uniformity.js';

/** How far from zero the bits known of a secret may be. */
const tolerance = 1.5;
const leastEntropyRatio = 0.97;
const leastValidRate = 0.99;
/** The share of secrets that must be within the tolerance; named ones must all be. */
const leastShare = 0.99;

/** What is wrong with a warmed-up model for one N, in words; empty when it may be used. */
export function unevenness(
  { N, validRate, entropyRatio, bitsBySecret }: Uniformity,
  named: readonly number[],
): string[] {
  const problems: string[] = [];
  if (!(validRate >= leastValidRate))
    problems.push(`N=${N}: only ${percent(validRate)} of answers are valid (99 % needed)`);
  if (!(entropyRatio >= leastEntropyRatio)) {
    problems.push(`N=${N}: their entropy is ${percent(entropyRatio)} of log2 N (97 % needed)`);
  }
  const even = [...bitsBySecret.values()].filter((known) => Math.abs(known) <= tolerance).length;
  if (even < leastShare * bitsBySecret.size) {
    problems.push(`N=${N}: only ${even} of ${bitsBySecret.size} secrets are within ±${tolerance} bits (99 % needed)`);
  }
  for (const secret of named) {
    const known = bitsBySecret.get(secret);
    if (known !== undefined && !(Math.abs(known) <= tolerance)) {
      problems.push(`N=${N}: ${known.toFixed(2)} bits of the secret ${secret} are known (within ±${tolerance} needed)`);
    }
  }
  return problems;
}

/** `N=64: 99.8 % valid, entropy 99.9 % of log2 N, bits known -0.31 (secret 5) to 0.24 (secret 60)`. */
export function uniformityLine({ N, validRate, entropyRatio, bitsBySecret }: Uniformity): string {
  const sorted = [...bitsBySecret].sort((a, b) => a[1] - b[1]);
  const [least, most] = [sorted[0]!, sorted[sorted.length - 1]!];
  const bits = `bits known ${least[1].toFixed(2)} (secret ${least[0]}) to ${most[1].toFixed(2)} (secret ${most[0]})`;
  return `N=${N}: ${percent(validRate)} valid, entropy ${percent(entropyRatio)} of log2 N, ${bits}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}
