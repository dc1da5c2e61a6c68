import { resolve } from 'node:path';
import { textOrNull } from '../../files/regular-file.js';
import { hasWandbAccount } from '../../files/wandb-account.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** Bytes; a longer file is no script. */
const MOST = 1 << 20;

/**
 * Where programs that log with W&B or trackio write, where the first run's names one of them or a project is asked for; null: it
 * does not.
 *
 * @param project The W&B project that the command line gives to all runs.
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
