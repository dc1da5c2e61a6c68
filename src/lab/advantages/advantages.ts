/** Advantages: how rewards of episodes become a number per turn. */

export const advantageEstimators = ['trajectory', 'stepwise', 'to_go'] as const;

/** Rewards credited to a turn: all of the episode, the turn's own, or its own and all later ones. */
export type AdvantageEstimator = (typeof advantageEstimators)[number];

export const scales = ['none', 'std'] as const;

/** Whether advantages are divided by the standard deviation of their group. */
export type Scale = (typeof scales)[number];

/** Added to the deviation, as in TRL: nearly equal rewards do not make large advantages. */
const leastDeviation = 1e-4;

/**
 * Advantages of one group: each credit minus the group's mean; divided by the group's standard deviation (of a sample:
 * over one less than its size) when `scale` says so, as GRPO does and Dr. GRPO does not. An episode that has ended
 * earns nothing in later turns.
 *
 * @param rewards_GK One row per episode of the group, one reward per turn.
 * @returns The same shape.
 */
export function advantages(
  rewards_GK: readonly (readonly number[])[],
  estimator: AdvantageEstimator,
  scale: Scale = 'none',
): number[][] {
  let turns = 0;
  for (const { length } of rewards_GK) turns = Math.max(turns, length);
  const rows_GK: number[][] = [];
  for (const rewards of rewards_GK) rows_GK.push(creditsPerTurn(rewards, turns, estimator));
  for (let turn = 0; turn < turns; turn++) compare(rows_GK, turn, scale);
  rows_GK.forEach((row, index) => (row.length = rewards_GK[index]!.length));
  return rows_GK;
}

/** Turns all credits of one turn into advantages, in place. */
function compare(rows_GK: readonly number[][], turn: number, scale: Scale): void {
  let [sum, squares] = [0, 0];
  for (const row of rows_GK) sum += row[turn]!;
  const mean = sum / rows_GK.length;
  for (const row of rows_GK) {
    const difference = exactDifference(row[turn]!, mean);
    row[turn] = difference;
    squares += difference ** 2;
  }
  if (scale === 'none') return;
  const deviation = Math.sqrt(squares / Math.max(1, rows_GK.length - 1));
  for (const row of rows_GK) row[turn]! /= deviation + leastDeviation;
}

/** The credit of each turn, padded to `turns`. */
function creditsPerTurn(rewards: readonly number[], turns: number, estimator: AdvantageEstimator): number[] {
  const own = [...rewards];
  while (own.length < turns) own.push(0);
  if (estimator === 'stepwise') return own;
  if (estimator === 'trajectory') return own.fill(rewards.reduce((sum, reward) => sum + reward, 0));
  for (let turn = turns - 2; turn >= 0; turn--) own[turn]! += own[turn + 1]!;
  return own;
}

/** The difference, or zero when it is only rounding error: the mean of three equal rewards need not equal them. */
function exactDifference(value: number, mean: number): number {
  const difference = value - mean;
  return Math.abs(difference) < 1e-12 ? 0 : difference;
}

/** All arrays have an entry for each token of an episode. `generated`: true, or not 0, for the policy's tokens. */
type Scored = {
  /** Log-probability of the token when it was sampled. */
  readonly q: ArrayLike<number>;
  /** Log-probability of the token under the reference model. */
  readonly base: ArrayLike<number>;
  readonly generated: ArrayLike<number | boolean>;
};

/** `advantages`: number to add to the advantage of each token. `distance`: mean of q − base over tokens, in nats. */
type Penalties = { readonly advantages: Float64Array[]; readonly distance: number };

/**
 * The KL penalty of tinker-cookbook: a token that the reference finds less likely than the mean token of the batch
 * loses advantage, and another gains, so that the sum is zero. With a discount γ above 0, later tokens count for a
 * token too: Σ γᵏ x₍ₜ₊ₖ₎.
 *
 * Only the policy's tokens are trained. (With a discount, tinker-cookbook also trains tokens of the environment.)
 */
export function klPenalties(
  episodes: readonly Scored[],
  { coefficient, discount }: { coefficient: number; discount: number },
): Penalties {
  let [sum, count] = [0, 0];
  const differences = episodes.map(({ q, base, generated }) =>
    Array.from(q, (logprob, at) => {
      if (!generated[at]) return 0;
      count++;
      return logprob - base[at]!;
    }),
  );
  for (const row of differences) for (const difference of row) sum += difference;
  const distance = sum / count;
  const added = episodes.map(({ generated }, episode) => {
    const own = differences[episode]!.map((difference, at) =>
      generated[at] ? coefficient * (distance - difference) : 0,
    );
    const summed = discount === 0 ? Float64Array.from(own) : discountedSums(own, discount);
    return summed.map((value, at) => (generated[at] ? value : 0));
  });
  return { advantages: added, distance };
}

/** Σ γᵏ x₍ₜ₊ₖ₎ for each t. */
export function discountedSums(values: readonly number[], discount: number): Float64Array {
  const sums = Float64Array.from(values);
  for (let at = sums.length - 2; at >= 0; at--) sums[at]! += discount * sums[at + 1]!;
  return sums;
}
