import type { Parameters } from '../../base/scalar.js';

/**
 * What the files of a run say of it beside its metrics. `name`, `group`: as its writer calls the run, and the project or experiment
 * it is of; null: it does not say. `state` null: nothing says whether, or how, it ended. Times: Unix ms.
 */
export type FoundFacts = {
  readonly parameters: Parameters;
  readonly name: string | null;
  readonly group: string | null;
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'killed' | 'lost' | null;
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** What its program has noted of it. */
  readonly tags: readonly string[];
  readonly note: string | null;
};
