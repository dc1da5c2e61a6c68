import * as z from 'zod';

/** Files of `memrl entropy` in a run: `run_00/results.json`, a folder for each repetition. */
export const entropyFiles = { folder: /^run_\d+$/, results: 'results.json', plan: 'plan.json' } as const;

/** A run's evaluations of its checkpoints by `memrl eval-batch`: `evaluation/ENVIRONMENT/SAMPLING/metrics.jsonl`. */
export const evaluationFolder = 'evaluation';

/** The columns of its `metrics.jsonl` that figures are drawn of. */
export const evaluationColumns = { pass: 'pass@1_unbiased', entropy: 'ent_mean' } as const;

/** Metrics of a run: both terms of the gradient noise scale in prompts, from microbatches and by two batch sizes. */
export const noiseColumns = {
  microbatches: { signal: 'gns_G2', noise: 'gns_tr_sigma' },
  twoSizes: { signal: 'gns_two_sizes_G2', noise: 'gns_two_sizes_tr_sigma' },
} as const;

/** What `results.json` says of a step, as far as figures need it. Changes of the entropy are in nats; slopes are per unit of learning rate. */
export const EntropyResults = z.looseObject({
  approx: z.looseObject({
    delta_h_per_lr: z.number(),
    standard_error: z.number(),
    without_denominator: z.number(),
    without_denominator_error: z.number(),
  }),
  true: z.looseObject({
    entries: z.array(
      z.looseObject({
        eta: z.number(),
        delta_h_true: z.number(),
        delta_h_controlled: z.number(),
        controlled_error: z.number(),
        /** Absent where prediction and truth are of the same answers. */
        z: z.looseObject({ controlled: z.number(), without_denominator: z.number() }).optional(),
      }),
    ),
  }),
  fisher: z.looseObject({ kernel: z.array(z.array(z.number())), prompts: z.array(z.number()) }).optional(),
});
export type EntropyResults = z.infer<typeof EntropyResults>;
