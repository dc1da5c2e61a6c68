import { UserError } from '../base/user-error.js';
import type { OpenExecutor } from './executor.js';
import { openLocalExecutor } from './local/local-executor.js';
import { openSlurmExecutor } from './slurm/slurm-executor.js';

/** The kinds of executors there are, by name. Whoever adds one adds a folder and its line here. */
const executors: Readonly<Record<string, OpenExecutor>> = {
  local: openLocalExecutor,
  slurm: openSlurmExecutor,
};

/** @throws {UserError} When there is none of that name. */
export function executorNamed(name: string): OpenExecutor {
  const open = Object.hasOwn(executors, name) ? executors[name] : undefined;
  if (open !== undefined) return open;
  const known = Object.keys(executors).join(', ');
  throw new UserError(`There is no executor called ${name}.`, `Set MEMRL_EXECUTOR to one of these: ${known}.`);
}
