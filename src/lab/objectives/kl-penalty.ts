/** `said`: whether the model said the token. All three have an entry for each token of an episode. */
type Scored = {
  /** Log-probability with which it was sampled. */
  readonly q: ArrayLike<number>;
  /** The same by the reference. */
  readonly base: ArrayLike<number>;
  readonly said: readonly boolean[];
};

/** What is added to the advantage of each token, and how far the sampler was from the reference: mean of q − base, nats per token. */
type Penalties = { readonly advantages: Float64Array[]; readonly distance: number };

/**
 * The source system's KL penalty: a token that the reference finds less likely than the mean token of the batch loses advantage, and
 * another gains, so that nothing is added in total. With a discount γ above 0, a token is told of those after it, too: Σ γᵏ x₍ₜ₊ₖ₎.
 *
 * Only what the model said is trained. (Discounted, the source system also trains what it was told.)
 */
export function klPenalties(
  episodes: readonly Scored[],
  { coefficient, discount }: { coefficient: number; discount: number },
): Penalties {
  const differences = episodes.map(({ q, base, said }) => said.map((is, at) => (is ? q[at]! - base[at]! : 0)));
  const count = episodes.reduce((sum, { said }) => sum + said.filter(Boolean).length, 0);
  const distance = differences.flat().reduce((sum, difference) => sum + difference, 0) / count;
  const advantages = episodes.map(({ said }, episode) => {
    const own = said.map((is, at) => (is ? coefficient * (distance - differences[episode]![at]!) : 0));
    const summed = discount === 0 ? Float64Array.from(own) : discountedSums(own, discount);
    return summed.map((value, at) => (said[at] ? value : 0));
  });
  return { advantages, distance };
}

/** Σ γᵏ x₍ₜ₊ₖ₎ for each t. */
export function discountedSums(values: readonly number[], discount: number): Float64Array {
  const sums = Float64Array.from(values);
  for (let at = sums.length - 2; at >= 0; at--) sums[at]! += discount * sums[at + 1]!;
  return sums;
}
