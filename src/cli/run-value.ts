import { join } from 'node:path';
import { parseRunValue, type RunValue } from '../analysis/run-value.js';
import { UserError } from '../base/user-error.js';
import { keptSweepText } from '../files/sweep-folder.js';
import type { Objective } from '../spec/planned-run.js';
import { type CommonOptions, runsDirectory } from './options.js';
import { readPlan } from './launch/read.js';

/**
 * The requested value of runs. `objective`: defines `best` if the sweep file has none.
 *
 * @throws {UserError} When `best` is undefined.
 */
export function runValueOf(
  text: string | undefined,
  sweep: string,
  { objective, runs }: CommonOptions & { readonly objective?: Objective | undefined },
): RunValue {
  const value = parseRunValue(text ?? 'last')!;
  if (value !== 'best') return value;
  const { name, goal } = objective ?? sweepObjective(sweep, runs === undefined ? {} : { runs });
  return { kind: 'best', objective: name, goal };
}

/**
 * The objective of a launched sweep, by the file beside its runs.
 *
 * @throws {UserError} When the file has none.
 */
export function sweepObjective(sweep: string, { runs }: CommonOptions): Objective {
  const objective = knownObjective(sweep, { runs });
  if (objective !== null) return objective;
  throw new UserError(`The sweep file of ${sweep} has no \`metric\`.`, "Name one: --metric 'minimize test/loss'.");
}

/** The same; null: the file has none. */
export function knownObjective(sweep: string, { runs }: { runs?: string | undefined }): Objective | null {
  const kept = keptSweepText(join(runsDirectory(runs), sweep));
  if (kept === null) return null;
  try {
    const { plan } = readPlan(kept.path, runs === undefined ? {} : { runs });
    return plan.runs.find(({ objective }) => objective !== null)?.objective ?? null;
  } catch (error) {
    // The file is older or missing; the user can still name the objective.
    if (error instanceof UserError) return null;
    throw error;
  }
}
