import { hasWandbAccount } from '../../files/wandb-account.js';
import { hasSweepInside, scriptsIn } from '../../files/wandb-program.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/**
 * A note on where programs with W&B or trackio write, if the first run's script names one of them or a project is set; null:
 * neither.
 *
 * @param project The W&B project that the command line sets for all runs.
 */
export function wandbNote(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string | undefined>>,
  project: string | null = null,
): string | null {
  const isFirst = (index: number) => runs[index]!.group !== runs[index - 1]?.group;
  const logging = runs.find((run, index) => isFirst(index) && (project !== null || isLogging(run)));
  if (logging === undefined) return null;
  const said = { ...environment, ...logging.env };
  const given = { ...loggerEnvironment(logging.directory, said, hasWandbAccount(said, logging.cwd)), ...logging.env };
  const words = project === null ? [] : [`The runs have WANDB_PROJECT=${project}.`];
  if (given['WANDB_MODE'] === 'offline') {
    words.push(
      'wandb and trackio write to the directory of each run, wandb offline, as no key of it is configured here.',
      'To send it later: wandb sync RUN/wandb/offline-run-*',
      ...(hasSweepInside(logging.argv, logging.cwd)
        ? ['The sweep inside the program is answered on this machine.']
        : []),
    );
  } else if (given['WANDB_DIR'] !== undefined) words.push('wandb and trackio write to the directory of each run.');
  return words.length === 0 ? null : words.join(' ');
}

function isLogging({ argv, cwd }: PlannedRun): boolean {
  return [...argv, ...scriptsIn(argv, cwd)].some((text) => /\b(wandb|trackio)\b/.test(text));
}
