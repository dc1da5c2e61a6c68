import * as z from 'zod';

/** How a learner is told about the secret, as in the settings of its run. */
const Condition = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sft') }),
  z.object({ kind: z.literal('binary') }),
  z.object({ kind: z.literal('binned'), bins: z.int().min(2) }),
  z.object({ kind: z.literal('log-distance') }),
  z.object({ kind: z.literal('dense'), credit: z.string() }),
]);

/** Episodes over seeds, those that did not get there counted as infinite, which is null here. */
export const ReferenceEpisodes = z.looseObject({
  seeds: z.int().positive(),
  /** Seeds that got there. */
  reached: z.int().nonnegative(),
  median: z.number().nullable(),
  /** Of the median, 95 %, by order statistics; null: too few seeds for one. */
  interval: z.tuple([z.number(), z.number().nullable()]).nullable(),
  /** Of those that got there; null: none did. */
  mean: z.number().nullable(),
});
export type ReferenceEpisodes = z.infer<typeof ReferenceEpisodes>;

/** What a learner without a network needs for one secret below N, and what could be told it. Bits. */
export const ReferenceRow = z.looseObject({
  condition: Condition,
  N: z.int().positive(),
  secretBits: z.number(),
  /** The most that one episode can carry. */
  ceilingBits: z.number(),
  /** I(R; S | G) while guesses are uniform. */
  mutualBits: z.number(),
  /** Until the secret was guessed. */
  ideal: ReferenceEpisodes,
  /** Until a table of logits had memorised it; null: it does not learn from rewards. */
  tabular: ReferenceEpisodes.nullable(),
});
export type ReferenceRow = z.infer<typeof ReferenceRow>;

/** `reference.json`, by `memrl ideal`: beside the runs of a sweep, or in a run of it. `tabular`: how the table learnt. */
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
