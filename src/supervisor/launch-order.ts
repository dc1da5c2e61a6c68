import type { SchedulerAction } from '../scheduler/action.js';
import { gpusOf } from '../scheduler/slot.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { runEnvironment, withProgramFolder } from '../executors/local/run-environment.js';
import type { AttemptOrder } from '../executors/local/start-attempt.js';
import type { Environment } from './run-book.js';

type Launch = Extract<SchedulerAction, { type: 'launch' }>;

/** The complete command of one attempt. `bin`: folder of our own programs. */
export function launchOrder(launch: Launch, run: PlannedRun, environment: Environment, bin: string): AttemptOrder {
  const { id, attempt, slot, resumed } = launch;
  const place = { gpus: gpusOf(slot), cpus: run.resources.cpus };
  const argv = [...run.argv, ...(resumed ? run.resumeArgs : [])];
  return {
    directory: run.directory,
    attempt,
    argv: argv.map((word) => word.replaceAll('${attempt}', String(attempt))),
    cwd: run.cwd,
    environment: withProgramFolder(
      runEnvironment(environment, run.env, place, { id, directory: run.directory, attempt }),
      bin,
    ),
  };
}
