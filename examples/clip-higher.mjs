/**
 * An objective: PPO whose upper bound leaves more room than its lower one (Yu et al. 2025, "Clip-Higher"). Without `gradient` the lab
 * would find the derivative by differences.
 *
 *     npx memrl train environment=arithmetic objective=./examples/clip-higher.mjs num_substeps=2 model_name=micro learning_rate=3e-3 batch_size=4 max_tokens=4 n_batches=100 log_path=runs/clip-higher
 *
 * @type {import('memrl-tui/lab').OwnObjective}
 */
const clip = { low: 0.8, high: 1.28 };

export default {
  clip,
  loss: (lp, q, A) => {
    const ratio = Math.exp(lp - q);
    return -Math.min(ratio * A, Math.min(clip.high, Math.max(clip.low, ratio)) * A);
  },
  gradient: (lp, q, A) => {
    const ratio = Math.exp(lp - q);
    const isCut = A > 0 ? ratio > clip.high : ratio < clip.low;
    return isCut ? 0 : -ratio * A;
  },
};
