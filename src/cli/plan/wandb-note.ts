import { resolve } from 'node:path';
import { textOrNull } from '../../files/regular-file.js';
import { hasWandbAccount } from '../../files/wandb-account.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** Size limit in bytes; a longer file is not a script. */
const MOST = 1 << 20;

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
    );
  } else if (given['WANDB_DIR'] !== undefined) words.push('wandb and trackio write to the directory of each run.');
  return words.length === 0 ? null : words.join(' ');
}

function isLogging({ argv, cwd }: PlannedRun): boolean {
  return argv.some((word) => {
    const text = /\.(py|sh)$/.test(word) ? textOrNull(resolve(cwd, word), MOST) : null;
    return /\b(wandb|trackio)\b/.test(`${word}\n${text ?? ''}`);
  });
}
