import type { SchedulerAction } from '../../scheduler/action.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { runEnvironment, withProgramFolder } from '../../executors/local/run-environment.js';
import type { LaunchSpec } from '../../executors/local/start-attempt.js';
import type { Environment } from './submission-store.js';

export type Launch = Extract<SchedulerAction, { type: 'launch' }>;

/** What a launch is made from, beside the run. `bin`: folder of our own programs. */
export type LaunchSetting = {
  /** Of the person at submit. */
  environment: Environment;
  /** The variables that show the run its GPUs and let it share them. */
  devices: Readonly<Record<string, string>>;
  bin: string;
};

/** The complete command of one attempt. */
export function launchSpec(launch: Launch, run: PlannedRun, setting: LaunchSetting): LaunchSpec {
  const { environment, devices, bin } = setting;
  const { id, attempt, slot, resumed } = launch;
  const place = { gpus: gpusOf(slot), cpus: run.resources.cpus, devices };
  const argv = [...run.argv, ...(resumed ? run.resumeArgs : [])];
  return {
    directory: run.directory,
    attempt,
    argv: argv.map((word) => word.replaceAll('${attempt}', String(attempt))),
    cwd: run.cwd,
    environment: withProgramFolder(
      runEnvironment(atHome(environment, run.cwd), run.env, place, { id, directory: run.directory, attempt }),
      bin,
    ),
    ...(run.files === undefined ? {} : { files: run.files }),
  };
}

/** Two variables tell of the shell that the person submitted from: where it was, and what it ran last. */
function atHome(environment: Environment, cwd: string): Environment {
  const there = Object.entries(environment).filter(([name]) => name !== '_');
  return { ...Object.fromEntries(there), PWD: cwd };
}
