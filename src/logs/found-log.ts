import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { statRegular } from '../files/regular-file.js';

/** Where programs keep what a run prints, the likely first: our own, W&B's, the tinker-cookbook's. */
const usual = [runFiles.log, 'files/output.log', 'logs.log', 'log.txt', 'stdout.txt', 'train.log'];
const MOST_ENTRIES = 1024;

/** Path of the log in the directory of a run of any program: a usual name, else the only file that is called `….log` (`….out`, `….err`). */
export function foundLog(directory: string): string {
  const named = usual.map((name) => join(directory, name)).find((path) => statRegular(path).kind === 'file');
  if (named !== undefined) return named;
  const others = logsIn(directory);
  return others.length === 1 ? join(directory, others[0]!) : join(directory, runFiles.log);
}

function logsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).slice(0, MOST_ENTRIES);
    const logs = names.filter((name) => /\.log$/i.test(name));
    return logs.length > 0 ? logs : names.filter((name) => /\.(out|err)$/i.test(name));
  } catch {
    return [];
  }
}
