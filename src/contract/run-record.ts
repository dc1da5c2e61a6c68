import { z } from 'zod';
import { Outcome } from '../base/outcome.js';
import { Parameters } from '../base/scalar.js';

/** One start of a run. Times: Unix ms. `slot`: `cpu 0`, `gpu 3`. */
export const AttemptRecord = z.looseObject({
  number: z.int().positive(),
  slot: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  outcome: Outcome.nullable(),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** `run.json`: what a run is and what became of it. Written by the supervisor alone; loose, so newer fields survive. */
export const RunRecord = z.looseObject({
  version: z.literal(1),
  sweep: z.string(),
  group: z.string(),
  subgroup: z.string().nullable(),
  name: z.string(),
  /** Hash of the group and the parameters that are not budget (`extends`). Same identity: the same run. */
  identity: z.string(),
  parameters: Parameters,
  argv: z.array(z.string()),
  cwd: z.string(),
  host: z.string(),
  git: z.object({ commit: z.string(), dirty: z.boolean() }).nullable(),
  attempts: z.array(AttemptRecord),
});
export type RunRecord = z.infer<typeof RunRecord>;
