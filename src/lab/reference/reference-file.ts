import * as z from 'zod';

/** Feedback that the learner gets about the secret, as in the settings of its run. */
const Condition = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sft') }),
  z.object({ kind: z.literal('binary') }),
  z.object({ kind: z.literal('binned'), bins: z.int().min(2) }),
  z.object({ kind: z.literal('log-distance') }),
  z.object({ kind: z.literal('dense'), credit: z.string() }),
]);

/** Statistics over seeds of the episodes until the goal; seeds that did not reach it count as infinite, which is null here. */
export const ReferenceEpisodes = z.looseObject({
  seeds: z.int().positive(),
  /** Number of seeds that reached the goal. */
  reached: z.int().nonnegative(),
  median: z.number().nullable(),
  /** 95 % interval of the median, by order statistics; null: there are too few seeds for one. */
  interval: z.tuple([z.number(), z.number().nullable()]).nullable(),
  /** Mean over the seeds that reached the goal; null: none did. */
  mean: z.number().nullable(),
});
export type ReferenceEpisodes = z.infer<typeof ReferenceEpisodes>;

/** Results of learners without a network for one secret below N, and the information they could get, in bits. */
export const ReferenceRow = z.looseObject({
  condition: Condition,
  N: z.int().positive(),
  secretBits: z.number(),
  /** The most bits that one episode can carry. */
  ceilingBits: z.number(),
  /** I(R; S | G) while guesses are uniform. */
  mutualBits: z.number(),
  /** Episodes until an ideal learner has guessed the secret. */
  ideal: ReferenceEpisodes,
  /** Episodes until a table of logits has memorised the secret; null: it does not learn from rewards. */
  tabular: ReferenceEpisodes.nullable(),
});
export type ReferenceRow = z.infer<typeof ReferenceRow>;

/**
 * `reference.json`, written by `memrl ideal`: beside the runs of a sweep, or in a run of it. `tabular`: how the table was trained.
 */
export const ReferenceFile = z.looseObject({
  version: z.literal(1),
  tabular: z.object({
    optimizer: z.string(),
    learning_rate: z.number(),
    group_size: z.int().positive(),
    budget: z.int().positive(),
  }),
  rows: z.array(ReferenceRow),
});
export type ReferenceFile = z.infer<typeof ReferenceFile>;
