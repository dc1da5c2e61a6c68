import * as z from 'zod';

/**
 * How an attempt of a run ended.
 *
 * `done`: by itself with exit code 0 (or its `done` rule holds), or because `stop_when` was met (`rule` says which).
 * `failed`: it crashed. `oom`: it, or the system, ran out of memory, by its log or its cgroup. `timeout`: it used up its
 * `timeout`. `killed`: a person asked for it. `lost`: it was running, and nobody can know how it stopped.
 */
export const Outcome = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), rule: z.string().optional() }),
  z.object({ kind: z.literal('failed'), code: z.int(), line: z.string().optional() }),
  z.object({ kind: z.literal('signal'), signal: z.string(), line: z.string().optional() }),
  z.object({ kind: z.literal('oom'), line: z.string() }),
  z.object({ kind: z.literal('timeout'), seconds: z.number() }),
  z.object({ kind: z.literal('killed') }),
  z.object({ kind: z.literal('lost'), reason: z.string() }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** What a retry can be asked for: the ways of ending that nobody wanted. */
export const FailureClass = z.enum(['crash', 'oom', 'timeout', 'signal', 'lost']);
export type FailureClass = z.infer<typeof FailureClass>;

/** The class of an ending; null where it was wanted. */
export function failureClass({ kind }: Outcome): FailureClass | null {
  if (kind === 'failed') return 'crash';
  return kind === 'done' || kind === 'killed' ? null : kind;
}
