import { join } from 'node:path';
import { UserError } from '../base/user-error.js';
import { sweepFiles } from '../contract/files.js';
import type { Objective } from '../spec/planned-run.js';
import { readPlan } from './read-plan.js';
import { runsDirectory, type CommonOptions } from './options.js';

/**
 * What a sweep that was launched tries to make large or small, by the file kept beside its runs.
 *
 * @throws {UserError} When the file says nothing of it.
 */
export function sweepObjective(sweep: string, { runs }: CommonOptions): Objective {
  const objective = objectiveIn(join(runsDirectory(runs), sweep, sweepFiles.text), runs);
  if (objective !== null) return objective;
  throw new UserError(
    `The sweep file of ${sweep} does not say which metric counts.`,
    "Say it: --metric 'minimize test/loss'.",
  );
}

function objectiveIn(path: string, runs: string | undefined): Objective | null {
  try {
    const { plan } = readPlan(path, runs === undefined ? {} : { runs });
    return plan.runs.find(({ objective }) => objective !== null)?.objective ?? null;
  } catch (error) {
    // An older file, or none: the person can still say it.
    if (error instanceof UserError) return null;
    throw error;
  }
}
