/** A run's evaluations of its checkpoints by `memrl eval-batch`: `evaluation/ENVIRONMENT/SAMPLING/metrics.jsonl`. */
export const evaluationFolder = 'evaluation';

/** The columns of its `metrics.jsonl` that figures are drawn of. */
export const evaluationColumns = { pass: 'pass@1_unbiased', entropy: 'ent_mean' } as const;

/** Metrics of a run: both terms of the gradient noise scale in prompts, from microbatches and by two batch sizes. */
export const noiseColumns = {
  microbatches: { signal: 'gns_G2', noise: 'gns_tr_sigma' },
  twoSizes: { signal: 'gns_two_sizes_G2', noise: 'gns_two_sizes_tr_sigma' },
} as const;
