import { resolve } from 'node:path';
import { textOrNull } from '../../files/regular-file.js';
import { hasWandbAccount } from '../../files/wandb-account.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** Bytes; a longer file is no script. */
const MOST = 1 << 20;

/** Where programs that log with W&B or trackio write, where the first run's names one of them; null: it does not. */
export function wandbNote(
  runs: readonly PlannedRun[],
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const logging = runs.find((run, index) => run.group !== runs[index - 1]?.group && isLogging(run));
  if (logging === undefined) return null;
  const said = { ...environment, ...logging.env };
  const given = { ...loggerEnvironment(logging.directory, said, hasWandbAccount(said, logging.cwd)), ...logging.env };
  const isOffline = given['WANDB_MODE'] === 'offline';
  if (!isOffline)
    return given['WANDB_DIR'] === undefined ? null : 'wandb and trackio write to the directory of each run.';
  return (
    'wandb and trackio write to the directory of each run, wandb offline, as no key of it is configured here. ' +
    'To send it later: wandb sync RUN/wandb/offline-run-*'
  );
}

function isLogging({ argv, cwd }: PlannedRun): boolean {
  return argv.some((word) => {
    const text = /\.(py|sh)$/.test(word) ? textOrNull(resolve(cwd, word), MOST) : null;
    return /\b(wandb|trackio)\b/.test(`${word}\n${text ?? ''}`);
  });
}
