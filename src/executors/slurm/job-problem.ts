import { isOnPath } from '../../processes/program-file.js';
import { type Demand, gpusFor, jobOptions } from './job-options.js';
import { isPacked, workerOptions } from './packs/pack-choice.js';
import { noSuchNode, SlurmCalls } from './slurm-calls.js';

/** Why nothing can be typed into a run on Slurm, in words that follow its name. */
export const unreachableInput = 'cannot be typed into: the standard input of a job is on the node that has it';

/** Why Slurm would refuse a job that asks for that, in words; null: it would not, or does not answer now. Submits nothing. */
export async function jobProblem(
  demand: Demand,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (!isOnPath('sbatch', environment)) return 'Slurm is not here: there is no `sbatch` on the PATH.';
  const calls = new SlurmCalls(environment);
  const { gpus } = await calls.limits();
  const options = isPacked(demand) ? workerOptions(demand, gpus) : jobOptions(demand, gpus);
  const tested = await calls.submit(['--test-only', ...options], '#!/bin/sh\n', environment);
  if (tested.kind !== 'refused' || tested.transient) return null;
  const wanted = { cpus: demand.needs.cpus, gpus: gpusFor(demand.needs, gpus) };
  if (noSuchNode.test(tested.reason) && (await calls.hasUnavailableNodeFor(wanted))) return null;
  const asked = options.filter((word) => /^--(gres|cpus|time|partition|account|qos|constraint)/.test(word));
  const extra = demand.slurm?.extra ?? [];
  return `${tested.reason} (asked for: ${[...asked, ...extra].join(' ')})`;
}
