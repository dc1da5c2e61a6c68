import { z } from 'zod';

/**
 * How an attempt of a run ended.
 *
 * `done`: by itself with exit code 0 (or its `done` rule holds), or because `stop_when` was met (`rule` says which).
 * `killed`: a person asked for it. `lost`: it was running, and nobody can know how it stopped.
 */
export const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), rule: z.string().optional() }),
  z.object({ kind: z.literal('failed'), code: z.int(), line: z.string().optional() }),
  z.object({ kind: z.literal('signal'), signal: z.string(), line: z.string().optional() }),
  z.object({ kind: z.literal('killed') }),
  z.object({ kind: z.literal('lost'), reason: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;
