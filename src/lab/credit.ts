export const credits = ['trajectory', 'stepwise', 'to_go'] as const;

/** Which rewards a turn is credited with: all of the episode, its own, or its own and all later ones. */
export type Credit = (typeof credits)[number];

export const scales = ['none', 'std'] as const;

/** Whether advantages are divided by how much the credits of their group differ. */
export type Scale = (typeof scales)[number];

/** Added to the deviation, as in TRL: nearly equal rewards do not make large advantages. */
const leastDeviation = 1e-4;

/**
 * Advantages of one group: each credit minus the group's mean of it; divided by the group's standard deviation of it (of a
 * sample: over one less than its size) when `scale` says so, as GRPO does and Dr. GRPO does not.
 *
 * @param rewards_GK One row per episode of the group, one reward per turn; all rows equally long.
 * @returns The same shape.
 */
export function advantages(
  rewards_GK: readonly (readonly number[])[],
  credit: Credit,
  scale: Scale = 'none',
): number[][] {
  const credited_GK = rewards_GK.map((rewards) => credited(rewards, credit));
  const turns = rewards_GK[0]?.length ?? 0;
  const mean_K = Array.from({ length: turns }, (_, turn) => {
    const sum = credited_GK.reduce((total, row) => total + row[turn]!, 0);
    return sum / rewards_GK.length;
  });
  const differences_GK = credited_GK.map((row) => row.map((value, turn) => exactDifference(value, mean_K[turn]!)));
  return scale === 'none' ? differences_GK : scaled(differences_GK);
}

function scaled(differences_GK: readonly (readonly number[])[]): number[][] {
  const turns = differences_GK[0]?.length ?? 0;
  const deviation_K = Array.from({ length: turns }, (_, turn) => {
    const squares = differences_GK.reduce((sum, row) => sum + row[turn]! ** 2, 0);
    return Math.sqrt(squares / Math.max(1, differences_GK.length - 1));
  });
  return differences_GK.map((row) => row.map((value, turn) => value / (deviation_K[turn]! + leastDeviation)));
}

function credited(rewards: readonly number[], credit: Credit): number[] {
  if (credit === 'stepwise') return [...rewards];
  if (credit === 'trajectory') return rewards.map(() => rewards.reduce((sum, reward) => sum + reward, 0));
  const toGo = [...rewards];
  for (let turn = toGo.length - 2; turn >= 0; turn--) toGo[turn]! += toGo[turn + 1]!;
  return toGo;
}

/** Zero when the difference is only rounding: the mean of three equal rewards need not be that reward. */
function exactDifference(value: number, mean: number): number {
  const difference = value - mean;
  return Math.abs(difference) < 1e-12 ? 0 : difference;
}
